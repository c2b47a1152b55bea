// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The window: panes, plots and item models over what core reads, replays and judges. No Torch, no CUDA, no SQL and
// no arithmetic on tensors; long work runs on worker threads or in the replay process.
#pragma once

namespace nanscope {

/// Parses the command line of nanscope-gui, shows the window (or writes a picture of it) and returns its exit
/// status. --version and --help need no display.
int runWindow(int argc, char** argv);

} // namespace nanscope
