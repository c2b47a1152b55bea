// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "core/replay/device/device.h"

namespace nanscope::rpc {

/// The replay service behind the window: JSON lines in, JSON lines out, one object each.
///   in   {"id":1,"do":"hello"}
///        {"id":2,"do":"sweep","captures":[PATH..],"identities":[ID..],"variants":[..],"precisions":[..],"lowerings":[..],
///         "devices":[..],"epsilon":null,"steps":null,"gauges":null or "deep","cells":null or [{CELL}..],
///         "session":PATH or "","run":null or "HASH"}
///        {"id":3,"do":"film","capture":PATH,"identity":ID,"variant":"..","precision":"..","lowering":null,"device":"cpu",
///         "epsilon":null,"steps":null,"batch":0,"against":null or "fp64" or "output" or {CELL},
///         "plant":null or {PLANT}}
///        {"id":4,"do":"frame", as for film, "op":7,"region":null or [ROW,COL,ROWS,COLS]}
///        {"id":5,"do":"cancel","job":2}
///        {"id":7,"do":"deep","capture":PATH,"identity":ID,"variant":"..","precision":"..","lowering":null,"device":"cpu",
///         "epsilon":null,"steps":null,"batch":0,"session":PATH or "","run":null or "HASH"}
///        {"id":6,"do":"cliff", as for film without "against", "scale":1,"safety":null,"roundings":1}
///   out  {"id":1,"hello":{"engine":"torch 2.11.0","devices":[{"name":"cpu","hardware":".."}],"notes":[".."],
///         "sessions":11}}, the version of the sessions that it writes
///        {"id":2,"progress":{..as --progress jsonl..}}
///        {"id":2,"cell":{..as in nanscope.sweep/1, without ops..}}
///        {"id":3,"film":{"cell":{CELL},"batch":0,"batches":1,"block":{BLOCK},"compared":false,"ops":[{OP}..]}}
///        {"id":4,"frame":{"cell":{CELL},"batch":0,"batches":1,"block":{BLOCK},"index":7,"values":{VALUES},..OP..}}
///        {"id":7,"deep":{..a cell as above, with its deep gauges..}}
///        {"id":6,"cliff":{"batch":0,"batches":1,"scale":1,"safety":1.05,"limits":[..],"replays":[{REPLAY}..]}}
///        {"id":2,"done":true} or {"id":2,"error":"one sentence"} or {"id":2,"cancelled":true}
/// ID is Capture::identity: where another capture lies at PATH by now, the request fails. Left out or empty: any will
/// do. Any request may bring "definitions":[{VARIANT}..], variants of the caller's own in the schema of
/// docs/variants.md, which are known by their names from then on, each in place of what was known so before. Every cell
/// of a sweep is also stored in the session when one is named, with its tile maps; one that is missing is made, unless
/// "run" says whose it must be (hashText() of Session::root(); for a sweep and for deep gauges). Requests run one after
/// the other on a thread of their own while lines go on being read; films, frames and cliffs, which a user waits for,
/// run before sweeps that wait, in their order, and interrupt nothing. End of input means finish what runs (a cancel is
/// implied) and return. Returns the process's exit status. Left-out lists keep SweepRequest's defaults. A line that is
/// not a request is answered {"error":".."}, with its id where it has one, and the service goes on.
///
/// Deep gauges (deep.h says what they are, what they cost and from which cost on they are refused; their progress
/// counts ops) run before sweeps that wait, too. Where a session is named they are kept with the cell of this
/// environment in it, which is replayed first if it is not there yet; the answer is that cell.
///
/// Films and frames (frame.h says what they are; their progress counts ops). The replays of the last two films whose
/// frames were asked for are kept, so that two cells looked at in turns are replayed once each: at most 2 GiB together
/// (maxKeptReplayBytes), else only the last one. Any other job gives their memory back.
///   CELL   of "cells", which are replayed alone instead of every combination of the lists, in their order: variant,
///          precision, lowering, device, epsilon, steps. Of "against" the same; a device left out is the request's;
///          a lowering left out, here and in the request, is the variant's own. In an answer: as in nanscope.sweep/1,
///          what was replayed and where, without how it ended; gauges only of a film that was not compared.
///   PLANT  {"op":"q","iteration":3,"tile":[ROW,COL,ROWS,COLS],"value":"nan","mirrored":false}: a fault put into the
///          result of this op before anything reads it (plant.h); not into what is compared with. The value is "nan",
///          "inf", "-inf", "zero", "stale" (what the memory held before) or "stale:NUMBER".
///   OP     {"iteration":1,"op":"gram","rows":..,"cols":..,"scan":{SCAN} or null,"distance":number or null,
///          "tiles":{"tile_rows":..,"tile_cols":..,"height":..,"width":..,"at":BYTE} or null}
///   SCAN   {"count","nan","pos_inf","neg_inf","zero","subnormal","absmax","min_nonzero","sum_squares","trace",
///          "first_nonfinite" and "first_kind" (null where all is finite)}; non-finite numbers are "nan" "inf" "-inf".
///   VALUES {"row":..,"col":..,"rows":..,"cols":..,"type":"float32" or "float64","at":BYTE}; null where no region was
///          asked for and the whole matrix is too large to be sent at once (maxFrameElements).
///   BLOCK  {"version":1,"name":"/nanscope-..","bytes":..}: POSIX shared memory, to be opened read-only and unlinked as
///          soon as it is mapped. Unfetched ones are gone after maxWaitingBlocks later answers or with the process.
/// Cliffs (cliff.h; their progress counts roundings): the one matrix with its normalised input times "scale" and with
/// the schedule's safety factor set to "safety" (null: the variant's own), under the first "roundings" of the envelope.
///   REPLAY {"rounding":"fused, norm +1 ulp","sigma":[||X||_2 on entry of each step, "nan" where it is not finite],
///          "cell":{as in nanscope.sweep/1, without ops, of this matrix at this scale}}
/// Layout of a block, version 1: 8 bytes "nanscope", the version as int64, then at the BYTE that the answer names (from
/// the begin of the block, unaligned): of a tile map height x width min (float), as many max (float), as many class
/// bits (uint8); of values rows x cols elements, row-major. Everything in the machine's own byte order.
struct ServiceInfo
{
    std::string engine;
    std::vector<std::pair<std::string, std::string>> devices; ///< name, hardware
    std::vector<std::string> notes; ///< "no GPU: the driver reports no device"
};

int serve(std::istream& in, std::ostream& out, const ServiceInfo& info, const replay::DeviceFactory& devices);

/// The same on standard input and output; SIGINT and SIGTERM count as end of input. Leave main() after it: a thread
/// may still wait for input that never comes.
int serveStandardStreams(const ServiceInfo& info, const replay::DeviceFactory& devices);

/// Answers with blocks that were not fetched are kept for so many later ones.
constexpr std::size_t maxWaitingBlocks = 4;

} // namespace nanscope::rpc
