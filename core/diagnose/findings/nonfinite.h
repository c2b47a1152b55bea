// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/diagnose/findings/cards.h"

namespace nanscope::diagnose::cards {

/// P8 and P9, which nonFiniteCards() begins with.
std::vector<Card> birthCards();

} // namespace nanscope::diagnose::cards
