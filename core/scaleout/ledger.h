// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/scaleout/keyvaluestore.h"

namespace nanscope::scaleout {

struct LedgerOptions
{
    std::string prefix; ///< of its keys, so that several jobs and several starts may share a store
    std::int64_t blocks = 0;

    /// A process that was not heard of for so long is taken for dead. Only clocks of one process are compared.
    std::chrono::seconds silence {60};
    /// A block that one process holds for longer is done by a second one, too.
    std::chrono::seconds patience {1800};
    /// So many of those that find nothing left stay to do what dead processes held; the others may leave. Each look of
    /// one that stays makes the store send all logs.
    std::int64_t watchers = 32;
};

/// Which process of a job does which of its blocks. A counter hands them out in their order; every process writes what
/// it takes and ends into a log of its own, and appends to that while it lives. Those that find the counter at its end
/// first read the logs of all and take what a dead process left. A block may be done twice, which changes no result.
///
/// Time is the caller's, so that a test or a simulation can let years pass. One thread, but for beat().
class Ledger
{
public:
    using Clock = std::chrono::steady_clock;

    enum class Turn { block, wait, over };
    struct Next
    {
        Turn turn = Turn::wait;
        std::int64_t block = -1;
    };

    /// Comes in. The first process of all says with `doneBefore` which blocks earlier starts have done; the others wait
    /// for its word with `pause`, which returns false once they should wait no longer: then each block counts as
    /// undone.
    static Result<Ledger> join(KeyValueStore& store, LedgerOptions options,
        const std::function<std::vector<std::int64_t>()>& doneBefore, const std::function<bool()>& pause);

    /// What to do now. `wait`: others still work on the rest; ask again after a while, a second at the least. `over`:
    /// nothing is left for this process.
    Result<Next> next(Clock::time_point now);

    Result<void> finish(std::int64_t block);
    /// It could not be done here. Another process tries; where a second one fails too, nobody tries again.
    Result<void> fail(std::int64_t block);

    /// "I live." From any thread, every few seconds.
    Result<void> beat() const;

    /// Whether a process other than this one has ended the block by now.
    Result<bool> isDone(std::int64_t block, Clock::time_point now);

    /// Takes no more blocks.
    Result<void> leave();
    /// Whether each process that came in has left or fallen silent.
    Result<bool> othersAreGone(Clock::time_point now);

private:
    /// What the log of one process says.
    struct Member
    {
        std::int64_t number = 0;
        std::size_t read = 0; ///< bytes of its log
        Clock::time_point heard;
        std::optional<std::int64_t> holds;
        Clock::time_point since;
        bool left = false;
    };

    Ledger(KeyValueStore& store, LedgerOptions options);

    std::string key(const std::string& what) const { return m_options.prefix + what; }
    std::string logKey(std::int64_t number) const;
    Result<void> write(const std::string& text) const;
    Result<void> readDoneBefore();
    Result<Next> take(std::int64_t block) const;
    Next nextOrphan(Clock::time_point now);
    bool othersLive(Clock::time_point now) const;
    Result<void> readLogs(Clock::time_point now);
    void addMembers(const std::string& roster, Clock::time_point now);
    Result<bool> handOut(Next& next);
    void apply(Member& member, const std::string& log, Clock::time_point now);
    void apply(Member& member, char what, std::int64_t block, Clock::time_point now);
    void markDone(std::int64_t block);
    bool lives(const Member& member, Clock::time_point now) const;
    bool isHeld(std::int64_t block, Clock::time_point now) const;
    bool isOpen(std::int64_t block, Clock::time_point now) const;
    std::optional<std::int64_t> orphan(Clock::time_point now);
    bool contains(std::int64_t block) const { return block >= 0 && block < m_options.blocks; }

    KeyValueStore* m_store;
    LedgerOptions m_options;
    std::int64_t m_number = 0;
    bool m_allHandedOut = false;
    bool m_stays = true; ///< once all is handed out
    std::vector<bool> m_done;
    std::vector<std::uint8_t> m_failures;
    std::set<std::int64_t> m_failedHere;
    std::int64_t m_doneCount = 0;
    std::vector<Member> m_members;
    std::size_t m_rosterRead = 0; ///< bytes of it
    std::set<std::int64_t> m_suspects; ///< blocks that nobody held at the last look
};

} // namespace nanscope::scaleout
