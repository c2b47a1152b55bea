// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/whatif/detectornotes.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/diagnose/triage/steplink.h"

namespace nanscope::diagnose {

namespace {

class Notes
{
public:
    Notes(const Trail& trail, const DetectorReplay& replay)
        : m_trail(trail)
        , m_replay(replay)
        , m_watched(trail.lanes.front())
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
        m_notes.insert(m_notes.end(), m_trail.doubts.begin(), m_trail.doubts.end());
        return std::move(m_notes);
    }

private:
    void say(std::string text, std::string source = {}) { m_notes.push_back({std::move(text), std::move(source)}); }

    void ends()
    {
        if (!m_trail.ownStop.text.empty()) {
            say(fmt::format("the run's own detector stopped it behind step {}, whatever it printed then: what more "
                            "patience would have met is not in the log, and such a stop saves no checkpoint",
                    m_replay.lastStep),
                m_trail.ownStop.source);
        }
        if (!m_trail.crash.text.empty()) {
            say("the run ended because its trainer could not print a value that is not finite, an evaluation for "
                "example; a detector of losses does not look at those",
                m_trail.crash.source);
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
                        "been left out, the losses behind step {} could be others",
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
            return std::ranges::find_if(m_trail.steps, [&](const TrailStep& step) { return step.sign == sign; });
        };
        if (const auto step = first(LossSign::absent); step != m_trail.steps.end()) {
            say("some steps were reported without a loss, the first is step " + std::to_string(step->step)
                    + ": Megatron leaves out a NaN loss, and that of a step its loss scaler skipped; others have "
                      "nothing to "
                      "say; counted apart",
                m_trail.evidence(*step, {}).source);
        }
        if (const auto step = first(LossSign::zeroed); step != m_trail.steps.end()) {
            say("some losses are exactly 0 beside a gradient norm that is not finite, the first at step "
                    + std::to_string(step->step)
                    + ": Hugging Face's Trainer replaces a NaN loss in its log unless told otherwise; counted apart",
                m_trail.evidence(*step, {}).source);
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
            std::ranges::find_if(m_trail.steps, [&](const TrailStep& other) { return other.step > step; });
        if (next == m_trail.steps.end() || next->step != step + 1) {
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
        } else if (!m_replay.ownDetector && m_trail.lanes.size() == 1) {
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

    const Trail& m_trail;
    const DetectorReplay& m_replay;
    const LossLane& m_watched;
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

} // namespace

std::vector<EvidenceLine> detectorNotes(const Trail& trail, const DetectorReplay& replay)
{
    return Notes(trail, replay).all();
}

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
        fmt::format("a Newton-Schulz output was not finite {}, before a loss could show it: a detector of losses comes "
                    "too late to keep the weights, a guard behind the iteration does not",
            stepText(early->step)),
        early->capture};
}

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

} // namespace nanscope::diagnose
