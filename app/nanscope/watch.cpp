// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/words.h"
#include "app/nanscope/watch/watcher.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/session/session.h"

namespace nanscope {

namespace {

class Watch : public Command
{
public:
    explicit Watch(CLI::App& root)
        : Command(root, "watch", "Follow a run, and tell of dumps, NaN and verdicts as they come")
    {
        options().add("run", m_run, "The run's folder; waited for where it is not there yet").required();
        options()
            .add("--exec", m_command, "Run this line of a shell for each; it finds the JSON on its standard input")
            .shownAs("CMD");
        options().add("--until", m_until, "End after the first of these: dump, nonfinite or verdict");
        options().addFlag("--all", m_all, "Tell of what is there already, too");
        options().add("--session", m_session, "Session file; default: that of the folder in the user's data folder");
    }

    Result<int> run(Terminal& terminal) override;

private:
    std::string m_run;
    std::string m_command;
    std::string m_until;
    std::string m_session;
    bool m_all = false;
};

Result<std::optional<WatchEvent::Kind>> kindNamed(const std::string& word)
{
    using Kind = WatchEvent::Kind;
    if (word.empty()) {
        return std::nullopt;
    }
    constexpr std::array kinds {Kind::dump, Kind::nonFinite, Kind::verdict};
    const auto place = TRY(oneOf("event", word, {"dump", "nonfinite", "verdict"}));
    return kinds.at(place);
}

WatchEvent endEvent(const Teller& teller, double seconds)
{
    using Kind = WatchEvent::Kind;
    const auto dumps = teller.told(Kind::dump);
    const auto values = teller.told(Kind::nonFinite);
    const auto verdicts = teller.told(Kind::verdict);
    return {Kind::end,
        fmt::format("watched for {}: {}, {}, {}", durationText(seconds), counted(dumps, "dump"),
            counted(values, "first bad value"), counted(verdicts, "verdict")),
        {{"dumps", dumps}, {"nonfinite", values}, {"verdicts", verdicts}, {"seconds", seconds}}};
}

Result<int> Watch::run(Terminal& terminal)
{
    const auto until = TRY(kindNamed(m_until));
    if (session::isSessionFile(m_run)) {
        return failure(ErrorKind::usage, "a run that is watched is a folder, and this is a session", m_run);
    }
    const auto start = std::chrono::steady_clock::now();
    Teller teller(terminal, m_command, until);
    Result<void> watched;
    {
        Watcher watcher(m_run, m_session, m_all, teller);
        watched = watcher.run();
    }
    TRY(watched);
    teller.finish();
    if (!teller.unwritable()) {
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
        teller.tell(endEvent(teller, spent.count()));
    }
    return exitDone;
}

} // namespace

std::unique_ptr<Command> makeWatch(CLI::App& root)
{
    return std::make_unique<Watch>(root);
}

} // namespace nanscope
