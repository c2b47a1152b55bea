// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nanscope {

/// nanscope-worker agree CAPTURE --variant V [--precision P] [--repeats N]: prints one line of JSON, also where it
/// fails, and returns the exit status: 0 done, 2 wrong usage, 4 nothing to compare, 1 anything else.
int runAgree(int argc, char** argv);

} // namespace nanscope
