// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
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
    bool formatKnown = false; ///< said by the user or the sidecar, or shown by the bits of a control
    bool stepsKnown = false; ///< said, also where they are those of the published code
};

/// The roundings a member is replayed under: what its own source does, the other lowering, a compiler's, the norm in
/// fp32, one ulp on the norm either way, one on the input, and the iteration taken on the other side.
std::vector<replay::Rounding> envelopeOf(const Member& member);

/// True where the cast of this input to fp16 makes infinities of its largest values or zeros of all.
bool halfLosesInput(const Scan& input);

/// What is known of a member before it is replayed.
MemberResult resultFor(const Member& member, const Scan& input);

/// When the replays of a member have shown enough.
enum class Enough {
    whole, ///< all roundings, but two where these keep clear of every limit
    asked, ///< the function is asked for in any case: one that is clear, at its edge or ends like the dump, or two
};

/// What a replay of a member gives by one rounding, row-major.
Result<Values> outputOf(const Member& member, const replay::Rounding& rounding, const Element& element,
    std::optional<double> epsilon, replay::Device& device, const CancelToken& cancel, std::optional<int> steps = {});

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

/// True if what was forecast is so far from every limit that it may stand for a replay.
bool keepsClear(const MemberResult& forecast);

/// What becomes of one damaged matrix under each plausible variant. Equal work is done once, and a variant whose
/// schedule keeps any matrix clear of every limit is not replayed where the same forecast for another variant in its
/// format has been held against a replay of this matrix (decision 0013).
class MemberReplays
{
public:
    struct Bench
    {
        const Element& element;
        std::optional<double> epsilon; ///< the capture's
        Enough enough = Enough::whole;
        bool forecasts = false; ///< false: every member is replayed
        const std::map<const replay::Variant*, MemberResult>& own; ///< what was replayed by its own rounding before
        replay::Device& device;
        const CancelToken& cancel;
    };

    /// Called before a member is replayed, with how many of all were looked at before.
    using Watch = std::function<void(const Member& member, std::size_t done, std::size_t all)>;

    MemberReplays(const Bench& bench, Watch watch);

    /// One for each member, in their order. What has to be replayed in any case comes first: forecasts go by it.
    Result<std::vector<MemberResult>> all(const std::vector<Member>& members);

private:
    struct Done
    {
        Member member;
        bool held = false; ///< it has the slack that was forecast; a Gram form has no forecast but by another's replay
        MemberResult result;
    };

    Result<MemberResult> of(const Member& member);
    Result<MemberResult> replayed(const Member& member);
    bool foreseeable(const Member& member) const;
    std::optional<MemberResult> foretold(const Member& member, const MemberResult* sibling) const;
    const MemberResult* siblingOf(const Member& member) const;
    bool isGram(const Member& member) const;

    Bench m_bench;
    Watch m_watch;
    std::size_t m_looked = 0; ///< at members, of m_all
    std::size_t m_all = 0;
    std::map<std::string, MemberResult> m_done; ///< by their work
    std::vector<Done> m_replayed; ///< those that a forecast may go by
};

} // namespace nanscope::diagnose
