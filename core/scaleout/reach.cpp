// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/reach.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/model/words.h"
#include "core/scaleout/meeting.h"

namespace nanscope::scaleout {

namespace {

using Clock = Meeting::Clock;

/// For the word of a rank that came through at the last moment.
constexpr std::chrono::seconds grace {3};

std::string failuresText(const Reach& reach, int processes)
{
    const auto& [rank, why] = reach.failed.front();
    const auto first = fmt::format("rank {}: {}", rank, why);
    const bool all = static_cast<int>(reach.failed.size()) == processes;
    if (all) {
        return fmt::format("no rank came through, and all of them still answer: suspect the network between them or "
                           "the library that reduces ({})",
            first);
    }
    std::vector<int> ranks;
    for (const auto& failed : reach.failed) {
        ranks.push_back(failed.first);
    }
    return fmt::format("{} did not come through ({})", rankList(ranks), first);
}

std::string textOf(const Reach& reach, int processes, std::chrono::milliseconds patience)
{
    const double seconds = std::chrono::duration<double>(patience).count();
    if (!reach.missing.empty()) {
        return fmt::format("{} did not come within {:g} s; nothing was exchanged", rankList(reach.missing), seconds);
    }
    if (!reach.silent.empty()) {
        return fmt::format("{} came, and gave no word any more: stopped in the exchange, or gone with the node; the "
                           "others wait for it",
            rankList(reach.silent));
    }
    if (!reach.failed.empty()) {
        return failuresText(reach, processes);
    }
    if (!reach.wrong.empty()) {
        return fmt::format("{} came to a wrong sum: suspect the device there, or what links it", rankList(reach.wrong));
    }
    return fmt::format("all {} ranks came through, each with the right sum, the slowest in {:.3g} s", processes,
        reach.slowest->seconds);
}

/// "right 0.0031 67108864", "wrong ..", "failed why"
std::string wordOf(const Result<Exchanged>& exchanged)
{
    return exchanged
        ? fmt::format("{} {} {}", exchanged->right ? "right" : "wrong", exchanged->seconds, exchanged->bytes)
        : "failed " + exchanged.error().what;
}

void note(Reach& reach, int rank, const std::string& word)
{
    std::istringstream text(word);
    std::string how;
    text >> how;
    if (how == "failed") {
        std::string why;
        std::getline(text >> std::ws, why);
        reach.failed.emplace_back(rank, why);
        return;
    }
    Exchanged exchanged;
    text >> exchanged.seconds >> exchanged.bytes;
    if (how != "right") {
        reach.wrong.push_back(rank);
    }
    if (!reach.slowest || exchanged.seconds > reach.slowest->seconds) {
        reach.slowest = exchanged;
    }
}

/// Calls `each` with what every rank says under this name; ranks that say nothing until then go to `none`.
template <class Each>
Result<void> hearAll(
    Meeting& meeting, const std::string& what, Clock::time_point until, std::vector<int>& none, Each each)
{
    for (int rank = 0; rank < meeting.launch().processes; ++rank) {
        const auto word = TRY(meeting.hear(fmt::format("{}/{}", what, rank), until));
        if (word) {
            each(rank, *word);
        } else {
            none.push_back(rank);
        }
    }
    return {};
}

/// Rank 0 says whether all have come, for a collective without one of them waits for ever.
Result<bool> allCame(Meeting& meeting, Reach& reach, std::chrono::milliseconds patience)
{
    const auto until = Clock::now() + patience;
    if (meeting.launch().rank != 0) {
        return meeting.hear("begin", until + grace).map([&reach](const auto& word) {
            if (!word) {
                reach.missing = {0};
            }
            return word && *word == "all";
        });
    }
    return hearAll(meeting, "came", until, reach.missing, [](int, const std::string&) {}).and_then([&] {
        const bool all = reach.missing.empty();
        return meeting.say("begin", all ? "all" : "some").map([all] { return all; });
    });
}

} // namespace

Result<Reach> reachAll(const Launch& launch, KeyValueStore& store, const Collective& collective,
    std::chrono::milliseconds patience, const CancelToken& cancel)
{
    Meeting meeting(launch, store, "reach", cancel);
    Reach reach;
    TRY(meeting.say(fmt::format("came/{}", launch.rank), "."));
    const auto all = TRY(allCame(meeting, reach, patience));
    if (all) {
        TRY(meeting.say(fmt::format("end/{}", launch.rank), wordOf(collective())));
    }
    if (launch.rank == 0 && all) {
        TRY(hearAll(meeting, "end", Clock::now() + grace, reach.silent,
            [&reach](int rank, const std::string& word) { note(reach, rank, word); }));
    }
    if (cancel.cancelled()) {
        return failure(ErrorKind::cancelled, "the exchange was cancelled");
    }
    std::vector<int> others;
    for (int rank = 1; rank < launch.processes; ++rank) {
        const auto isIn = [rank](const std::vector<int>& ranks) { return std::ranges::count(ranks, rank) > 0; };
        if (!isIn(reach.missing) && !isIn(reach.silent)) {
            others.push_back(rank);
        }
    }
    // That one of them is gone by now takes nothing from the answer.
    meeting.leave(others);
    if (launch.rank == 0 || !reach.whole()) {
        reach.text = textOf(reach, launch.processes, patience);
    }
    return reach;
}

} // namespace nanscope::scaleout
