// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/whatif/detectorreplay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/diagnose/recovery/losshistory.h"
#include "core/diagnose/triage/steplink.h"
#include "core/diagnose/triage/triage.h"
#include "core/probe/nandetector.h"

namespace nanscope::diagnose {

namespace {

class DetectorNotes
{
public:
    DetectorNotes(const LossHistory& history, const DetectorReplay& replay)
        : m_history(history)
        , m_replay(replay)
        , m_watched(history.lanes.front())
    { }

    std::vector<EvidenceLine> all()
    {
        ends();
        numbering();
        counterfactual();
        rows();
        suspected();
        unseen();
        ranks();
        updates();
        m_notes.insert(m_notes.end(), m_history.doubts.begin(), m_history.doubts.end());
        return std::move(m_notes);
    }

private:
    void say(std::string text, std::string source = {}) { m_notes.push_back({std::move(text), std::move(source)}); }

    void ends()
    {
        if (!m_history.ownStop.text.empty()) {
            say(fmt::format("the run's own detector stopped it behind step {}, whatever it printed then: what more "
                            "patience would have met is not in the log, and such a stop saves no checkpoint",
                    m_replay.lastStep),
                m_history.ownStop.source);
        }
        if (!m_history.crash.text.empty()) {
            say("the run ended because its trainer could not print a value that is not finite, an evaluation for "
                "example; a detector of losses does not look at those",
                m_history.crash.source);
        }
    }

    void numbering()
    {
        if (!m_replay.ownDetector || m_replay.badSteps == 0) {
            return;
        }
        const auto shown = m_replay.offset == 0
            ? std::string("steps are numbered as the log prints them")
            : fmt::format("steps are the detector's, counted before the trainer adds one: step {} would have been "
                          "printed as [step {}]",
                m_replay.streaks.front().first, m_replay.streaks.front().first + m_replay.offset);
        const auto& seen = m_watched.numbering;
        say(shown + (seen.text.empty() ? "; assumed, since no line shows it" : ": " + seen.text), seen.source);
    }

    void counterfactual()
    {
        if (m_replay.ownDetector || m_replay.badSteps == 0) {
            return;
        }
        say(fmt::format("no detector speaks in this log, so the updates of these steps were probably made: had they "
                        "been skipped, the losses after step {} might differ",
            m_replay.streaks.front().first));
    }

    void rows()
    {
        if (m_watched.countedSteps) {
            say("the log names no steps; its rows were counted, so that rows of consecutive steps cannot be told");
        }
        if (m_watched.runningAverage && m_replay.badSteps > 0) {
            say("the loss of this log is a running average, which stays NaN after one: neither how many steps were "
                "not finite nor a recovery can be told from it");
        }
        if (m_watched.interval > 1 && m_replay.ownDetector) {
            say(fmt::format("the log has a loss every {} steps and a warning for every step that was not finite: rows "
                            "are exact, losses between are not known",
                m_watched.interval));
        } else if (m_watched.interval > 1) {
            say(fmt::format("the log has a loss every {} steps: what happened between logged steps is not checkable",
                m_watched.interval));
        }
        if (m_watched.absent > 0) {
            say(fmt::format("{} rows without a loss were passed over: more rows have none than one", m_watched.absent));
        }
    }

    void suspected()
    {
        const auto first = [&](LossSign sign) {
            return std::ranges::find_if(m_history.steps, [&](const LossStep& step) { return step.sign == sign; });
        };
        if (const auto step = first(LossSign::absent); step != m_history.steps.end()) {
            say("some steps were reported without a loss, the first is step " + std::to_string(step->step)
                    + ": Megatron leaves out a NaN loss, and that of a step its loss scaler skipped; others have "
                      "nothing to "
                      "say; counted apart",
                m_history.evidence(*step, {}).source);
        }
        if (const auto step = first(LossSign::zeroed); step != m_history.steps.end()) {
            say("some losses are exactly 0 beside a gradient norm that is not finite, the first at step "
                    + std::to_string(step->step)
                    + ": Hugging Face's Trainer replaces a NaN loss in its log unless told otherwise; counted apart",
                m_history.evidence(*step, {}).source);
        }
    }

    void unseen()
    {
        if (m_replay.unseen.empty()) {
            return;
        }
        const auto& first = m_replay.unseen.front();
        if (m_replay.checkGradients) {
            say("the gradient check is told by the logged norm: which gradient was not finite is not in the log, and a "
                "norm overflows before its gradients do",
                first.line.source);
            return;
        }
        say(fmt::format("step {} has a finite loss and a gradient norm that is not: a detector of losses lets its "
                        "update through{}",
                first.step, afterUnseen(first.step)),
            first.line.source);
    }

    std::string_view afterUnseen(std::int64_t step) const
    {
        const auto next =
            std::ranges::find_if(m_history.steps, [&](const LossStep& other) { return other.step > step; });
        if (next == m_history.steps.end() || next->step != step + 1) {
            return "";
        }
        return next->sign >= LossSign::elsewhere ? ", and the next loss is the first that is not finite"
                                                 : "; the next loss is finite all the same";
    }

    void ranks()
    {
        const auto unnamed =
            std::ranges::find_if(m_replay.streaks, [](const NanStreak& streak) { return streak.elsewhere; });
        if (unnamed != m_replay.streaks.end()) {
            say(fmt::format("a step of {}-{} was not finite on another rank: not rank {}, and which one the log does "
                            "not say",
                    unnamed->first, unnamed->last, m_watched.rank.value_or(0)),
                unnamed->begin.source);
        } else if (!m_replay.ownDetector && m_history.lanes.size() == 1) {
            say(m_watched.rank
                    ? fmt::format("only rank {}'s loss is logged: what another rank would have flagged is not in it",
                        *m_watched.rank)
                    : "one loss is logged, of which rank the log does not say: what others would have flagged is not "
                      "in it");
        }
    }

    /// Weights lag behind the numbers they are saved under.
    void updates()
    {
        if (m_replay.ownDetector && m_replay.badSteps > 0) {
            say(fmt::format("this process made no update at {} of its steps: its weights have seen that many fewer "
                            "than the number of the step they are saved under",
                m_replay.badSteps));
        }
    }

    const LossHistory& m_history;
    const DetectorReplay& m_replay;
    const RankLossLog& m_watched;
    std::vector<EvidenceLine> m_notes;
};

/// A folder may hold several runs.
bool names(const RunData& run, const DetectorReplay& replay, const std::string& capture)
{
    return std::ranges::any_of(run.events, [&](const Event& event) {
        return event.kind == EventKind::captureDumped && event.capture == capture
            && std::ranges::find(replay.sources, event.source) != replay.sources.end();
    });
}

/// What the replay of this loss history rests on and what its log cannot show, most important first.
std::vector<EvidenceLine> detectorNotes(const LossHistory& history, const DetectorReplay& replay)
{
    return DetectorNotes(history, replay).all();
}

/// Where a capture that the same log names shows that the weights went bad before a loss could: no detector of losses
/// is early enough then.
std::optional<EvidenceLine> tooLate(
    const RunData& run, const std::vector<CaptureVerdict>& captures, const DetectorReplay& replay)
{
    if (replay.streaks.empty()) {
        return std::nullopt;
    }
    const auto firstBad = replay.streaks.front().first + replay.offset;
    const auto early = std::ranges::find_if(captures, [&](const CaptureVerdict& verdict) {
        const bool cause = verdict.role == Role::birth || verdict.role == Role::upstream;
        return cause && verdict.step && verdict.step->first < firstBad && names(run, replay, verdict.capture);
    });
    if (early == captures.end()) {
        return std::nullopt;
    }
    return EvidenceLine {
        fmt::format("a Newton-Schulz output was not finite {}, before a loss could show it: a detector of losses is "
                    "too late to save the weights, a guard on the Newton-Schulz output is in time",
            stepText(early->step)),
        early->capture};
}

/// Where gradients are to be checked and none of its logs has their norm.
std::optional<EvidenceLine> noGradients(const RunData& run, const DetectorReplay& replay)
{
    const bool logged = std::ranges::any_of(run.series, [&](const Series& series) {
        return series.name == "grad_norm" && std::ranges::find(replay.sources, series.source) != replay.sources.end();
    });
    return logged || !replay.checkGradients
        ? std::nullopt
        : std::optional(
            EvidenceLine {"no gradient norm is logged: what a gradient check would have found is not known", {}});
}

constexpr std::size_t mostListed = 1000;

constexpr std::array<std::string_view, 5> afterwardsNames {
    "not-stopped", "recovered", "relapsed", "stayed-bad", "unknown"};

bool hasBadSign(const LossStep& step)
{
    return step.sign >= LossSign::elsewhere;
}

bool isSuspected(const LossStep& step)
{
    return step.sign == LossSign::absent || step.sign == LossSign::zeroed;
}

/// Counted rows need not be steps, and a running average shows only the first that was not finite.
bool tellsRows(const LossHistory& history)
{
    const auto& watched = history.lanes.front();
    return !watched.countedSteps && !watched.runningAverage;
}

/// Counts rows of steps that were not finite: what is sure, and what may be.
class RowCounter
{
public:
    RowCounter(const LossHistory& history, std::int64_t patience)
        : m_ownDetector(history.lanes.front().ownDetector)
        , m_tellsRows(tellsRows(history))
        , m_patience(patience)
    { }

    void take(const LossStep& step)
    {
        const std::int64_t gap = step.step - m_last;
        const bool finiteBetween = m_ownDetector && gap > 1;
        m_sure = !hasBadSign(step) ? 0 : m_sure > 0 && gap == 1 && m_tellsRows ? m_sure + 1 : 1;
        if (m_sure == 0 && !isSuspected(step)) {
            m_worst = 0;
        } else {
            m_worst = m_worst > 0 && !finiteBetween ? m_worst + gap : 1;
        }
        m_last = step.step;
    }

    std::int64_t sure() const { return m_sure; }
    bool stopsForSure() const { return m_sure >= m_patience; }
    /// The step at which patience ends if what is not known was not finite.
    std::optional<std::int64_t> stopAtWorst() const
    {
        return m_worst >= m_patience ? std::optional(m_last - (m_worst - m_patience)) : std::nullopt;
    }

private:
    bool m_ownDetector;
    bool m_tellsRows;
    std::int64_t m_patience;
    std::int64_t m_last = 0;
    std::int64_t m_sure = 0;
    std::int64_t m_worst = 0;
};

void countRows(const LossHistory& history, std::int64_t patience, DetectorReplay& replay)
{
    RowCounter rows(history, patience);
    bool stopped = false;
    for (const auto& step : history.steps) {
        rows.take(step);
        if (rows.sure() > std::ssize(replay.everySetting) && replay.everySetting.size() < mostListed) {
            replay.everySetting.emplace_back(step.step);
        }
        stopped = stopped || rows.stopsForSure();
        if (!stopped && !replay.stopAtWorst) {
            replay.stopAtWorst = rows.stopAtWorst();
        }
    }
    replay.openRow = rows.sure();
    if (replay.everySetting.size() < mostListed) {
        replay.everySetting.emplace_back(std::nullopt);
    }
}

/// Feeds the detector itself, and remembers which line its last good loss is from.
class Replayer
{
public:
    Replayer(const LossHistory& history, const probe::NanDetectorOptions& options)
        : m_history(history)
        , m_detector(options)
    { }

    /// True where the detector stops the run.
    bool take(const LossStep& step)
    {
        const bool gap = m_any && step.step > m_last + 1;
        if (gap) {
            passUnknown(step.step - 1);
        }
        m_any = true;
        m_last = step.step;
        if (!hasBadSign(step)) {
            takeGood(step);
            return false;
        }
        const bool elsewhere = step.sign == LossSign::elsewhere;
        m_check = m_detector.checkLoss(elsewhere ? 0 : std::numeric_limits<double>::quiet_NaN(), step.step, elsewhere);
        m_messageKnown = elsewhere || (m_good ? m_good->exact : m_neverGood);
        return m_check.raise || m_detector.shouldRollback();
    }

    const probe::NanState& state() const { return m_detector.state(); }
    const std::optional<LastGood>& lastGood() const { return m_good; }
    std::string message() const { return m_messageKnown ? m_check.message : std::string(); }

private:
    /// No line says that any of the steps between was bad; what their losses were, none says either.
    void passUnknown(std::int64_t step)
    {
        const auto last = m_detector.state().lastGoodLoss;
        m_detector.checkLoss(std::isfinite(last) ? last : 0, step);
        m_neverGood = false;
        if (m_good) {
            m_good->exact = false;
        }
    }

    void takeGood(const LossStep& step)
    {
        const bool known = step.sign == LossSign::finite && std::isfinite(step.loss);
        m_detector.checkLoss(known ? step.loss : 0, step.step);
        m_neverGood = false;
        if (known) {
            m_good = LastGood {step.step, step.loss, true, m_history.evidence(step, "the last finite loss")};
        } else if (m_good) {
            m_good->exact = false;
        }
    }

    const LossHistory& m_history;
    probe::NanDetector m_detector;
    probe::NanCheck m_check;
    std::optional<LastGood> m_good;
    std::int64_t m_last = 0;
    bool m_any = false;
    bool m_neverGood = true;
    bool m_messageKnown = false;
};

/// The first step behind the stop that was finite, in whatever way the log says so.
std::optional<Recovery> firstFinite(const LossHistory& history, std::size_t stop)
{
    const bool ownDetector = history.lanes.front().ownDetector;
    for (auto i = stop + 1; i < history.steps.size(); ++i) {
        const auto& step = history.steps[i];
        const auto next = history.steps[i - 1].step + 1;
        Recovery recovery;
        recovery.line = history.evidence(step, "finite again");
        if (ownDetector && step.step > next) {
            recovery.step = next;
            return recovery;
        }
        if (step.sign == LossSign::finite) {
            recovery.step = step.step;
            recovery.loss = step.loss;
            return recovery;
        }
    }
    return std::nullopt;
}

Recovery recoveryAfter(const LossHistory& history, std::size_t stop, std::int64_t patience)
{
    const auto last = history.steps.back().step;
    const auto stopStep = history.steps[stop].step;
    auto found = firstFinite(history, stop);
    auto recovery = found.value_or(Recovery {});
    recovery.stepsLost = last - stopStep;
    if (!found) {
        const bool silent = stop + 1 == history.steps.size() || history.lanes.front().runningAverage;
        recovery.outcome = silent ? Afterwards::unknown : Afterwards::stayedBad;
        return recovery;
    }
    const auto again = std::find_if(history.steps.begin() + static_cast<std::ptrdiff_t>(stop), history.steps.end(),
        [&](const LossStep& step) { return step.step > recovery.step && hasBadSign(step); });
    recovery.finiteSteps = (again == history.steps.end() ? last + 1 : again->step) - recovery.step;
    const bool lasting = again == history.steps.end() || recovery.finiteSteps >= patience;
    recovery.outcome = lasting ? Afterwards::recovered : Afterwards::relapsed;
    return recovery;
}

/// A log has the norm of all gradients, and not which of them was bad.
constexpr std::string_view someParameter = "<parameter>";

void replaySteps(const LossHistory& history, std::int64_t patience, DetectorReplay& replay)
{
    Replayer replayer(history, replay.options);
    const bool certain = patience == 1 || tellsRows(history);
    for (std::size_t i = 0; i < history.steps.size(); ++i) {
        const auto& step = history.steps[i];
        const bool ends = replayer.take(step) && certain;
        const bool byGradient = replay.checkGradients && step.badGradient && !hasBadSign(step);
        if (byGradient) {
            replay.byGradients.push_back(step.step);
        }
        if (!hasBadSign(step) && !byGradient) {
            continue;
        }
        const DetectorStop speaks {step.step,
            byGradient ? probe::gradientText(someParameter, step.step) : replayer.message(),
            history.evidence(step, "it speaks")};
        if (!replay.first) {
            replay.first = speaks;
        }
        if (ends || (byGradient && replay.options.action == probe::NanAction::raise)) {
            replay.stop = speaks;
            replay.afterwards = recoveryAfter(history, i, patience);
            break;
        }
    }
    replay.total = replayer.state().total;
    replay.skipped = replayer.state().nanSteps;
    replay.lastGood = replayer.lastGood();
}

void addRank(const LossHistory& history, const LossStep& step, NanStreak& streak)
{
    const auto [first, last] = std::equal_range(history.badRanks.begin(), history.badRanks.end(),
        std::pair(step.step, 0), [](const auto& a, const auto& b) { return a.first < b.first; });
    streak.elsewhere = streak.elsewhere || (first == last && step.sign == LossSign::elsewhere);
    for (auto rank = first; rank != last; ++rank) {
        if (std::find(streak.ranks.begin(), streak.ranks.end(), rank->second) == streak.ranks.end()) {
            streak.ranks.push_back(rank->second);
        }
    }
}

void addStreak(const LossHistory& history, const LossStep& step, bool continues, DetectorReplay& replay)
{
    if (!continues) {
        if (replay.streaks.size() == mostListed) {
            return;
        }
        replay.streaks.emplace_back();
        replay.streaks.back().first = step.step;
        replay.streaks.back().begin = history.evidence(step, "the first of them");
    }
    auto& streak = replay.streaks.back();
    streak.last = step.step;
    ++streak.logged;
    addRank(history, step, streak);
}

void collectSteps(const LossHistory& history, DetectorReplay& replay)
{
    RowCounter rows(history, std::numeric_limits<std::int64_t>::max());
    const bool ownDetector = history.lanes.front().ownDetector;
    bool open = false;
    std::int64_t last = 0;
    for (const auto& step : history.steps) {
        rows.take(step);
        const bool continues = open && !(ownDetector && step.step > last + 1);
        open = hasBadSign(step);
        last = step.step;
        if (hasBadSign(step)) {
            ++replay.badSteps;
            addStreak(history, step, continues, replay);
            replay.streaks.back().sure = std::max(replay.streaks.back().sure, rows.sure());
        } else if (isSuspected(step) && replay.suspected.size() < mostListed) {
            replay.suspected.push_back({step.step,
                history.evidence(step,
                    step.sign == LossSign::absent ? "reported without a loss"
                                                  : "loss 0 beside a gradient norm that is not finite")});
        } else if (step.badGradient && replay.unseen.size() < mostListed) {
            replay.unseen.push_back({step.step, history.evidence(step, "finite loss, gradient norm not finite")});
        }
    }
}

void describe(const LossHistory& history, DetectorReplay& replay)
{
    const auto& watched = history.lanes.front();
    for (const auto& lane : history.lanes) {
        if (lane.rank) {
            replay.ranks.push_back(*lane.rank);
        }
        if (std::find(replay.sources.begin(), replay.sources.end(), lane.source) == replay.sources.end()) {
            replay.sources.push_back(lane.source);
        }
    }
    replay.process = history.life;
    replay.processes = history.lives;
    replay.firstStep = history.steps.front().step;
    replay.lastStep = history.steps.back().step;
    replay.ownDetector = watched.ownDetector;
    replay.offset = watched.offset;
    replay.interval = watched.interval;
    replay.checkable = watched.ownDetector || (watched.interval == 1 && tellsRows(history));
}

DetectorReplay replayHistory(const LossHistory& history, const DetectorQuestion& question)
{
    const auto& options = question.options;
    DetectorReplay replay;
    replay.options = options;
    replay.checkGradients = question.checkGradients;
    const std::int64_t patience = options.action == probe::NanAction::raise ? 1 : options.maxConsecutive;
    describe(history, replay);
    collectSteps(history, replay);
    countRows(history, patience, replay);
    replaySteps(history, patience, replay);
    if (replay.stop && replay.stopAtWorst && *replay.stopAtWorst >= replay.stop->step) {
        replay.stopAtWorst.reset();
    }
    replay.notes = detectorNotes(history, replay);
    return replay;
}

} // namespace

std::string_view name(Afterwards afterwards)
{
    return afterwardsNames[static_cast<std::size_t>(afterwards)];
}

std::vector<DetectorReplay> replayDetector(const RunData& run, const DetectorQuestion& question)
{
    std::vector<DetectorReplay> replays;
    const auto captures = triage(run);
    for (const auto& history : lossHistoriesOf(run)) {
        if (history.steps.empty()) {
            continue;
        }
        auto& replay = replays.emplace_back(replayHistory(history, question));
        if (auto unchecked = noGradients(run, replay)) {
            replay.notes.push_back(std::move(*unchecked));
        }
        if (auto late = tooLate(run, captures, replay)) {
            replay.notes.insert(replay.notes.begin(), std::move(*late));
        }
    }
    return replays;
}

} // namespace nanscope::diagnose
