// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/words.h"
#include "core/base/guarded.h"
#include "core/base/try.h"
#include "core/platform/platform.h"
#include "core/replay/variants/nearest.h"

namespace nanscope {

namespace {

CancelToken& interruptToken()
{
    static CancelToken token;
    return token;
}

/// Long loops look at the token far more often; nothing may keep the program for good.
constexpr unsigned longestGoodbye = 10; // seconds

/// A second signal ends the program at once: a user who asks twice does not want to wait for the next op. One that
/// comes right behind the first is no second: `timeout` signals the program and then its group.
extern "C" void onInterrupt(int signal)
{
    using Clock = std::chrono::steady_clock;
    static std::atomic<Clock::duration> first {};
    static_assert(std::atomic<Clock::duration>::is_always_lock_free, "a handler may only touch lock-free atomics");
    const auto now = Clock::now().time_since_epoch();
    if (!interruptToken().cancelled()) {
        first = now;
        interruptToken().cancel();
        platform::endProgramAfter(longestGoodbye, exitCancelled);
    } else if (now - first.load() > std::chrono::milliseconds(500)) {
        std::signal(signal, SIG_DFL);
        std::raise(signal);
    }
}

CommandList makeCommands(CLI::App& root)
{
    CommandList commands;
    for (const auto make : {makeExplain, makeImport, makeList, makeInspect, makeDiff, makeSweep, makeAgree,
             makeDiagnose, makeWhatIf, makeMeasure, makeReport, makeExport, makeSql, makeCapture, makeWatch, makeDoctor,
             makeEnv, makeServe, makeSpread}) {
        commands.push_back(make(root));
    }
    return commands;
}

std::vector<std::string_view> namesOf(const CommandList& commands)
{
    std::vector<std::string_view> names;
    for (const auto& command : commands) {
        names.push_back(command->app().get_name());
    }
    return names;
}

/// CLI11 would only say that the arguments were not expected.
Result<void> checkCommandName(const std::vector<std::string>& arguments, const CommandList& commands)
{
    if (arguments.empty() || arguments.front().starts_with("-")) {
        return {};
    }
    TRY(oneOf("command", arguments.front(), namesOf(commands)));
    return {};
}

int fail(const Error& error)
{
    Terminal({}, interruptToken()).error(error);
    return exitStatusOf(error.kind);
}

const CLI::App& chosenCommand(const CLI::App& app)
{
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app : chosenCommand(*chosen.front());
}

/// "; the nearest are --ran, --rank", where an option is not known.
std::string nearestOptions(const CLI::App& command)
{
    const auto extras = command.remaining();
    const auto unknown = std::ranges::find_if(extras, [](const std::string& extra) { return extra.starts_with("--"); });
    if (unknown == extras.end()) {
        return {};
    }
    std::vector<std::string> names;
    for (const auto* option : command.get_options()) {
        for (const auto& name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    constexpr std::size_t shown = 3;
    return fmt::format(
        "; the nearest are {}", fmt::join(replay::nearest(*unknown, {names.begin(), names.end()}, shown), ", "));
}

/// Some of the library's messages end in a stop or fill several lines; ours are one sentence without one.
Error usageError(const CLI::ParseError& error, const CLI::App& root)
{
    const auto chosen = root.get_subcommands();
    const auto name = chosen.empty() ? std::string("nanscope") : "nanscope " + chosen.front()->get_name();
    std::string what = error.what();
    what.erase(what.find_last_not_of(" .\n") + 1);
    const auto nearest = nearestOptions(chosenCommand(root));
    return {ErrorKind::usage, fmt::format("Wrong use of {}: {}{}; see `{} --help`", name, what, nearest, name), {}};
}

int runCommand(Command& command)
{
    const auto options = command.terminalOptions();
    if (!options) {
        return fail(options.error());
    }
    if (const auto known = command.readVariantFiles(); !known) {
        return fail(known.error());
    }
    Terminal terminal(*options, interruptToken());
    auto status = command.run(terminal);
    if (!status) {
        terminal.error(status.error());
        return exitStatusOf(status.error().kind);
    }
    if (!terminal.flushed()) {
        terminal.error({ErrorKind::internal, "the answer could not be written to standard output", {}});
        return exitInternal;
    }
    return *status;
}

int run(std::vector<std::string> arguments)
{
    CLI::App root("Diagnostics for training runs that go NaN inside a Newton-Schulz step", "nanscope");
    root.set_version_flag("--version", "nanscope " NANSCOPE_VERSION);
    root.require_subcommand(1);
    const auto commands = makeCommands(root);
    if (const auto known = checkCommandName(arguments, commands); !known) {
        return fail(known.error());
    }
    try {
        std::reverse(arguments.begin(), arguments.end());
        root.parse(std::move(arguments));
    } catch (const CLI::Success& wanted) {
        return root.exit(wanted);
    } catch (const CLI::ParseError& error) {
        return fail(usageError(error, root));
    }
    for (const auto& command : commands) {
        if (command->app().parsed()) {
            return runCommand(*command);
        }
    }
    return exitUsage;
}

} // namespace

} // namespace nanscope

int main(int argc, char** argv)
{
    nanscope::interruptToken(); // made before a handler needs it
    std::signal(SIGINT, nanscope::onInterrupt);
    std::signal(SIGTERM, nanscope::onInterrupt);
    nanscope::platform::failAtFileSizeLimit();
    const auto work = [&] { return nanscope::Result<int>(nanscope::run({argv + 1, argv + argc})); };
    const auto status = nanscope::guarded(work);
    return status ? *status : nanscope::fail(status.error());
}
