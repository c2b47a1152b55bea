// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/pictures/pictures.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/model/verdict.h"
#include "core/report/pictures/decimate.h"
#include "core/report/pictures/svg.h"

namespace nanscope::report {

namespace {

struct BirthLine
{
    double x = 0;
    std::string label; ///< empty where a neighbour's label speaks for it too
};

constexpr double labelRoom = 120;
constexpr double lineRoom = 2;

std::string labelOf(const CaptureVerdict& birth)
{
    return birth.rank ? fmt::format("birth, rank {}", *birth.rank) : std::string("birth");
}

std::vector<BirthLine> allBirths(const Diagnosis& diagnosis, const Axis& x)
{
    std::vector<BirthLine> births;
    for (const auto& verdict : diagnosis.captures) {
        if (verdict.role == Role::birth && verdict.step) {
            const auto step =
                (static_cast<double>(verdict.step->first) + static_cast<double>(verdict.step->second)) / 2;
            births.push_back({x.at(step), labelOf(verdict)});
        }
    }
    std::stable_sort(births.begin(), births.end(), [](const BirthLine& a, const BirthLine& b) { return a.x < b.x; });
    return births;
}

/// Where the births with a known step stand on an axis of steps; those that share a pixel are one.
std::vector<BirthLine> birthLines(const Diagnosis& diagnosis, const Axis& x)
{
    std::vector<BirthLine> lines;
    std::size_t labelled = 0;
    int together = 0;
    for (auto& birth : allBirths(diagnosis, x)) {
        if (lines.empty() || birth.x - lines[labelled].x > labelRoom) {
            labelled = lines.size();
            together = 1;
            lines.push_back(std::move(birth));
            continue;
        }
        lines[labelled].label = fmt::format("{} births", ++together);
        if (birth.x - lines.back().x >= lineRoom) {
            lines.push_back({birth.x, {}});
        }
    }
    return lines;
}

void drawBirths(Svg& svg, const std::vector<BirthLine>& births, const Box& plot)
{
    for (const auto& birth : births) {
        svg.line({birth.x, plot.y + 4}, {birth.x, plot.bottom()}, "birthline");
        if (birth.label.empty()) {
            continue;
        }
        svg.circle({birth.x, plot.y}, 4, "birth");
        const bool late = birth.x > plot.right() - labelRoom;
        svg.text({late ? birth.x - 8 : birth.x + 8, plot.y + 4}, birth.label, late ? "birthtext end" : "birthtext");
    }
}

constexpr double timelineWidth = 920;
constexpr double timelineLeft = 72;
constexpr double timelinePlotWidth = timelineWidth - timelineLeft - 16;
constexpr double timelinePlotHeight = 132;
constexpr std::size_t mostRanks = 12;
constexpr std::size_t mostSeries = 64;
constexpr std::array names {"loss", "grad_norm"};

struct Panel
{
    std::string name;
    std::vector<const Series*> series;
};

struct Range
{
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    void add(double value)
    {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    bool any() const { return low <= high; }
};

/// What all panels share.
struct Frame
{
    Columns columns;
    Columns markColumns;
    Axis x;
    std::map<std::optional<int>, std::size_t> colours; ///< of ranks
};

std::vector<Panel> panelsOf(const RunData& run)
{
    std::vector<Panel> panels;
    for (const auto* wanted : names) {
        Panel panel {wanted, {}};
        for (const auto& series : run.series) {
            if (series.name == wanted && !series.points.empty()) {
                panel.series.push_back(&series);
            }
        }
        if (!panel.series.empty()) {
            panels.push_back(std::move(panel));
        }
    }
    return panels;
}

Range stepsOf(const std::vector<Panel>& panels)
{
    Range range;
    for (const auto& panel : panels) {
        for (const auto* series : panel.series) {
            for (const auto& point : series->points) {
                range.add(static_cast<double>(point.step));
            }
        }
    }
    return range;
}

Frame frameOf(const std::vector<Panel>& panels)
{
    const auto steps = stepsOf(panels);
    const auto first = static_cast<std::int64_t>(steps.low);
    const auto last = static_cast<std::int64_t>(steps.high);
    Frame frame {{first, last, static_cast<int>(timelinePlotWidth / 2)},
        {first, last, static_cast<int>(timelinePlotWidth / markWidth)},
        {steps.low - 0.5, steps.high + 0.5, timelineLeft, timelineLeft + timelinePlotWidth, false}, {}};
    frame.columns.count = static_cast<int>(std::min<std::int64_t>(frame.columns.count, last - first + 1));
    for (const auto& panel : panels) {
        for (const auto* series : panel.series) {
            frame.colours.try_emplace(series->rank, 0);
        }
    }
    std::size_t next = 0;
    for (auto& [rank, colour] : frame.colours) {
        colour = next++;
    }
    return frame;
}

Range valuesOf(const std::vector<Decimated>& all)
{
    Range range;
    for (const auto& series : all) {
        for (const auto& line : series.lines) {
            for (const auto& point : line) {
                range.add(point.y);
            }
        }
    }
    return range;
}

std::vector<LaneMark> marksOf(const std::vector<Decimated>& all, const Axis& x)
{
    std::map<std::pair<int, PointState>, NonFiniteColumn> merged;
    for (const auto& series : all) {
        for (const auto& mark : series.marks) {
            auto [place, isNew] = merged.try_emplace({mark.column, mark.state}, mark);
            if (!isNew) {
                place->second.count += mark.count;
                place->second.firstStep = std::min(place->second.firstStep, mark.firstStep);
            }
        }
    }
    std::vector<LaneMark> marks;
    for (const auto& [key, mark] : merged) {
        marks.push_back({x.at(static_cast<double>(mark.firstStep)), mark.state,
            fmt::format("{} from step {}, {} point{}", stateText(mark.state), mark.firstStep, mark.count,
                mark.count == 1 ? "" : "s")});
    }
    return marks;
}

/// Colour and dashes differ in step, so that twelve ranks are told apart and neighbours even without colour.
std::string lineClasses(std::size_t number)
{
    return fmt::format("line s{} d{}", number % 6, number % 4);
}

void drawLine(Svg& svg, const std::vector<Spot>& line, const Axis& x, const Axis& y, std::string_view classes)
{
    std::string data;
    for (const auto& point : line) {
        data += fmt::format("{}{} {}", data.empty() ? "M" : "L", coordinate(x.at(point.x)), coordinate(y.at(point.y)));
    }
    // A point alone becomes a dot by its round ends.
    svg.path(line.size() == 1 ? data + "h0" : data, classes);
}

void drawLines(Svg& svg, const Panel& panel, const std::vector<Decimated>& all, const Frame& frame, const Axis& y)
{
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto classes = lineClasses(frame.colours.at(panel.series[i]->rank));
        for (const auto& line : all[i].lines) {
            drawLine(svg, line, frame.x, y, classes);
        }
    }
}

/// From the smallest to the largest of all series, column by column.
void drawBand(Svg& svg, const std::vector<Decimated>& all, const Frame& frame, const Axis& y)
{
    std::map<int, Range> columns;
    for (const auto& series : all) {
        for (const auto& line : series.lines) {
            for (const auto& point : line) {
                columns[frame.columns.of(static_cast<std::int64_t>(point.x))].add(point.y);
            }
        }
    }
    std::string data;
    const auto step = timelinePlotWidth / frame.columns.count;
    for (const auto& [column, range] : columns) {
        data += fmt::format("M{} {}h{}V{}h-{}z", coordinate(timelineLeft + column * step),
            coordinate(y.at(range.high) - 0.5), coordinate(step), coordinate(y.at(range.low) + 0.5), coordinate(step));
    }
    svg.path(data, "band");
}

void drawLegend(Svg& svg, const Frame& frame, bool band)
{
    if (band) {
        svg.text({timelineLeft, 14}, fmt::format("{} ranks: from the smallest to the largest", frame.colours.size()));
        return;
    }
    auto x = timelineLeft;
    for (const auto& [rank, colour] : frame.colours) {
        svg.line({x, 10}, {x + 26, 10}, lineClasses(colour));
        svg.text({x + 32, 14}, rank ? fmt::format("rank {}", *rank) : std::string("no rank"));
        x += 96;
    }
}

bool asBand(const Panel& panel)
{
    std::set<std::optional<int>> ranks;
    for (const auto* series : panel.series) {
        ranks.insert(series->rank);
    }
    return ranks.size() > mostRanks || panel.series.size() > mostSeries;
}

/// Returns where the panel ends.
double drawPanel(Svg& svg, const Panel& panel, const Frame& frame, double top, bool last)
{
    std::vector<Decimated> all;
    for (const auto* series : panel.series) {
        all.push_back(decimate(series->points, frame.columns, frame.markColumns));
    }
    const auto marks = marksOf(all, frame.x);
    const Box lanes {timelineLeft, top + 20, timelinePlotWidth, lanesHeight(marks)};
    const Box plot {timelineLeft, lanes.bottom() + (marks.empty() ? 0.0 : 8.0), timelinePlotWidth, timelinePlotHeight};
    const auto range = valuesOf(all);
    const auto y = range.any() ? valueAxis(range.low, range.high, plot.bottom(), plot.y)
                               : Axis {0, 1, plot.bottom(), plot.y, false};
    svg.text({timelineLeft, top + 14}, panel.name + (y.logarithmic ? ", logarithmic" : ""), "name");
    drawLanes(svg, lanes, marks);
    if (range.any()) {
        drawValueAxis(svg, plot, y);
    } else {
        svg.rect(plot, "frame");
        svg.text(
            {timelineLeft + timelinePlotWidth / 2, plot.y + timelinePlotHeight / 2}, "no finite value", "mid quiet");
    }
    drawStepAxis(svg, plot, frame.x, last);
    if (asBand(panel)) {
        drawBand(svg, all, frame, y);
    } else {
        drawLines(svg, panel, all, frame, y);
    }
    return plot.bottom();
}

} // namespace

Svg timelinePicture(const RunData& run, const Diagnosis& diagnosis)
{
    const auto panels = panelsOf(run);
    if (panels.empty()) {
        return {};
    }
    const auto frame = frameOf(panels);
    Svg svg(timelineWidth, 0);
    drawLegend(svg, frame, std::any_of(panels.begin(), panels.end(), asBand));
    const auto births = birthLines(diagnosis, frame.x);
    const double top = births.empty() ? 18 : 36;
    auto bottom = top;
    for (const auto& panel : panels) {
        bottom = drawPanel(svg, panel, frame, bottom, &panel == &panels.back()) + 12;
    }
    drawBirths(svg, births, {timelineLeft, top - 6, timelinePlotWidth, bottom - 6 - top});
    svg.text({timelineLeft + timelinePlotWidth, bottom + 20}, "step", "end quiet");
    svg.setHeight(bottom + 26);
    return svg;
}

std::int64_t timelinePoints(const RunData& run)
{
    std::int64_t points = 0;
    for (const auto& panel : panelsOf(run)) {
        for (const auto* series : panel.series) {
            points += std::count_if(series->points.begin(), series->points.end(),
                [](const Point& point) { return point.state != PointState::reported; });
        }
    }
    return points;
}

} // namespace nanscope::report
