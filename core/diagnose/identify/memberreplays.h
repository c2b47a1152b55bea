// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/diagnose/identify/element.h"
#include "core/diagnose/identify/envelope.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

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

    /// `watch` is called before each replay.
    MemberReplays(const Bench& bench, std::function<void(const Member&)> watch);

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
    std::function<void(const Member&)> m_watch;
    std::map<std::string, MemberResult> m_done; ///< by their work
    std::vector<Done> m_replayed; ///< those that a forecast may go by
};

} // namespace nanscope::diagnose
