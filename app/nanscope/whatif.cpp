// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/columns.h"
#include "app/nanscope/command.h"
#include "app/nanscope/source.h"
#include "app/nanscope/whatifanswers.h"
#include "app/nanscope/words.h"
#include "core/diagnose/whatif/detectorwords.h"
#include "core/diagnose/whatif/guardwords.h"
#include "core/diagnose/whatif/whatifjson.h"
#include "core/report/report.h"

namespace nanscope {

namespace {

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
    const auto action = oneOf("action", m_action, {"warn", "skip", "raise"});
    if (!action) {
        return tl::make_unexpected(action.error());
    }
    m_detector.options.action = static_cast<probe::NanAction>(*action);
    if (m_detector.options.maxConsecutive < 1) {
        return failure(ErrorKind::usage, "--max-consecutive takes 1 or more");
    }
    return {};
}

Result<void> WhatIf::readGuard()
{
    if (!m_scope.empty()) {
        const auto scope = oneOf("guard", m_scope, {"local", "group", "full"});
        if (!scope) {
            return tl::make_unexpected(scope.error());
        }
        m_guard.scope = probe::parseGuardScope(m_scope);
    }
    if (!m_layout.empty()) {
        const auto layout =
            oneOf("layout", m_layout, {"gathered", "single", "head-split", "matrix-sharded", "batch-sharded"});
        if (!layout) {
            return tl::make_unexpected(layout.error());
        }
        m_guard.layout = probe::parseLayout(m_layout);
    }
    if (m_guard.ranks && *m_guard.ranks < 1) {
        return failure(ErrorKind::usage, "--ranks takes 1 or more");
    }
    return {};
}

Result<void> WhatIf::readOptions()
{
    const auto what = oneOf("what-if", m_what, {"detector", "guard"});
    if (!what) {
        return tl::make_unexpected(what.error());
    }
    const bool detector = *what == 0;
    constexpr std::pair<const char*, bool> ofOneAlone[] {{"--max-consecutive", true}, {"--action", true},
        {"--check-gradients", true}, {"--guard", false}, {"--layout", false}, {"--ranks", false}};
    for (const auto& [option, ofDetector] : ofOneAlone) {
        if (options().given(option) && ofDetector != detector) {
            return failure(ErrorKind::usage,
                fmt::format("{} is an option of `nanscope whatif {}`", option, ofDetector ? "detector" : "guard"));
        }
    }
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

Result<int> WhatIf::guard(const Source& source, Terminal& terminal)
{
    if (source.run.captures.empty()) {
        return failure(ErrorKind::format, diagnose::noCaptureToGuard(), m_path);
    }
    const auto whatIf = diagnose::guardWhatIf(source.run, m_guard);
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
    if (auto read = readOptions(); !read) {
        return tl::make_unexpected(read.error());
    }
    const auto columns = columnsFor({m_path}, m_columns, terminal);
    if (!columns) {
        return tl::make_unexpected(columns.error());
    }
    auto source = openSource(m_path, m_session, terminal, *columns, workflow::Access::read, workflow::Points::judging);
    if (!source) {
        return tl::make_unexpected(source.error());
    }
    return m_what == "guard" ? guard(*source, terminal) : detector(*source, terminal);
}

} // namespace

std::unique_ptr<Command> makeWhatIf(CLI::App& root)
{
    return std::make_unique<WhatIf>(root);
}

} // namespace nanscope
