// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "core/replay/device/device.h"

namespace nanscope::rpc {

/// Puts a device at the disposal of another process, the owner of a RemoteDevice: lines of JSON in, one line for each
/// out, numbers of matrices in shared memory (server.h says how a block begins). Returns the exit status once the input
/// ends.
///   {"do":"hello","beats":true}                {"hello":{"engine","device","hardware","cuda","threads","flags",
///                                               "native":["fp64",..],"beats":true,"sessions":14}}
///   {"do":"limit","program":{..}}              {"limit":25}
///   {"do":"prepare","program":{..},"batch":2}  {"done":true}
///   {"do":"upload","block":{..},"count":..,"wide":false}
///                                              or "again":true in place of the block: what was handed over last
///   {"do":"eigenbasis","rows":..,"cols":..,"matrix":{..},"columns":{..}}
///                                              {"block":{..},"count":..}; both handed over as above
///   {"do":"run","code":[{..}..]}               one answer for all, once they are given to the device
///   {"do":"rescan","instruction":{..}}
///   {"do":"overwrite","buffer":1,"element":0,"region":[ROW,COL,ROWS,COLS],"values":[..]}
///   {"do":"scans"}                             {"scans":[{SCAN}..]}
///   {"do":"download","buffer":1,"element":0}   {"block":{..},"count":..,"wide":false,"at":BYTE}; a "region" may say of
///                                              what part
///   {"do":"tiles","buffer":1,"element":0}      {"block":{..},"rows":..,"cols":..,"tiles":{..}}
/// From a hello that asks for beats on, {"working":true} comes every second until a request is answered. What fails is
/// answered {"error":"one sentence","kind":N}, N an ErrorKind; the device goes on.
int serveDevice(std::istream& in, std::ostream& out, replay::Device& device);

} // namespace nanscope::rpc
