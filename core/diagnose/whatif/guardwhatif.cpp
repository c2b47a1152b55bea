// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/whatif/guardwhatif.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/diagnose/whatif/guardlayouts.h"
#include "core/diagnose/whatif/guardnotes.h"
#include "core/diagnose/whatif/guardsteps.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::diagnose {

namespace {

constexpr std::array<std::string_view, 4> consequenceNames {"none", "drift", "torn", "unknown"};

bool dropsPadding(probe::Layout layout)
{
    return layout == probe::Layout::gathered || layout == probe::Layout::matrixSharded;
}

void markBadRows(const tensorfile::Tensor& output, std::int64_t batch, std::vector<bool>& rows)
{
    const auto shape = output.matrices();
    std::vector<float> values(static_cast<std::size_t>(shape.elements()));
    if (!output.read(batch, values)) {
        return;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) {
            rows[i / static_cast<std::size_t>(shape.cols)] = true;
        }
    }
}

/// Of the whole batch, one matrix over the other; empty where the file is not there any more.
std::vector<bool> badRowsOf(const Capture& capture)
{
    const auto file = tensorfile::openCapture(capture);
    if (!file || !file->output) {
        return {};
    }
    const auto shape = file->output->matrices();
    std::vector<bool> rows(static_cast<std::size_t>(shape.rows), false);
    for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
        markBadRows(*file->output, batch, rows);
    }
    return std::find(rows.begin(), rows.end(), true) == rows.end() ? std::vector<bool>() : rows;
}

/// The captures by name. Reads the rows of each at most once, and only those of a cause.
class Captures
{
public:
    explicit Captures(const RunData& run)
    {
        for (const auto& capture : run.captures) {
            m_captures[capture.file] = &capture;
        }
    }

    const Capture* capture(const std::string& file) const
    {
        const auto found = m_captures.find(file);
        return found == m_captures.end() ? nullptr : found->second;
    }

    const std::vector<bool>& of(const std::string& file)
    {
        const auto known = m_rows.find(file);
        if (known != m_rows.end()) {
            return known->second;
        }
        const auto* found = capture(file);
        return m_rows[file] = found == nullptr ? std::vector<bool>() : badRowsOf(*found);
    }

private:
    std::map<std::string, const Capture*> m_captures;
    std::map<std::string, std::vector<bool>> m_rows;
};

std::vector<probe::NsOutput> outputsOf(const GuardStep& step, probe::Layout layout, Captures& captures)
{
    const bool allKnown =
        std::all_of(step.ranks.begin(), step.ranks.end(), [](const GuardRank& rank) { return rank.rank.has_value(); });
    const bool wantsRows = layout == probe::Layout::matrixSharded && step.role != Role::downstream && allKnown;
    std::vector<probe::NsOutput> outputs;
    for (const auto& rank : step.ranks) {
        probe::NsOutput output {rank.output};
        if (rank.onlyZeros && dropsPadding(layout)) {
            output.sight = probe::Sight::unknown;
        } else if (wantsRows && rank.captures.size() == 1 && rank.output == probe::Sight::nonFinite) {
            output.badRows = captures.of(rank.captures.front());
        }
        outputs.push_back(std::move(output));
    }
    return outputs;
}

Consequence consequenceOf(probe::Agreement agreement, probe::Layout layout)
{
    switch (agreement) {
    case probe::Agreement::split:
        return probe::replicated(layout) ? Consequence::drift : Consequence::torn;
    case probe::Agreement::unknown:
        return Consequence::unknown;
    case probe::Agreement::allApply:
    case probe::Agreement::allSkip:
        break;
    }
    return Consequence::none;
}

void addOutcomes(
    GuardStep& step, const std::vector<GuardLayout>& layouts, const GuardQuestion& question, Captures& captures)
{
    const auto* shown = captures.capture(step.captures.front());
    for (const auto& layout : layouts) {
        if (!layout.possible) {
            continue;
        }
        const auto outputs = outputsOf(step, layout.layout, captures);
        const auto stack = shown == nullptr ? std::string() : stackText(*shown, layout.layout, std::ssize(step.ranks));
        for (const auto scope : {probe::GuardScope::local, probe::GuardScope::group, probe::GuardScope::full}) {
            if (question.scope && question.scope != scope) {
                continue;
            }
            GuardOutcome outcome {scope, layout.layout, probe::decide(scope, layout.layout, outputs)};
            outcome.stack = stack;
            outcome.agreement = probe::agreementOf(outcome.decisions);
            outcome.consequence = consequenceOf(outcome.agreement, layout.layout);
            step.outcomes.push_back(std::move(outcome));
        }
    }
}

} // namespace

std::string_view name(Consequence consequence)
{
    return consequenceNames[static_cast<std::size_t>(consequence)];
}

GuardWhatIf guardWhatIf(const RunData& run, const GuardQuestion& question)
{
    GuardWhatIf whatIf;
    const auto ranks = knownRanks(run, question);
    whatIf.steps = guardSteps(run, ranks);
    whatIf.layouts = guardLayouts(run, question, std::max<std::size_t>(1, ranks.size()));
    Captures captures(run);
    for (auto& step : whatIf.steps) {
        addOutcomes(step, whatIf.layouts, question, captures);
        const auto hints = layoutHints(run, step);
        whatIf.layoutHints.insert(whatIf.layoutHints.end(), hints.begin(), hints.end());
    }
    whatIf.guardLines = guardLinesIn(run);
    whatIf.notes = guardNotes(run, question, whatIf);
    return whatIf;
}

} // namespace nanscope::diagnose
