// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Which pictures a report has, where they stand and what is written under them.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/report/document/sections.h"
#include "core/report/pictures/pictures.h"
#include "core/report/pictures/svgtiles.h"

namespace nanscope::report {

namespace {

Blocks figure(std::string id, std::string alt, Phrase caption, Svg svg)
{
    if (svg.empty()) {
        return {};
    }
    return {Figure {std::move(id), std::move(alt), std::move(caption), std::move(svg)}};
}

Blocks timeline(const ReportFacts& facts)
{
    const auto points = timelinePoints(facts.input.run);
    return figure("loss", "loss and grad_norm over the steps of the run",
        own(fmt::format("loss and grad_norm, {} points; where there are more than fit, the "
                        "smallest and the largest are kept. NaN and infinities are in the rows above the curves.",
            countText(points))),
        timelinePicture(facts.input.run, facts.input.diagnosis));
}

Blocks tiles(const ReportFacts& facts)
{
    const auto& map = facts.input.outputTiles;
    if (!map || facts.capture == nullptr) {
        return {};
    }
    const auto& damage = facts.verdict->facts.damage;
    const auto batch = shownBatch(*facts.capture);
    auto svg = tilePicture(*map, damage.batch == batch ? &damage : nullptr);
    if (svg.empty()) {
        return {};
    }
    const auto cell = tilePictureCell(*map);
    const bool framed = damage.batch == batch && damage.rowEnd > damage.rowBegin;
    const auto shows = cell.rows * cell.cols == 1
        ? std::string("one cell for each element")
        : fmt::format(
            "a cell is {} × {} elements and shows the worst of them, else the largest magnitude", cell.rows, cell.cols);
    const auto caption = fmt::format("The output, {} × {}{}; {}.{}", map->rows, map->cols,
        matrixShape(facts.capture->input.shape).batch > 1 ? fmt::format(", batch element {}", batch) : "", shows,
        framed ? " The damage is framed." : "");
    return figure("output", "magnitudes of the output, with what is not finite marked", own(caption), std::move(svg));
}

std::vector<const Cell*> cellsWithGauges(const ReportFacts& facts)
{
    std::vector<const Cell*> cells;
    for (const auto& cell : facts.input.cells) {
        if (facts.verdict != nullptr && cell.capture == facts.verdict->capture && !cell.gauges.empty()) {
            cells.push_back(&cell);
        }
    }
    std::stable_sort(cells.begin(), cells.end(), [](const Cell* a, const Cell* b) { return a->outcome > b->outcome; });
    return cells;
}

Blocks gauges(const ReportFacts& facts, Redactor& redactor)
{
    constexpr std::size_t most = 6;
    const auto cells = cellsWithGauges(facts);
    std::vector<GaugeLine> lines;
    for (std::size_t i = 0; i < std::min(most, cells.size()); ++i) {
        const auto label = fmt::format("{}, {} ({}): {}", labelOf(facts.input, *cells[i]), name(cells[i]->precision),
            name(cells[i]->lowering), name(cells[i]->outcome));
        lines.push_back({cells[i], clipped(printable(redactor(label)), 48)});
    }
    return figure("gauges", "gauges of the swept cells, iteration by iteration",
        own(fmt::format("Gauges of {} of {} swept cells of this capture, the worst outcomes "
                        "first. A bound beyond the limit proves nothing; one below it does.",
            lines.size(), cells.size())),
        gaugePicture(lines));
}

Blocks faults(const ReportFacts& facts)
{
    const auto& triage = facts.input.diagnosis.triage;
    return figure("faults", "captures by rank and update: births and what descends from them",
        own(fmt::format("{}, {}: each mark is what one rank "
                        "dumped between two steps.",
            counted(triage.captures, "capture"), counted(triage.births, "birth"))),
        faultPicture(facts.input.diagnosis));
}

} // namespace

Blocks figuresOf(ReportSection section, const ReportFacts& facts, Redactor& redactor)
{
    // Of a run that left no capture the log is all there is to see.
    const auto ofLogs = facts.capture == nullptr ? ReportSection::claim : ReportSection::when;
    if (section == ofLogs) {
        return timeline(facts);
    }
    switch (section) {
    case ReportSection::output:
        return tiles(facts);
    case ReportSection::numbers:
        return gauges(facts, redactor);
    case ReportSection::impact:
        return faults(facts);
    default:
        return {};
    }
}

} // namespace nanscope::report
