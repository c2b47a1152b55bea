// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "core/replay/device.h"

namespace nanscope {

/// The replay service behind the window: JSON lines in, JSON lines out, one object each.
///   in   {"id":1,"do":"hello"}
///        {"id":2,"do":"sweep","captures":[PATH..],"variants":[..],"precisions":[..],"lowerings":[..],
///         "devices":[..],"epsilon":null,"steps":null,"session":PATH or ""}
///        {"id":3,"do":"cancel","job":2}
///   out  {"id":1,"hello":{"engine":"torch 2.11.0","devices":[{"name":"cpu","hardware":".."}],"notes":[".."]}}
///        {"id":2,"progress":{..as --progress jsonl..}}
///        {"id":2,"cell":{..as in nanscope.sweep/1, without ops..}}
///        {"id":2,"done":true} or {"id":2,"error":"one sentence"} or {"id":2,"cancelled":true}
/// Every cell is also stored in the session when one is named, with its tile maps. Requests run one after the
/// other on a thread of their own while lines go on being read; end of input means finish what runs (a cancel is
/// implied) and return. Returns the process's exit status. Left-out lists keep SweepRequest's defaults. A line that
/// is not a request is answered {"error":".."}, with its id where it has one, and the service goes on.
struct ServiceInfo
{
    std::string engine;
    std::vector<std::pair<std::string, std::string>> devices; ///< name, hardware
    std::vector<std::string> notes; ///< "no GPU: the driver reports no device"
};

int serve(std::istream& in, std::ostream& out, const ServiceInfo& info, const DeviceFactory& devices);

/// The same on standard input and output; SIGINT and SIGTERM count as end of input. Leave main() after it: a thread
/// may still wait for input that never comes.
int serveStandardStreams(const ServiceInfo& info, const DeviceFactory& devices);

/// A longer line is refused, and the service goes on.
constexpr std::size_t maxRequestBytes = std::size_t {4} << 20;

} // namespace nanscope
