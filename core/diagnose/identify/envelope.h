// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/diagnose/identify/element.h"
#include "core/model/model.h"
#include "core/replay/engine/replay.h"

namespace nanscope::diagnose {

/// A variant in the compute format it is assumed to have run in.
struct Member
{
    const replay::Variant* variant = nullptr;
    Precision precision = Precision::bf16;
    bool recordedEpsilon = false; ///< with the epsilon of the dump, which its source ignores
    bool formatKnown = false; ///< said by the user or the sidecar, or told by the bits of a control
};

/// The roundings a member is replayed under: what its own source does, the other lowering, a compiler's, the norm in
/// fp32, one ulp on the norm either way, one on the input, and the iteration taken on the other side.
std::vector<replay::Rounding> envelopeOf(const Member& member);

/// All that the replays of a member on this matrix depend on: members of equal work end alike, bit for bit.
std::string workOf(const Member& member, const Element& element, std::optional<double> epsilon);

/// True where the cast of this input to fp16 makes infinities of its largest values or zeros of all.
bool halfLosesInput(const Scan& input);

/// What is known of a member before it is replayed.
MemberResult resultFor(const Member& member, const Scan& input);

/// When the replays of a member have shown enough.
enum class Enough {
    whole, ///< all roundings, but two where these keep clear of every limit
    asked, ///< the function is asked for in any case: one that is clear, at its edge or ends like the dump, or two
};

/// The first replay of a member, by its own rounding.
struct OwnReplay
{
    MemberResult result; ///< of one rounding
    Values output; ///< row-major
};
Result<OwnReplay> replayOwn(const Member& member, const Element& element, std::optional<double> epsilon,
    replay::Device& device, const CancelToken& cancel);

/// Replays one matrix under the envelope and compares each end with the dump's damage. `begun` is what its own rounding
/// gave, where that was replayed before.
Result<MemberResult> replayMember(const Member& member, const Element& element, std::optional<double> epsilon,
    Enough enough, replay::Device& device, const CancelToken& cancel, const MemberResult* begun = nullptr);

/// What its schedule tells of it without a replay: slack and headroom, of no roundings. Of a Gram form these are what
/// `sibling` showed, a replay of the same steps in the same format. Nothing where forecast() has none.
std::optional<MemberResult> forecastMember(
    const Member& member, const Element& element, std::optional<double> epsilon, const MemberResult* sibling);

/// True if what was forecast is so far from every limit that it may stand for a replay.
bool keepsClear(const MemberResult& forecast);

/// True if the replay has the slack that was forecast, but for what roundings take.
bool agrees(const MemberResult& replayed, const MemberResult& forecast);

} // namespace nanscope::diagnose
