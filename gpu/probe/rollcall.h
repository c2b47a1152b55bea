// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace nanscope {

/// Who still answers, once the collectives of a group are of no use: each rank leaves a word in the store that the
/// ranks met by. Without a store nothing is known. One thread.
class RollCall
{
public:
    /// `name` tells groups apart that share a store.
    RollCall(c10::intrusive_ptr<c10d::Store> store, const std::string& name, int rank, int size);

    /// Another rank has given up on the group, so that waiting on is in vain. False where the store does not answer.
    bool someoneGaveUp() const noexcept;

    /// Gives up, and waits at most so long until all others have. Says in a clause who has not: "no word of rank 2";
    /// empty without a store.
    std::string giveUp(std::chrono::milliseconds patience) noexcept;

private:
    std::string keyOf(int rank) const;
    std::vector<int> missingAfter(std::chrono::milliseconds patience);

    c10::intrusive_ptr<c10d::Store> m_store;
    std::string m_prefix;
    int m_rank;
    int m_size;
};

} // namespace nanscope
