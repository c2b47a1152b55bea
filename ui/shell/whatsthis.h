// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the window says when it is asked "What is this?": of every pane and every button of the tool bar, what is shown,
// how to read it and what to do with it. All of these words live here.
#pragma once

namespace nanscope {

class PaneArea;
struct Actions;

void explainPanes(const PaneArea& area);
void explainCommands(const Actions& actions);

} // namespace nanscope
