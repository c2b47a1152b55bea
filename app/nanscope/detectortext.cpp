// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/whatifanswers.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/nanscope/words.h"
#include "core/report/words.h"

namespace nanscope {

namespace {

constexpr std::size_t mostRows = 8; ///< of anything; --json has them all

std::string rangeText(std::int64_t first, std::int64_t last)
{
    return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

/// "37-39, 150, …"
std::string stepsText(const std::vector<std::int64_t>& steps)
{
    std::vector<std::string> ranges;
    for (std::size_t i = 0; i < steps.size();) {
        auto end = i + 1;
        while (end < steps.size() && steps[end] == steps[end - 1] + 1) {
            ++end;
        }
        ranges.push_back(rangeText(steps[i], steps[end - 1]));
        i = end;
    }
    if (ranges.size() > mostRows) {
        ranges.resize(mostRows);
        ranges.emplace_back("…");
    }
    return fmt::format("{}", fmt::join(ranges, ", "));
}

/// " [train.log:41]", or " [line 41]" where the title names the only log there is.
std::string at(const DetectorReplay& replay, const EvidenceLine& line)
{
    const auto colon = line.source.rfind(':');
    const bool onlyLog = replay.sources.size() == 1 && line.source.substr(0, colon) == replay.sources.front();
    return line.source.empty() ? std::string()
        : onlyLog              ? fmt::format(" [line {}]", line.source.substr(colon + 1))
                               : fmt::format(" [{}]", line.source);
}

std::string titleOf(const DetectorReplay& replay)
{
    auto title = fmt::format("{}", fmt::join(replay.sources, ", "));
    if (!replay.ranks.empty()) {
        title += fmt::format(
            ", rank{} {}", replay.ranks.size() > 1 ? "s" : "", stepsText({replay.ranks.begin(), replay.ranks.end()}));
    }
    if (replay.lives > 1) {
        title += fmt::format(", process {} of {}", replay.life + 1, replay.lives);
    }
    return title + fmt::format(", steps {}", rangeText(replay.firstStep, replay.lastStep));
}

std::string patienceText(const NanDetectorOptions& options)
{
    return options.action == NanAction::raise
        ? "action=raise"
        : fmt::format("action={}, max_consecutive={}", name(options.action), options.maxConsecutive);
}

std::string answerText(const DetectorReplay& replay)
{
    if (replay.stop) {
        return fmt::format("stops at step {}{}", replay.stop->step, at(replay, replay.stop->line));
    }
    const auto bad = counted(replay.badSteps, "step");
    if (replay.badSteps == 0 && replay.suspected.empty()) {
        return "never stops: no logged loss is anything but finite";
    }
    if (!replay.checkable || !replay.suspected.empty()) {
        return fmt::format("not checkable: {} {} not finite for certain, in no row long enough", bad,
            replay.badSteps == 1 ? "was" : "were");
    }
    if (replay.openRow > 0) {
        return fmt::format("does not stop in this log, which ends in a row of {}", replay.openRow);
    }
    return "never stops: no row is long enough";
}

std::string worstText(const DetectorReplay& replay)
{
    return replay.stopAtWorst ? fact("at worst",
               fmt::format("stops at step {}, if what this log cannot show was not finite either", *replay.stopAtWorst))
                              : std::string();
}

std::string lastGoodText(const DetectorReplay& replay)
{
    if (replay.badSteps == 0) {
        return {};
    }
    if (!replay.lastGood) {
        return fact("last good", "none in this log");
    }
    const auto& good = *replay.lastGood;
    return fact("last good",
        fmt::format("{:.6g} at step {}{}{}", good.loss, good.step, at(replay, good.line),
            good.exact ? "" : "; later steps may have been good too"));
}

std::string leftOutText(const DetectorReplay& replay)
{
    if (replay.total == 0) {
        return {};
    }
    return fact("left out", fmt::format("{}: {}", counted(replay.total, "update"), stepsText(replay.skipped)));
}

std::string afterwardsText(const DetectorReplay& replay)
{
    const auto& after = replay.afterwards;
    const auto lost = fmt::format("{} of this run would not have been made", counted(after.stepsLost, "later step"));
    const auto again = fmt::format("finite again from step {}{}{} for {}", after.step,
        after.loss ? fmt::format(" ({:.6g})", *after.loss) : "", at(replay, after.line),
        counted(after.finiteSteps, "step"));
    switch (after.outcome) {
    case Afterwards::notStopped:
        return {};
    case Afterwards::recovered:
        return fact("but then", fmt::format("a false alarm: {}; {}", again, lost));
    case Afterwards::relapsed:
        return fact("and then", fmt::format("{} only; {}", again, lost));
    case Afterwards::stayedBad:
        return fact(
            "and then", fmt::format("never finite again: a stop here saves {}", counted(after.stepsLost, "step")));
    case Afterwards::unknown:
        break;
    }
    return fact("and then", "the log does not tell whether the run would have recovered");
}

std::string whoText(const NanStreak& streak)
{
    if (streak.ranks.empty()) {
        return streak.elsewhere ? ", on another rank" : "";
    }
    return fmt::format(", rank{} {}{}", streak.ranks.size() > 1 ? "s" : "", fmt::join(streak.ranks, ", "),
        streak.elsewhere ? " and another" : "");
}

std::string rowText(const NanStreak& streak)
{
    const auto steps = streak.last - streak.first + 1;
    if (steps == streak.sure) {
        return steps == 1 ? "alone" : fmt::format("{} in a row", steps);
    }
    return fmt::format("{} logged, {} in a row for certain", streak.logged, streak.sure);
}

std::string streaksText(const DetectorReplay& replay)
{
    std::string text;
    for (std::size_t i = 0; i < std::min(replay.streaks.size(), mostRows); ++i) {
        const auto& streak = replay.streaks[i];
        text += fact(i == 0 ? "in the log" : "",
            fmt::format("{}: {}{}{}", rangeText(streak.first, streak.last), rowText(streak), whoText(streak),
                at(replay, streak.begin)));
    }
    if (replay.streaks.size() > mostRows) {
        text += fact("", fmt::format("and {} more rows", replay.streaks.size() - mostRows));
    }
    return text;
}

std::string settingsText(const DetectorReplay& replay)
{
    if (replay.badSteps == 0 || replay.options.action == NanAction::raise) {
        return {};
    }
    std::vector<std::string> stops;
    const auto& all = replay.everySetting;
    const auto* const last = replay.openRow > 0 ? "not in this log" : "never";
    for (std::size_t i = 0; i < std::min(all.size(), mostRows); ++i) {
        stops.push_back(
            all[i] ? fmt::format("{}: step {}", i + 1, *all[i]) : fmt::format("{} and more: {}", i + 1, last));
    }
    if (all.size() > mostRows) {
        stops.push_back(all.back() ? "…" : fmt::format("… {} and more: {}", all.size(), last));
    }
    return fact("every setting",
        fmt::format("max_consecutive {}{}", fmt::join(stops, ", "), replay.checkable ? "" : "; certain ones only"));
}

std::string apartText(const DetectorReplay& replay, std::string_view label, std::string_view noun,
    const std::vector<SuspectedStep>& steps)
{
    if (steps.empty()) {
        return {};
    }
    std::vector<std::int64_t> numbers;
    for (const auto& step : steps) {
        numbers.push_back(step.step);
    }
    return fact(label, fmt::format("{}: {}{}", noun, stepsText(numbers), at(replay, steps.front().line)));
}

std::string replayText(const DetectorReplay& replay)
{
    auto text = printable(titleOf(replay)) + "\n";
    text += fact("answer", answerText(replay));
    text += replay.stop && !replay.stop->message.empty() ? fact("it says", replay.stop->message) : "";
    text += worstText(replay) + leftOutText(replay) + lastGoodText(replay) + afterwardsText(replay);
    text += streaksText(replay) + settingsText(replay);
    text += apartText(replay, "suspected", "may not have been finite, counted apart", replay.suspected);
    text += apartText(replay, "not seen", "finite loss beside a gradient norm that is not", replay.unseen);
    for (std::size_t i = 0; i < replay.notes.size(); ++i) {
        text += fact(i == 0 ? "know that" : "", replay.notes[i].text + at(replay, replay.notes[i]));
    }
    return text;
}

bool worthTelling(const DetectorReplay& replay)
{
    return replay.badSteps > 0 || !replay.suspected.empty() || !replay.unseen.empty();
}

} // namespace

std::string detectorText(std::span<const DetectorReplay> replays)
{
    constexpr std::size_t most = 10;
    std::string text;
    std::size_t told = 0;
    for (const auto& replay : replays) {
        if (worthTelling(replay) && ++told <= most) {
            text += (told > 1 ? "\n" : fmt::format("With {}:\n\n", patienceText(replay.options))) + replayText(replay);
        }
    }
    if (told == 0) {
        return fmt::format("Every loss in {} is finite: no setting would have stopped this run.\n",
            counted(std::ssize(replays), "log"));
    }
    const auto more = told > most ? fmt::format("\nand {} more like these (--json has them all)\n", told - most) : "";
    const auto clean = replays.size() - told;
    return text + more
        + (clean > 0 ? fmt::format(
               "\n{} without a loss that is not finite\n", counted(static_cast<std::int64_t>(clean), "other log"))
                     : "");
}

} // namespace nanscope
