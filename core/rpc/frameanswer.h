// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Films and frames on their way through the pipe: facts in a JSON answer, tiles and values in a shared block (serve.h
// says how both are laid out).
#pragma once

#include <utility>

#include <nlohmann/json.hpp>

#include "core/platform/sharedmemory.h"
#include "core/replay/engine/frame.h"

namespace nanscope::rpc {

/// An answer without its id, and the block it names.
struct PackedAnswer
{
    nlohmann::ordered_json json;
    platform::SharedBlock block;
};

Result<PackedAnswer> packFilm(const replay::ReplayedFilm& film);
Result<PackedAnswer> packFrame(const replay::ReplayedFrame& frame);

/// The way back; takes the block, which thereby is gone. Nothing that contradicts itself is believed.
Result<replay::ReplayedFilm> unpackFilm(const nlohmann::ordered_json& answer);
Result<replay::ReplayedFrame> unpackFrame(const nlohmann::ordered_json& answer);

/// For an answer that is not wanted any more.
void discardAnswer(const nlohmann::ordered_json& answer);

} // namespace nanscope::rpc
