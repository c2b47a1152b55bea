// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/run.h"
#include "core/probe/rankgroup.h"

namespace nanscope::probe {

enum class NanAction { warn, skip, raise };

std::string_view name(NanAction action);
std::optional<NanAction> parseNanAction(std::string_view name);

struct NanDetectorOptions
{
    NanAction action = NanAction::warn;
    std::int64_t maxConsecutive = 5;
    std::size_t maxHistory = 100;
};

struct NanState
{
    std::int64_t consecutive = 0; ///< back to 0 at a step that is finite on every rank
    std::int64_t total = 0;
    double lastGoodLoss = std::numeric_limits<double>::infinity();
    std::int64_t lastGoodStep = 0;
    std::vector<std::int64_t> nanSteps; ///< the first maxHistory of them, not the latest
};

/// What a check found, and what its caller is to do about it.
struct NanCheck
{
    bool good = true;
    bool raise = false; ///< the caller ends the run with `message` as the reason
    std::string message {}; ///< the log line, or the text of the error; empty where all is good
};

/// One gradient of a model.
struct GradientState
{
    std::string_view name;
    bool finite = true;
};

/// The line, without the prefix that a logger puts before it; for `raise` the text of the error.
std::string textOf(const NanMessage& message, NanAction action);

std::string gradientText(std::string_view parameter, std::int64_t step);

/// Finds the detector's words anywhere in a line, whatever its action was. The loss comes as it was printed: four
/// digits behind the point.
std::optional<NanMessage> parseNanMessage(std::string_view line);

/// Watches the loss of a run step by step. Counts, remembers and advises; leaving the update out and stopping are the
/// caller's. Behaves and speaks as KempnerForge's NaNDetector, whose lines are a format that tools read. One thread.
class NanDetector
{
public:
    explicit NanDetector(const NanDetectorOptions& options = {})
        : m_options(options)
    { }

    /// `anyOtherRank`: another rank's loss is not finite at this step. Every rank has to pass it, or one leaves out an
    /// update that the others make.
    NanCheck checkLoss(double loss, std::int64_t step, bool anyOtherRank = false);

    /// The same with the loss of every rank, so that all count alike and none goes on alone. A collective of one float:
    /// every rank calls it at every step. Fails where the group does, and has counted nothing then.
    Result<NanCheck> checkLoss(RankGroup& ranks, double loss, std::int64_t step);

    /// Stops at the first gradient that is not finite. Counts nothing: it is the loss that is counted.
    NanCheck checkGradients(std::span<const GradientState> gradients, std::int64_t step) const;
    /// The same where telling costs something: `next` is asked until it has no more, or one is not finite.
    NanCheck checkGradients(const std::function<std::optional<GradientState>()>& next, std::int64_t step) const;
    /// The same of every rank: a rank whose gradients are finite says that another's are not. A collective.
    Result<NanCheck> checkGradients(
        RankGroup& ranks, std::span<const GradientState> gradients, std::int64_t step) const;

    /// True once so many steps in a row were not finite that going back is better than going on.
    bool shouldRollback() const { return m_state.consecutive >= m_options.maxConsecutive; }

    void reset() { m_state = {}; }
    /// Goes on with what state() said when a checkpoint was written.
    void restore(NanState state) { m_state = std::move(state); }

    const NanState& state() const { return m_state; }
    const NanDetectorOptions& options() const { return m_options; }

private:
    NanDetectorOptions m_options;
    NanState m_state;
};

/// A rank's part in the all-reduce that lets all ranks agree: they are summed.
inline float nanFlag(bool finite)
{
    return finite ? 0.0F : 1.0F;
}

/// What the sum says. A sum that is itself not a number comes of a broken exchange, which is no reason to go on.
inline bool anyRankFlagged(float sumOfFlags)
{
    return !(sumOfFlags <= 0.0F);
}

} // namespace nanscope::probe
