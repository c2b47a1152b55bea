// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Ranks as processes of their own, on this machine and over gloo.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gpu/probe/c10dranks.h"

namespace nanscope::test {

struct Limits
{
    std::chrono::milliseconds timeout = std::chrono::seconds(60); ///< of an exchange
    std::chrono::milliseconds patience = std::chrono::seconds(3);
    bool rankZeroKeepsTheStore = false; ///< over TCP, as torchrun has it; else a file has it
};

/// The group of torch that a rank is in, as a trainer has it.
struct Membership
{
    int rank = 0;
    c10::intrusive_ptr<c10d::Backend> group;
    c10::intrusive_ptr<c10d::Store> store;
    Limits limits;

    C10dOptions options() const { return {limits.timeout, store, limits.patience}; }

    /// A group of some of the ranks, this one among them; `name` is theirs alone.
    C10dRanks among(const std::vector<int>& ranks, const std::string& name) const;
};

/// What each rank said; none of one that was killed. A rank that throws has said what. Nothing takes longer than a
/// minute and a half: what has not ended by then is killed.
std::vector<std::optional<std::string>> inProcesses(
    int ranks, const std::function<std::string(const Membership&)>& work, const Limits& limits = {});

} // namespace nanscope::test
