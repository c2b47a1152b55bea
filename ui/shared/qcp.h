// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// QCustomPlot's header is written with the keywords that the rest of the window forbids itself. Only for the .cpp files
// of plots, which CMakeLists.txt lists.
#pragma once

#include <QObject>

// NOLINTBEGIN(bugprone-macro-parentheses)
#define signals Q_SIGNALS
#define foreach(variable, container) for (variable : container)
// NOLINTEND(bugprone-macro-parentheses)
#include <qcustomplot.h>
#undef foreach
#undef signals
