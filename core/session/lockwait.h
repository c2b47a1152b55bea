// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

struct sqlite3;

namespace nanscope::session {

/// While one lives, nothing in this process waits for a session that another program keeps locked, and what waits
/// already gives up: for a program that is about to end.
class NoLockWait
{
public:
    NoLockWait();
    ~NoLockWait();
    NoLockWait(const NoLockWait&) = delete;
    NoLockWait& operator=(const NoLockWait&) = delete;
};

/// Lets this connection wait for ten seconds, unless there is a NoLockWait.
void waitForLocks(sqlite3* db);

/// The same for what SQLite refuses at once, without waiting: the right to write, to a connection that reads already.
void untilUnlocked(const std::function<void()>& work);

} // namespace nanscope::session
