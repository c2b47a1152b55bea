// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The lines of the replay service (serve.h) and the values they stand for, for both ends of the pipe.
#pragma once

#include <iosfwd>
#include <string>

#include <nlohmann/json.hpp>

#include "core/replay/deep.h"
#include "core/replay/frame.h"

namespace nanscope {

enum class RequestLine { text, tooLong, end };

/// Takes the next line, of which no more than maxRequestBytes are kept.
RequestLine readRequestLine(std::istream& in, std::string& line);

/// A line of either direction; not an object where it is none. Nothing that is meant lies deep; what does is dropped
/// before it takes memory.
nlohmann::ordered_json parseServiceLine(const std::string& line);

/// The sweep of a request, or what is wrong with it; and the request of a sweep, without its id.
Result<SweepRequest> sweepFromJson(const nlohmann::ordered_json& request);
nlohmann::ordered_json sweepToJson(const SweepRequest& sweep, const std::string& session);

/// The same for films and frames.
Result<FilmRequest> filmFromJson(const nlohmann::ordered_json& request);
Result<FrameRequest> frameFromJson(const nlohmann::ordered_json& request);
nlohmann::ordered_json filmToJson(const FilmRequest& film);
nlohmann::ordered_json frameToJson(const FrameRequest& frame);

/// And for deep gauges.
Result<DeepRequest> deepFromJson(const nlohmann::ordered_json& request);
nlohmann::ordered_json deepToJson(const DeepRequest& deep, const std::string& session);

} // namespace nanscope
