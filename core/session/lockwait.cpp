// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/lockwait.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "core/session/database.h"

namespace nanscope::session {

namespace {

std::atomic<int> inHurry = 0;

constexpr int longestPauseMs = 50;
constexpr int patienceMs = 10000;

/// Pauses of 1, 2, 3 … and then of 50 ms: a transaction takes no longer.
int onBusy(void* /*unused*/, int pausesBefore)
{
    const int pause = std::min(pausesBefore + 1, longestPauseMs);
    const int rising = std::min(pausesBefore, longestPauseMs);
    const int waited = rising * (rising + 1) / 2 + (pausesBefore - rising) * longestPauseMs;
    if (inHurry > 0 || waited > patienceMs) {
        return 0;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(pause));
    return 1;
}

} // namespace

NoLockWait::NoLockWait()
{
    ++inHurry;
}

NoLockWait::~NoLockWait()
{
    --inHurry;
}

void waitForLocks(sqlite3* db)
{
    sqlite3_busy_handler(db, onBusy, nullptr);
}

void untilUnlocked(const std::function<void()>& work)
{
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(patienceMs);
    for (int pauses = 0;; ++pauses) {
        try {
            return work();
        } catch (const DatabaseFailure& failed) {
            const bool locked = failed.code == SQLITE_BUSY && std::chrono::steady_clock::now() < deadline;
            if (!locked || onBusy(nullptr, pauses) == 0) {
                throw;
            }
        }
    }
}

} // namespace nanscope::session
