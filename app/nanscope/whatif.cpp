// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/columns.h"
#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/source.h"
#include "app/nanscope/shared/words.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/base/utf8.h"
#include "core/diagnose/whatif/detectorreplay.h"
#include "core/diagnose/whatif/guardwhatif.h"
#include "core/diagnose/whatif/whatifwords.h"
#include "core/model/words.h"
#include "core/report/report.h"

namespace nanscope {

namespace {

/// " [train.log:41]", or " [line 41]" where the title names the only log there is.
std::string at(const diagnose::DetectorReplay& replay, const std::string& source)
{
    const auto colon = source.rfind(':');
    const bool onlyLog = replay.sources.size() == 1 && source.substr(0, colon) == replay.sources.front();
    return source.empty() ? std::string()
        : onlyLog         ? fmt::format(" [line {}]", source.substr(colon + 1))
                          : fmt::format(" [{}]", source);
}

std::string replayText(const diagnose::DetectorReplay& replay)
{
    auto text = diagnose::detectorTitle(replay) + "\n";
    for (const auto& one : diagnose::detectorFacts(replay)) {
        text += fact(one.label, one.text + at(replay, one.source) + one.tail);
    }
    return text;
}

/// What `nanscope whatif` answers on a terminal: the sentences of
/// core/diagnose/whatif/whatifwords.h.
std::string detectorText(std::span<const diagnose::DetectorReplay> replays, const diagnose::DetectorQuestion& question)
{
    constexpr std::size_t most = 10;
    if (const auto silence = diagnose::detectorSilence(replays); !silence.empty()) {
        return asSentence(silence) + "\n";
    }
    auto text = fmt::format("With {}:\n", diagnose::detectorSettings(question));
    std::size_t told = 0;
    for (const auto& replay : replays) {
        if (diagnose::detectorSpeaks(replay) && ++told <= most) {
            text += "\n" + replayText(replay);
        }
    }
    const auto clean = std::ssize(replays) - static_cast<std::ptrdiff_t>(told);
    return text + (told > most ? fmt::format("\nand {} more like these (--json has them all)\n", told - most) : "")
        + (clean > 0 ? fmt::format("\n{} without a loss that is not finite\n", counted(clean, "other log")) : "");
}

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
    return fmt::format("{}  {}\n", roleText(step.role), printable(diagnose::guardStepTitle(step)))
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

class WhatIf : public Command
{
public:
    explicit WhatIf(CLI::App& root)
        : Command(root, "whatif", "What a NaN detector or a guard with other settings would have done")
    {
        options().add("what", m_what, "detector or guard").required();
        options().add("source", m_path, "A folder, a log, a capture or a session").required();
        options()
            .add("--max-consecutive", m_detector.options.maxConsecutive,
                "detector: stop after so many bad steps in a row")
            .showDefault();
        options().add("--action", m_action, "detector: warn, skip or raise").showDefault();
        options().addFlag("--check-gradients", m_detector.checkGradients, "detector: ask it about gradients, too");
        options().add("--guard", m_scope, "guard: local, group or full alone");
        options().add("--layout", m_layout,
            "guard: gathered, single, head-split, matrix-sharded or batch-sharded, where you know it");
        options().add("--ranks", m_guard.ranks, "guard: ranks of the optimizer's group");
        options().add("--session", m_session, "Keep what was read in this session");
        addColumnOption(options(), m_columns);
    }

    Result<int> run(Terminal& terminal) override;

private:
    Result<int> detector(const Source& source, Terminal& terminal);
    Result<int> guard(const Source& source, Terminal& terminal);
    Result<void> readOptions();
    Result<void> readDetector();
    Result<void> readGuard();
    Result<void> checkRanks(const diagnose::GuardWhatIf& whatIf) const;

    std::string m_what;
    std::string m_path;
    std::string m_action = "warn";
    std::string m_session;
    ColumnWords m_columns;
    std::string m_scope;
    std::string m_layout;
    diagnose::DetectorQuestion m_detector;
    diagnose::GuardQuestion m_guard;
};

Result<void> WhatIf::readDetector()
{
    m_detector.options.action =
        static_cast<probe::NanAction>(TRY(oneOf("action", m_action, {"warn", "skip", "raise"})));
    if (m_detector.options.maxConsecutive < 1) {
        return failure(ErrorKind::usage, "--max-consecutive takes 1 or more");
    }
    return {};
}

Result<void> WhatIf::readGuard()
{
    if (!m_scope.empty()) {
        TRY(oneOf("guard", m_scope, {"local", "group", "full"}));
        m_guard.scope = probe::parseGuardScope(m_scope);
    }
    if (!m_layout.empty()) {
        TRY(oneOf("layout", m_layout, {"gathered", "single", "head-split", "matrix-sharded", "batch-sharded"}));
        m_guard.layout = probe::parseLayout(m_layout);
    }
    if (m_guard.ranks && (*m_guard.ranks < 1 || *m_guard.ranks > diagnose::mostRanks)) {
        return failure(ErrorKind::usage, fmt::format("--ranks takes 1 to {}", diagnose::mostRanks));
    }
    return {};
}

Result<void> WhatIf::readOptions()
{
    const bool detector = TRY(oneOf("what-if", m_what, {"detector", "guard"})) == 0;
    TRY(options().requireRead(
        {{"`nanscope whatif detector`", detector, {"--max-consecutive", "--action", "--check-gradients"}},
            {"`nanscope whatif guard`", !detector, {"--guard", "--layout", "--ranks"}}}));
    return detector ? readDetector() : readGuard();
}

Result<int> WhatIf::detector(const Source& source, Terminal& terminal)
{
    const auto replays = diagnose::replayDetector(source.run, m_detector);
    if (replays.empty()) {
        return failure(
            ErrorKind::format, diagnose::nothingToReplay(source.run) + "; name a folder with logs, or a log", m_path);
    }
    if (terminal.json()) {
        auto answer = diagnose::detectorJson(replays, m_detector);
        answer["rejected"] = report::rejectedJson(source.run.rejected);
        terminal.printJson(answer);
    } else {
        terminal.print(detectorText(replays, m_detector));
    }
    return statusOf(source);
}

/// A group of fewer ranks than there are would be answered for all of them.
Result<void> WhatIf::checkRanks(const diagnose::GuardWhatIf& whatIf) const
{
    for (const auto& step : whatIf.steps) {
        const auto named = std::ranges::count_if(step.ranks, [](const auto& one) { return one.rank.has_value(); });
        if (m_guard.ranks && named > *m_guard.ranks) {
            return failure(ErrorKind::usage,
                fmt::format("--ranks {} is less than the {} that logs and captures name", *m_guard.ranks,
                    counted(named, "rank")),
                m_path);
        }
    }
    return {};
}

Result<int> WhatIf::guard(const Source& source, Terminal& terminal)
{
    if (source.run.captures.empty()) {
        return failure(ErrorKind::format, diagnose::noCaptureToGuard(), m_path);
    }
    const auto whatIf = diagnose::guardWhatIf(source.run, m_guard);
    TRY(checkRanks(whatIf));
    if (terminal.json()) {
        auto answer = diagnose::guardJson(whatIf);
        answer["rejected"] = report::rejectedJson(source.run.rejected);
        terminal.printJson(answer);
    } else {
        terminal.print(guardText(whatIf));
    }
    return statusOf(source);
}

Result<int> WhatIf::run(Terminal& terminal)
{
    TRY(readOptions());
    const auto columns = TRY(columnsFor({m_path}, m_columns, terminal));
    auto source =
        TRY(openSource(m_path, m_session, terminal, columns, workflow::Access::read, workflow::Points::judging));
    return m_what == "guard" ? guard(source, terminal) : detector(source, terminal);
}

} // namespace

std::unique_ptr<Command> makeWhatIf(CLI::App& root)
{
    return std::make_unique<WhatIf>(root);
}

} // namespace nanscope
