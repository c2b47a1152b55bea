// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "core/instruments/measure.h"

namespace nanscope {

/// What the window says and sets for one instrument.
struct InstrumentWords
{
    QString title;
    QString question;
    int calls = 0; ///< usual number of them; 0 where nobody chooses it
    bool ofBits = false; ///< about a replay it says nothing of the code that ran
};

InstrumentWords wordsOf(instruments::Instrument instrument);

} // namespace nanscope
