// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/whatif/detectorwords.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/base/utf8.h"

namespace nanscope::diagnose {

namespace {

constexpr std::size_t mostRows = 8; ///< of anything; the JSON answer has them all

std::string rangeText(std::int64_t first, std::int64_t last)
{
    return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

/// Puts the sentences of one replay together.
class Teller
{
public:
    explicit Teller(const DetectorReplay& replay)
        : m_replay(replay)
    { }

    std::vector<AnswerFact> all()
    {
        answer();
        worst();
        leftOut();
        lastGood();
        afterwards();
        streaks();
        settings();
        apart("suspected", "may not have been finite, counted apart", m_replay.suspected);
        apart(m_replay.checkGradients ? "not counted" : "not seen", "finite loss beside a gradient norm that is not",
            m_replay.unseen);
        for (std::size_t i = 0; i < m_replay.notes.size(); ++i) {
            say(i == 0 ? "know that" : "", m_replay.notes[i].text).source = m_replay.notes[i].source;
        }
        return std::move(m_facts);
    }

private:
    AnswerFact& say(std::string_view label, std::string text)
    {
        return m_facts.emplace_back(AnswerFact {std::string(label), std::move(text)});
    }

    std::int64_t printed(std::int64_t step) const { return step + m_replay.offset; }

    void answer()
    {
        auto& fact = say("answer", detectorAnswer(m_replay));
        if (!m_replay.stop) {
            return;
        }
        fact.source = m_replay.stop->line.source;
        fact.step = printed(m_replay.stop->step);
        if (!m_replay.stop->message.empty()) {
            say("it says", m_replay.stop->message);
        }
    }

    void worst()
    {
        if (m_replay.stopAtWorst) {
            say("at worst",
                fmt::format(
                    "stops at step {}, if what this log cannot show was not finite either", *m_replay.stopAtWorst))
                .step = printed(*m_replay.stopAtWorst);
        }
    }

    void leftOut()
    {
        if (m_replay.total > 0) {
            say("left out", fmt::format("{}: {}", counted(m_replay.total, "update"), stepRanges(m_replay.skipped)));
        }
        if (!m_replay.byGradients.empty()) {
            say(m_replay.total > 0 ? "" : "left out",
                fmt::format("{} by the gradient check, which counts nothing: {}",
                    counted(std::ssize(m_replay.byGradients), "update"), stepRanges(m_replay.byGradients)));
        }
    }

    void lastGood()
    {
        if (m_replay.badSteps == 0) {
            return;
        }
        if (!m_replay.lastGood) {
            say("last good", "none in this log");
            return;
        }
        const auto& good = *m_replay.lastGood;
        auto& fact = say("last good", fmt::format("{:.6g} at step {}", good.loss, good.step));
        fact.source = good.line.source;
        fact.tail = good.exact ? "" : "; later steps may have been good too";
        fact.step = printed(good.step);
    }

    void finiteAgain(std::string_view label, std::string_view before, std::string_view after)
    {
        const auto& then = m_replay.afterwards;
        auto& fact = say(label,
            fmt::format("{}finite again from step {}{}", before, then.step,
                then.loss ? fmt::format(" ({:.6g})", *then.loss) : ""));
        fact.source = then.line.source;
        fact.step = printed(then.step);
        fact.tail = fmt::format(" for {}{}; {} of this run would not have been made", counted(then.finiteSteps, "step"),
            after, counted(then.stepsLost, "later step"));
    }

    void afterwards()
    {
        const auto& then = m_replay.afterwards;
        switch (then.outcome) {
        case Afterwards::notStopped:
            break;
        case Afterwards::recovered:
            finiteAgain("but then", "a false alarm: ", "");
            break;
        case Afterwards::relapsed:
            finiteAgain("and then", "", " only");
            break;
        case Afterwards::stayedBad:
            say("and then", fmt::format("never finite again: a stop here saves {}", counted(then.stepsLost, "step")));
            break;
        case Afterwards::unknown:
            say("and then", "the log does not tell whether the run would have recovered");
            break;
        }
    }

    static std::string whoText(const NanStreak& streak)
    {
        if (streak.ranks.empty()) {
            return streak.elsewhere ? ", on another rank" : "";
        }
        return fmt::format(", rank{} {}{}", streak.ranks.size() > 1 ? "s" : "", fmt::join(streak.ranks, ", "),
            streak.elsewhere ? " and another" : "");
    }

    static std::string rowText(const NanStreak& streak)
    {
        const auto steps = streak.last - streak.first + 1;
        if (steps == streak.sure) {
            return steps == 1 ? "alone" : fmt::format("{} in a row", steps);
        }
        return fmt::format("{} logged, {} in a row for certain", streak.logged, streak.sure);
    }

    void streaks()
    {
        for (std::size_t i = 0; i < std::min(m_replay.streaks.size(), mostRows); ++i) {
            const auto& streak = m_replay.streaks[i];
            auto& fact = say(i == 0 ? "in the log" : "",
                fmt::format("{}: {}{}", rangeText(streak.first, streak.last), rowText(streak), whoText(streak)));
            fact.source = streak.begin.source;
            fact.step = printed(streak.first);
        }
        if (m_replay.streaks.size() > mostRows) {
            say("", fmt::format("and {} more rows", m_replay.streaks.size() - mostRows));
        }
    }

    void settings()
    {
        if (m_replay.badSteps == 0 || m_replay.options.action == probe::NanAction::raise) {
            return;
        }
        std::vector<std::string> stops;
        const auto& all = m_replay.everySetting;
        const auto* const last = m_replay.openRow > 0 ? "not in this log" : "never";
        for (std::size_t i = 0; i < std::min(all.size(), mostRows); ++i) {
            stops.push_back(
                all[i] ? fmt::format("{}: step {}", i + 1, *all[i]) : fmt::format("{} and more: {}", i + 1, last));
        }
        if (all.size() > mostRows) {
            stops.push_back(all.back() ? "…" : fmt::format("… {} and more: {}", all.size(), last));
        }
        say("every setting",
            fmt::format(
                "max_consecutive {}{}", fmt::join(stops, ", "), m_replay.checkable ? "" : "; certain ones only"));
    }

    void apart(std::string_view label, std::string_view noun, const std::vector<SuspectedStep>& steps)
    {
        if (steps.empty()) {
            return;
        }
        std::vector<std::int64_t> numbers;
        for (const auto& step : steps) {
            numbers.push_back(step.step);
        }
        auto& fact = say(label, fmt::format("{}: {}", noun, stepRanges(numbers)));
        fact.source = steps.front().line.source;
        fact.step = printed(numbers.front());
    }

    const DetectorReplay& m_replay;
    std::vector<AnswerFact> m_facts;
};

} // namespace

std::string stepRanges(const std::vector<std::int64_t>& steps)
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

std::string detectorSettings(const DetectorQuestion& question)
{
    const auto& options = question.options;
    auto text = options.action == probe::NanAction::raise
        ? std::string("action=raise")
        : fmt::format("action={}, max_consecutive={}", probe::name(options.action), options.maxConsecutive);
    return question.checkGradients ? text + ", gradients checked" : text;
}

std::string detectorTitle(const DetectorReplay& replay)
{
    auto title = fmt::format("{}", fmt::join(replay.sources, ", "));
    if (!replay.ranks.empty()) {
        title += fmt::format(
            ", rank{} {}", replay.ranks.size() > 1 ? "s" : "", stepRanges({replay.ranks.begin(), replay.ranks.end()}));
    }
    if (replay.lives > 1) {
        title += fmt::format(", process {} of {}", replay.life + 1, replay.lives);
    }
    return printable(title) + fmt::format(", steps {}", rangeText(replay.firstStep, replay.lastStep));
}

std::string detectorAnswer(const DetectorReplay& replay)
{
    if (replay.stop) {
        return fmt::format("stops at step {}", replay.stop->step);
    }
    if (replay.badSteps == 0 && replay.suspected.empty()) {
        return "never stops: no logged loss is anything but finite";
    }
    if (!replay.checkable || !replay.suspected.empty()) {
        return fmt::format("not checkable: {} {} not finite for certain, in no row long enough",
            counted(replay.badSteps, "step"), replay.badSteps == 1 ? "was" : "were");
    }
    if (replay.openRow > 0) {
        return fmt::format("does not stop in this log, which ends in a row of {}", replay.openRow);
    }
    return "never stops: no row is long enough";
}

std::vector<AnswerFact> detectorFacts(const DetectorReplay& replay)
{
    return Teller(replay).all();
}

bool detectorSpeaks(const DetectorReplay& replay)
{
    return replay.badSteps > 0 || !replay.suspected.empty() || !replay.unseen.empty();
}

std::string detectorSilence(std::span<const DetectorReplay> replays)
{
    return std::ranges::any_of(replays, detectorSpeaks)
        ? std::string()
        : fmt::format(
            "every loss in {} is finite: no setting would have stopped this run", counted(std::ssize(replays), "log"));
}

std::string nothingToReplay(const RunData& run)
{
    std::int64_t without = 0;
    for (const auto& series : run.series) {
        without += series.name == "loss" ? series.missing : 0;
    }
    return without > 0 ? fmt::format("the logs report {} without a loss and none with one", counted(without, "step"))
                       : "no loss and no detector's warning was found";
}

} // namespace nanscope::diagnose
