// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "app/nanscope/whatifanswers.h"
#include "app/nanscope/words.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/diagnose/whatif/guardwords.h"

namespace nanscope {

namespace {

std::string textOf(const std::vector<diagnose::AnswerFact>& facts)
{
    std::string text;
    for (const auto& one : facts) {
        text += fact(one.label, one.text + (one.source.empty() ? "" : " [" + one.source + "]") + one.tail);
    }
    return text;
}

std::string tableText(const diagnose::GuardStep& step)
{
    std::vector<Table::Column> columns {{"layout"}, {"guard sees"}};
    std::vector<std::vector<std::string>> rows;
    for (const auto& outcome : step.outcomes) {
        if (rows.empty() || rows.back().front() != probe::name(outcome.layout)) {
            rows.push_back({std::string(probe::name(outcome.layout)), outcome.stack});
        }
        rows.back().push_back(diagnose::guardOutcome(step, outcome));
        if (rows.size() == 1) {
            columns.push_back({fmt::format("{} guard", probe::name(outcome.scope))});
        }
    }
    Table table(std::move(columns));
    for (auto& row : rows) {
        table.add(std::move(row));
    }
    return "\n" + table.text(2) + "\n";
}

std::string causeText(const diagnose::GuardStep& step)
{
    return fmt::format("{}  {}\n", name(step.role), printable(diagnose::guardStepTitle(step)))
        + textOf(diagnose::guardRanks(step)) + tableText(step) + textOf(diagnose::guardAfter(step));
}

/// The names of layouts are longer than other labels.
std::string layoutText(const diagnose::AnswerFact& layout)
{
    constexpr std::size_t indent = 18;
    constexpr std::size_t columns = 100;
    return layout.source.empty()
        ? paragraph(fmt::format("  {:<{}}", layout.label, indent - 2), layout.text, indent, columns)
        : textOf({layout});
}

std::string layoutsText(const diagnose::GuardWhatIf& whatIf)
{
    std::string text = "\nwhich layout\n";
    for (const auto& layout : diagnose::guardLayouts(whatIf)) {
        text += layoutText(layout);
    }
    if (diagnose::asksForLayout(whatIf)) {
        text += fact("hint", "neither captures nor logs tell; say it with --layout");
    }
    text += "\nwhich guard\n";
    for (const auto& scope : diagnose::guardScopes()) {
        text += layoutText(scope);
    }
    return text;
}

} // namespace

std::string guardText(const diagnose::GuardWhatIf& whatIf)
{
    constexpr std::ptrdiff_t most = 5;
    if (whatIf.steps.empty()) {
        return asSentence(diagnose::guardHeadline(whatIf)) + "\n";
    }
    const auto causes = std::count_if(whatIf.steps.begin(), whatIf.steps.end(), diagnose::isCause);
    auto text = printable(diagnose::guardHeadline(whatIf)) + "\n";
    for (std::ptrdiff_t i = 0; i < std::min(causes, most); ++i) {
        text += "\n" + causeText(whatIf.steps[static_cast<std::size_t>(i)]);
    }
    if (causes > most) {
        text += fmt::format("\nand {} more like these (--json has them all)\n", causes - most);
    }
    const auto contaminated = textOf(diagnose::guardContaminated(whatIf));
    return text + (contaminated.empty() ? "" : "\n" + contaminated) + layoutsText(whatIf) + "\n"
        + textOf(diagnose::guardNoteFacts(whatIf));
}

} // namespace nanscope
