// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/watch/watcher.h"

#include <algorithm>
#include <array>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/base/try.h"
#include "core/diagnose/triage/triage.h"
#include "core/model/verdict.h"
#include "core/session/session.h"

namespace nanscope {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

/// A dump is told at once, while the lines of a log that grows all the time may wait until they are a few.
bool isNamedLikeADump(const std::string& name)
{
    constexpr std::array endings {".pt", ".pth", ".npy", ".safetensors"};
    return std::ranges::any_of(endings, [&](const char* ending) { return name.ends_with(ending); });
}

bool isNonFinite(const Series& series)
{
    return series.nan + series.posInf + series.negInf > 0;
}

std::vector<const CaptureVerdict*> verdictsFor(
    const std::vector<const Capture*>& captures, const std::vector<CaptureVerdict>& verdicts)
{
    std::map<std::string_view, const CaptureVerdict*> byName;
    for (const auto& verdict : verdicts) {
        byName[verdict.capture] = &verdict;
    }
    std::vector<const CaptureVerdict*> found;
    for (const auto* capture : captures) {
        const auto known = byName.find(capture->file);
        found.push_back(known == byName.end() ? nullptr : known->second);
    }
    return found;
}

std::string pathOf(const RunData& run, const std::string& name)
{
    const auto found = std::ranges::find(run.captures, name, &Capture::file);
    return found == run.captures.end() ? std::string() : found->path;
}

std::string keyOf(const Rejection& rejection)
{
    return rejection.path + '\n' + rejection.reason;
}

WatchEvent sumOf(const workflow::OpenedRun& opened, const std::string& folder)
{
    const auto& run = opened.run;
    const auto births = std::ranges::count(diagnose::triage(run), Role::birth, &CaptureVerdict::role);
    const auto bad = std::ranges::count_if(run.series, isNonFinite);
    const auto session = opened.session ? opened.session->path().string() : std::string();
    const auto rejected = std::ssize(run.rejected);
    Json json {{"folder", folder}, {"session", nullptr}, {"captures", run.captures.size()}, {"births", births},
        {"series", run.series.size()}, {"nonfinite_series", bad}, {"events", run.events.size()},
        {"rejected", rejected}};
    if (!session.empty()) {
        json["session"] = session;
    }
    return {WatchEvent::Kind::watching,
        fmt::format("watching {}: {} ({}), {} series ({} not all finite), {}{}{}", folder,
            counted(std::ssize(run.captures), "capture"), counted(births, "birth"), countText(std::ssize(run.series)),
            countText(bad), counted(std::ssize(run.events), "event"),
            rejected == 0 ? "" : fmt::format(", {} rejected", counted(rejected, "file")),
            session.empty() ? "" : "; session " + session),
        json};
}

} // namespace

Watcher::Watcher(fs::path folder, fs::path session, bool all, Teller& teller)
    : m_folder(std::move(folder))
    , m_session(std::move(session))
    , m_all(all)
    , m_teller(teller)
    , m_judge({[&teller](const CaptureVerdict& verdict, const RunData& run) {
                   teller.tell(verdictEvent(verdict, pathOf(run, verdict.capture)));
               },
          [&teller](const std::string& text) { teller.say(text); },
          [&teller](const std::string& why) { teller.sayUnkept(why); }})
{ }

Result<void> Watcher::run()
{
    while (!m_teller.stopped()) {
        if (!waitForFolder()) {
            break;
        }
        TRY(follow());
    }
    return {};
}

/// The system tells of changes in what is there; a folder that is not is looked for, which costs next to nothing.
bool Watcher::waitForFolder()
{
    constexpr auto often = 200ms;
    std::error_code error;
    if (!fs::exists(m_folder, error)) {
        m_teller.say(fmt::format(
            "There is no such folder{}; it is waited for: {}", m_first ? " yet" : " any more", m_folder.string()));
        m_all = m_all || m_first; // whatever it will hold is new
    }
    while (!m_teller.stopped() && !fs::exists(m_folder, error)) {
        std::this_thread::sleep_for(often);
    }
    return !m_teller.stopped();
}

/// Until the folder is gone, or the teller has enough.
Result<void> Watcher::follow()
{
    std::error_code error;
    if (!fs::is_directory(m_folder, error)) {
        return failure(
            ErrorKind::usage, "a run that is watched is a folder; name the one in which this lies", m_folder.string());
    }
    auto folder = platform::FolderWatch::open(m_folder, platform::FolderWatch::Means::best, isNamedLikeADump);
    if (!folder) {
        return {}; // gone between two looks
    }
    m_teller.settled();
    do {
        look();
    } while (wait(*folder) && !folder->lost() && fs::exists(m_folder, error));
    return {};
}

/// Not all that is new comes with a change that the system tells of: a last line without its end is taken once its log
/// rests, a session may be free again, and a file may change on a disk of which no notice comes.
bool Watcher::wait(platform::FolderWatch& folder)
{
    constexpr std::chrono::milliseconds soon = 6s;
    constexpr std::chrono::milliseconds late = 30s;
    return folder.wait(
        [this] { return m_teller.stopped(); }, std::min(m_restless ? soon : late, untilNextTry().value_or(late)));
}

/// To use the session, or to store what is owed to it.
std::optional<std::chrono::milliseconds> Watcher::untilNextTry() const
{
    const bool unused = m_sessionTry.from != Clock::time_point();
    if (!unused && !m_judge.owesDiagnosis()) {
        return std::nullopt;
    }
    const auto rest = (unused ? m_sessionTry : m_storeTry).from - Clock::now();
    return std::max(std::chrono::ceil<std::chrono::milliseconds>(rest), platform::FolderWatch::calm);
}

void Watcher::Try::putOff()
{
    from = Clock::now() + rest;
    rest = std::min<Clock::duration>(2 * rest, longestRest);
}

/// By default that of `import` and of the window; which one it is shows once the folder is there.
fs::path Watcher::sessionPath() const
{
    return m_session.empty() ? session::Session::defaultPath(m_folder) : m_session;
}

Result<workflow::OpenedRun> Watcher::read()
{
    if (m_sessionTry.isDue()) {
        auto opened = workflow::openRun(
            m_folder, {sessionPath(), workflow::Access::store, workflow::Points::none, {}}, m_teller.job());
        if (opened || opened.error().kind == ErrorKind::cancelled) {
            m_sessionTry = {};
            return opened;
        }
        return readBeside(opened.error());
    }
    return workflow::openRun(m_folder, {}, m_teller.job());
}

/// Where the session cannot be written there is still the run.
Result<workflow::OpenedRun> Watcher::readBeside(const Error& why)
{
    m_sessionTry.putOff();
    auto opened = workflow::openRun(m_folder, {}, m_teller.job());
    if (opened) {
        m_teller.sayUnkept(sentence(why));
    }
    return opened;
}

/// What was judged while the session could not be used is judged once more for it, and what it did not take is stored
/// again; nothing is told twice.
bool Watcher::isToBeKept(const workflow::OpenedRun& opened)
{
    if (!opened.session) {
        return false;
    }
    if (!m_judge.owesDiagnosis()) {
        m_teller.kept();
        m_storeTry = {};
        return false;
    }
    const bool isDue = m_storeTry.isDue();
    if (isDue) {
        m_storeTry.putOff();
    }
    return isDue;
}

workflow::RunNews::Found Watcher::newsOf(const workflow::OpenedRun& opened)
{
    return m_news.look(opened.run, [&](const Series& series) -> Result<std::vector<Point>> {
        return opened.session ? opened.session->points(series.id) : series.points;
    });
}

void Watcher::look()
{
    auto opened = read();
    if (!opened) {
        if (opened.error().kind != ErrorKind::cancelled) {
            m_teller.say(sentence(opened.error()));
        }
        m_restless = true;
        return;
    }
    auto found = newsOf(*opened);
    if (std::exchange(m_first, false)) {
        sumUp(*opened, found);
        found = m_all ? std::move(found) : workflow::RunNews::Found {};
    }
    m_restless = !found.empty();
    tell(*opened, found);
    sayRejected(opened->run);
    for (const auto& one : found.rewritten) {
        m_judge.goOnAs(one.before, one.now->identity);
    }
    const bool isNew = found.asksForJudgement();
    if (isNew || isToBeKept(*opened)) {
        const auto session = opened->session ? opened->session->path() : fs::path();
        m_judge.judge({std::make_shared<const RunData>(std::move(opened->run)), session, !isNew});
    }
}

void Watcher::sumUp(const workflow::OpenedRun& opened, const workflow::RunNews::Found& found)
{
    if (!m_all) {
        std::ranges::for_each(found.dumps, [this](const Capture* capture) { m_judge.passOver(*capture); });
    }
    for (const auto& one : opened.run.rejected) {
        m_rejected[keyOf(one)].said = true;
    }
    m_teller.tell(sumOf(opened, m_folder.string()));
}

/// The step of a dump is told by the points around the line that names it.
std::vector<CaptureVerdict> Watcher::triaged(const workflow::OpenedRun& opened) const
{
    auto run = opened.run;
    const bool read = opened.session && workflow::readJudgingPoints(run, *opened.session);
    return diagnose::triage(read ? run : opened.run);
}

void Watcher::tell(const workflow::OpenedRun& opened, const workflow::RunNews::Found& found)
{
    const auto verdicts = found.dumps.empty() ? std::vector<CaptureVerdict>() : triaged(opened);
    auto dumps = found.dumps;
    // Those of a run lie in the order of their names, which begins with the rank.
    std::ranges::stable_sort(dumps, {}, [](const Capture* dump) { return dump->timestampMs.value_or(0); });
    const auto ofDumps = verdictsFor(dumps, verdicts);
    for (std::size_t i = 0; i < dumps.size(); ++i) {
        m_teller.tell(dumpEvent(*dumps[i], ofDumps[i] != nullptr ? *ofDumps[i] : CaptureVerdict {}));
    }
    for (const auto& news : found.nonFinite) {
        m_teller.tell(nonFiniteEvent(news, opened.run.root));
    }
}

/// What is being written is cut off until it is whole; what stays so is said.
void Watcher::sayRejected(const RunData& run)
{
    constexpr auto patience = 3s;
    const auto now = Clock::now();
    for (const auto& one : run.rejected) {
        const auto path = fs::path(run.root) / one.path;
        std::error_code ignored;
        const auto written = fs::last_write_time(path, ignored);
        auto& known = m_rejected.try_emplace(keyOf(one), Rejected {now, written}).first->second;
        if (known.said) {
            continue;
        }
        if (std::exchange(known.written, written) != written) {
            known.since = now;
        }
        if (now - known.since < patience) {
            m_restless = true;
            continue;
        }
        known.said = true;
        m_teller.say(sentence({ErrorKind::format, one.reason, path.string()}));
    }
}

} // namespace nanscope
