// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/diagnose/findings/cards.h"

namespace nanscope::diagnose::cards {

/// What no line of a log can show, however honest; honestyCards() ends with them.
std::vector<Card> limitCards();

} // namespace nanscope::diagnose::cards
