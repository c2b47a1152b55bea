// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What trainers, libraries and machines print when something happens that is no metric. A new one is one line.
#pragma once

#include <span>

#include "core/model/run.h"

namespace nanscope::ingest {

struct Signature
{
    EventKind kind;
    /// A group named `step` gives the step of the event, one named `rank` the rank it concerns. Give a group only what
    /// the line calls a step: a batch, a counter of outliers or a call of forward is none.
    const char* pattern;
};

/// In order of precedence where several fit one line.
std::span<const Signature> signatures();

} // namespace nanscope::ingest
