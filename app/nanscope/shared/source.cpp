// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/source.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/nanscope/shared/words.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/base/utf8.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/identify/cost.h"
#include "core/diagnose/identify/identify.h"
#include "core/model/capturenames.h"
#include "core/replay/analysis/decomposing.h"
#include "core/replay/analysis/rate.h"
#include "core/replay/variants/sessionvariants.h"
#include "core/report/document/commandwords.h"
#include "core/workflow/judgement.h"

namespace nanscope {

namespace fs = std::filesystem;

namespace {

void sayPointsLeftOut(const workflow::JudgedFrom& from, Terminal& terminal)
{
    if (from.newestPoints) {
        terminal.say(LogLevel::warning,
            fmt::format(
                "The run has more points than are judged: only the newest {} of each series are", *from.newestPoints));
    }
}

void rejectUnread(Source& source, const Diagnosis& diagnosis, Terminal& terminal)
{
    RunData unread;
    unread.root = source.run.root;
    unread.rejected = diagnose::unreadCaptures(source.run, diagnosis);
    terminal.rejected(unread);
    auto& all = source.run.rejected;
    all.insert(all.end(), unread.rejected.begin(), unread.rejected.end());
}

} // namespace

ExitStatus statusOf(const Source& source)
{
    return source.run.rejected.empty() ? exitDone : exitRejected;
}

Result<Source> openSource(const fs::path& path, const std::string& session, Terminal& terminal,
    const std::optional<ingest::ColumnMap>& columns, workflow::Access access, workflow::Points points)
{
    auto source = TRY(workflow::openRun(path, {session, access, points, columns}, terminal.job()));
    const auto& run = source.run;
    const bool nothing = run.captures.empty() && run.series.empty() && run.events.empty() && run.replaced.empty();
    std::error_code error;
    if (nothing && run.rejected.size() == 1 && !fs::is_directory(path, error)) {
        return failure(ErrorKind::format, run.rejected.front().reason, path.string());
    }
    terminal.rejected(run);
    if (nothing) {
        const bool empty = fs::is_regular_file(path, error) && fs::file_size(path, error) == 0;
        return failure(ErrorKind::format,
            path.extension() == ".zip" ? "a packed folder is not looked into; unpack it and name the folder"
                : empty                ? "the file is empty"
                                       : "no capture and no log was found; name a folder with dumps or console logs",
            path.string());
    }
    terminal.say(LogLevel::info,
        fmt::format("Read {}, {}, {}", counted(std::ssize(run.captures), "capture"),
            counted(std::ssize(run.series), "series"), counted(std::ssize(run.events), "event"))
            + (run.replaced.empty()
                    ? std::string()
                    : fmt::format("; {} begun anew since {} kept beside and not judged",
                        counted(std::ssize(run.replaced), "log"), run.replaced.size() == 1 ? "is" : "are")));
    return source;
}

Result<Diagnosis> judge(Source& source, const workflow::UserFacts& facts, const workflow::UserFiles& files,
    diagnose::DiagnoseOptions& options, const JobContext& job, Terminal& terminal)
{
    const bool takenBack = std::erase(options.ran, workflow::anyRan) > 0;
    if (source.session && !takenBack && workflow::takeStoredWords(options, *source.session)) {
        terminal.news(fmt::format("As was said before of this run:{} (--ran {} takes it back)",
            report::ranWords(options.ran, options.nothingElse, options.otherCode), workflow::anyRan));
    }
    auto from = workflow::judgedFrom(source.run, files, options.findings, source.session ? &*source.session : nullptr);
    from.ran = options.ran;
    from.nothingElse = options.nothingElse;
    from.otherCode = options.otherCode;
    sayPointsLeftOut(from, terminal);
    auto diagnosis = TRY(workflow::diagnoseWith(facts, source.run, options, job));
    rejectUnread(source, diagnosis, terminal);
    // The next one finds the whole diagnosis, or none.
    if (source.session && source.writable && diagnosis.stopped.empty()) {
        if (const auto stored = workflow::storeDiagnosis(*source.session, diagnosis, from); !stored) {
            terminal.say(LogLevel::warning, "The diagnosis was not stored: " + sentence(stored.error()));
        }
    }
    return diagnosis;
}

Result<const Capture*> captureNamed(const RunData& run, const std::string& wanted)
{
    const auto called = capturesCalled(run, wanted);
    if (called.size() == 1) {
        return called.front();
    }
    std::vector<std::string_view> names;
    if (called.empty()) {
        std::ranges::transform(
            run.captures, std::back_inserter(names), [](const Capture& c) { return std::string_view(c.file); });
        return tl::make_unexpected(oneOf("capture", wanted, names).error());
    }
    constexpr std::size_t most = 6;
    std::transform(called.begin(), called.begin() + static_cast<std::ptrdiff_t>(std::min(most, called.size())),
        std::back_inserter(names), [](const Capture* capture) { return std::string_view(capture->file); });
    return failure(ErrorKind::usage,
        fmt::format("'{}' may mean any of {} captures; name one of {}{}", wanted, called.size(), fmt::join(names, ", "),
            called.size() > most ? ", ..." : ""));
}

Result<void> takeVariantsFrom(const std::string& session, replay::Catalogue& catalogue, Terminal& terminal)
{
    if (session.empty()) {
        return {};
    }
    const auto opened = TRY(session::Session::open(session, session::OpenMode::readOnly));
    for (const auto& note : TRY(replay::takeVariants(opened, catalogue))) {
        terminal.say(LogLevel::warning, printable(note));
    }
    return {};
}

Result<void> takeVariantsOf(const std::vector<std::string>& places, replay::Catalogue& catalogue, Terminal& terminal)
{
    for (const auto& place : places) {
        // Why a session cannot be opened is reported where it is opened to be read.
        if (!session::isSessionFile(place) || !session::Session::open(place, session::OpenMode::readOnly)) {
            continue;
        }
        TRY(takeVariantsFrom(place, catalogue, terminal));
    }
    return {};
}

Result<void> keepVariantsIn(Source& source, const replay::Catalogue& catalogue, Terminal& terminal)
{
    if (!source.session || !source.writable) {
        return {};
    }
    std::vector<std::string> names;
    std::ranges::transform(catalogue.added(), std::back_inserter(names), [](const auto& own) { return own->name; });
    for (const auto& note : TRY(replay::keepVariants(*source.session, catalogue, names))) {
        terminal.say(LogLevel::warning, note);
    }
    return {};
}

namespace {

std::vector<const Capture*> allOf(const RunData& run)
{
    std::vector<const Capture*> captures;
    std::transform(run.captures.begin(), run.captures.end(), std::back_inserter(captures),
        [](const Capture& capture) { return &capture; });
    return captures;
}

/// A replay of an input that is damaged already says nothing, so those are left out unless they are asked for.
std::vector<const Capture*> worthReplaying(const RunData& run, Terminal& terminal)
{
    auto all = allOf(run);
    std::vector<const Capture*> finite;
    std::copy_if(all.begin(), all.end(), std::back_inserter(finite),
        [](const Capture* capture) { return capture->input.total().finite(); });
    if (finite.empty() || finite.size() == all.size()) {
        return all;
    }
    terminal.say(LogLevel::warning,
        fmt::format(
            "{} of {} captures are replayed: the input of the others is damaged already (--capture all takes them too)",
            finite.size(), all.size()));
    return finite;
}

/// Unpublished forms fit wherever their published sibling does, so they are named only where none of those fits.
std::vector<std::string> recommended(const std::vector<std::string>& names, const replay::Catalogue& catalogue)
{
    std::vector<std::string> published;
    std::copy_if(names.begin(), names.end(), std::back_inserter(published), [&](const std::string& name) {
        const auto variant = catalogue.find(name);
        return variant && (*variant)->published;
    });
    return published.empty() ? names : published;
}

Result<std::vector<const Capture*>> capturesNamed(
    const RunData& run, const std::vector<std::string>& names, Terminal& terminal)
{
    if (names.empty()) {
        return worthReplaying(run, terminal);
    }
    std::vector<const Capture*> captures;
    for (const auto& wanted : names) {
        if (wanted == "all") {
            return allOf(run);
        }
        captures.push_back(TRY(captureNamed(run, wanted)));
    }
    return captures;
}

/// What is replayed of a part is Newton-Schulz of that part, which is no part of what ran.
void warnOfParts(const std::vector<const Capture*>& captures, Terminal& terminal)
{
    const auto parts =
        std::count_if(captures.begin(), captures.end(), [](const Capture* capture) { return !capture->part.empty(); });
    if (parts > 0) {
        terminal.say(LogLevel::warning,
            fmt::format("{} of {} captures hold a part of what ran, and a replay of a part tells nothing of the whole; "
                        "those of a DTensor are put together by nanscope inspect --stitch -o whole.pt",
                parts, captures.size()));
    }
}

} // namespace

Result<std::vector<const Capture*>> chosenCaptures(
    const RunData& run, const std::vector<std::string>& names, Terminal& terminal)
{
    auto captures = capturesNamed(run, names, terminal);
    if (captures) {
        warnOfParts(*captures, terminal);
    }
    return captures;
}

namespace {

/// Of those of a matrix of this shape that are within mostIdentifyingOperations.
double operationsOfIdentifying(const MatrixShape& shape)
{
    const auto variants = static_cast<double>(replay::Catalogue().all().size());
    const double each = diagnose::judgingCost(shape, {}).operations / (diagnose::replaysPerVariant * variants);
    const double all = diagnose::replaysOfIdentification * variants;
    return each > 0 ? each * std::min(all, std::floor(diagnose::mostIdentifyingOperations / each)) : 0;
}

/// How much is going to be compared, and how long that takes by the speed of this device.
void sayIdentifying(const Capture& capture, replay::Device& device, Terminal& terminal)
{
    constexpr double shortWork = 2e10;
    constexpr std::int64_t shortSide = 2048; // a decomposition of less is short
    const auto shape = matrixShape(capture.input.shape);
    const double most = operationsOfIdentifying(shape);
    if (most <= shortWork && std::min(shape.rows, shape.cols) <= shortSide) {
        return;
    }
    auto text = fmt::format("Looking which variants fit {} ({} × {}) by one decomposition of its input", capture.file,
        shape.rows, shape.cols);
    double seconds = 0;
    if (most > 0) {
        const auto rate = replay::measuredRate(device, terminal.cancelToken());
        seconds = rate && rate->operations > 0 ? most / rate->operations : 0;
        text += fmt::format(" and replays of at most {}", replay::operationsText(most));
        text += seconds > 0 ? fmt::format(", {} at the {} measured here", replay::aboutSeconds(seconds),
                    replay::operationsText(rate->operations, true))
                            : std::string();
    } else {
        text += fmt::format(
            " alone: a replay takes more than {}", replay::operationsText(diagnose::mostIdentifyingOperations));
    }
    text += "; --variant spares that";
    terminal.news(text);
    terminal.progress({"sweep", "planned", 0, static_cast<std::int64_t>(std::ceil(seconds)), "seconds", text, true});
}

} // namespace

void sayLeftOut(const std::string& capture, const std::vector<std::string>& leftOut, Terminal& terminal)
{
    if (!leftOut.empty()) {
        terminal.say(LogLevel::warning,
            fmt::format("{}: {} may have run as far as was compared, and {} taken: their replays would be more than "
                        "{}; nanscope diagnose compares them",
                capture, fmt::join(leftOut, ", "), leftOut.size() == 1 ? "is" : "are",
                replay::operationsText(diagnose::mostIdentifyingOperations)));
    }
}

Result<PlausibleVariants> plausibleVariants(
    const Capture& capture, const replay::Catalogue& catalogue, Terminal& terminal)
{
    // The format that a sidecar names is one of those that are swept.
    const auto recorded = capture.variant.value_or(std::string());
    if (const auto said = recorded.substr(0, recorded.find(':')); catalogue.find(said)) {
        return PlausibleVariants {{said}};
    }
    const auto file = TRY(tensorfile::openCapture(capture));
    auto device = replay::makeEigenDevice();
    sayIdentifying(capture, *device, terminal);
    const replay::Following following(*device, replay::decomposing(terminal.job(), "sweep", capture.file));
    const auto watch = [&](const replay::Variant& variant, Precision precision, diagnose::ReplayPlace place) {
        terminal.progress(
            {"sweep", "identifying", static_cast<std::int64_t>(place.done) - 1, static_cast<std::int64_t>(place.all),
                "comparisons", fmt::format("{}: {} {}", capture.file, variant.name, name(precision)), true});
    };
    auto found = diagnose::identify(
        file, catalogue, *device, terminal.cancelToken(), watch, diagnose::mostIdentifyingOperations);
    if (!found && found.error().kind == ErrorKind::cancelled) {
        return tl::make_unexpected(found.error());
    }
    if (!found) {
        return PlausibleVariants {allVariants(catalogue)};
    }
    const auto& identified = found->identification;
    const bool fits = identified.how == IdentifiedBy::fit && !identified.names.empty();
    PlausibleVariants plausible {fits ? recommended(identified.names, catalogue) : allVariants(catalogue)};
    std::ranges::copy_if(found->leftOut, std::back_inserter(plausible.leftOut),
        [&](const std::string& name) { return std::ranges::find(plausible.names, name) != plausible.names.end(); });
    sayLeftOut(capture.file, plausible.leftOut, terminal);
    return plausible;
}

} // namespace nanscope
