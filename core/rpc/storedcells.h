// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/rpc/queue.h"
#include "core/rpc/requests.h"
#include "core/session/session.h"

namespace nanscope::rpc {

/// Opened to write; nothing where nothing is kept; an error where another run's took its place.
Result<std::optional<session::Session>> openKept(const KeptIn& kept);

/// What cells of this capture are called in the session: as it calls the capture with these contents, wherever that
/// lies. A capture it does not have goes by the name of its file. Refused where another one is called that: the file
/// was replaced, or was not imported.
Result<std::string> nameIn(const session::Session& session, const CaptureRef& capture);

/// Measures, and keeps the gauges in the session that is named; the cell with them.
Result<Cell> deepCell(const DeepOrder& order, const replay::DeviceFactory& devices, const JobContext& job);

} // namespace nanscope::rpc
