// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The lines of the replay service (server.h) and the values they stand for, for both ends of the pipe.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "core/replay/analysis/cliff.h"
#include "core/replay/analysis/deep.h"
#include "core/replay/analysis/sweep.h"
#include "core/replay/engine/frame.h"
#include "core/replay/engine/plant.h"

namespace nanscope::rpc {

/// A longer line is refused, and the service goes on.
constexpr std::size_t maxRequestBytes = std::size_t {4} << 20;

enum class RequestLine { text, tooLong, end };

/// Takes the next line, of which no more than maxRequestBytes are kept.
RequestLine readRequestLine(std::istream& in, std::string& line);

/// A line of either direction; not an object where it is none. Nothing that is meant lies deep; what does is dropped
/// before it takes memory.
nlohmann::ordered_json parseServiceLine(const std::string& line);

/// Puts the variants that a request's "definitions" hold into the catalogue that it is read with. What is written below
/// brings those of its own catalogue.
Result<void> putDefinitions(const nlohmann::ordered_json& request, replay::Catalogue& catalogue);

/// The session that a request's results are kept in.
struct KeptIn
{
    std::string session; ///< path; empty: they are not kept
    std::string run; ///< hashText() of the root() it must have; empty: any, and a missing one is made
    bool operator==(const KeptIn&) const = default;
};

struct SweepOrder
{
    replay::SweepRequest request;
    KeptIn kept;
};

struct DeepOrder
{
    replay::DeepRequest request;
    KeptIn kept;
};

/// The sweep of a request, or what is wrong with it; and the request of a sweep, without its id.
Result<SweepOrder> sweepFromJson(const nlohmann::ordered_json& request, const replay::Catalogue& catalogue);
nlohmann::ordered_json sweepToJson(const SweepOrder& sweep);

/// The same for films and frames.
Result<replay::FilmRequest> filmFromJson(const nlohmann::ordered_json& request, const replay::Catalogue& catalogue);
Result<replay::FrameRequest> frameFromJson(const nlohmann::ordered_json& request, const replay::Catalogue& catalogue);
nlohmann::ordered_json filmToJson(const replay::FilmRequest& film);
nlohmann::ordered_json frameToJson(const replay::FrameRequest& frame);

/// And for deep gauges.
Result<DeepOrder> deepFromJson(const nlohmann::ordered_json& request, const replay::Catalogue& catalogue);
nlohmann::ordered_json deepToJson(const DeepOrder& deep);

/// And for cliffs.
Result<replay::CliffRequest> cliffFromJson(const nlohmann::ordered_json& request, const replay::Catalogue& catalogue);
nlohmann::ordered_json cliffToJson(const replay::CliffRequest& cliff);

/// {"op":"q","iteration":3,"tile":[ROW,COL,ROWS,COLS],"value":"nan","mirrored":false}
nlohmann::ordered_json plantToJson(const replay::PlantedFault& fault);

/// The way back, or what is wrong with it. A "value" left out is a NaN.
Result<replay::PlantedFault> plantFromJson(const nlohmann::ordered_json& json);

} // namespace nanscope::rpc
