// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "core/model/run.h"

namespace nanscope::logtext {

/// Heads the frames of a forward call in the detail of an exception that anomaly mode raised.
constexpr std::string_view forwardCallMark = "the forward call:";

/// What the line of an event says, with its detail. An import asks once for every event, and so does a session that was
/// written before sessions kept the answer.
EventFacts factsIn(std::string_view line, std::string_view detail = {});

/// "python_warning": as sessions keep it.
std::string_view name(Phrase phrase);
std::optional<Phrase> parsePhrase(std::string_view name);

} // namespace nanscope::logtext
