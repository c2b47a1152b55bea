// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/replay/serverequest.h"
#include "core/session/session.h"

namespace nanscope {

/// Opened to write; nothing where nothing is kept; an error where another run's took its place.
Result<std::optional<Session>> openKept(const KeptIn& kept);

} // namespace nanscope
