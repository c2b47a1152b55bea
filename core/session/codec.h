// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.h"

namespace nanscope::session {

/// How the session lays values out in blobs. Readers throw DatabaseFailure for bytes that contradict themselves and
/// never ask for more memory than the counts beside the blob justify.
std::vector<std::byte> packIntegers(std::span<const std::int64_t> values);
std::vector<std::int64_t> unpackIntegers(std::span<const std::byte> packed, std::size_t count);

std::vector<std::byte> packDoubles(std::span<const double> values);
std::vector<double> unpackDoubles(std::span<const std::byte> packed, std::size_t count);

std::vector<std::byte> packTiles(const TileMap& tiles);
TileMap unpackTiles(std::span<const std::byte> packed);

/// "1x160x96" back to numbers; "scalar" is an empty shape.
Shape parseShape(std::string_view text);

} // namespace nanscope::session
