// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Letters of a picture in pixels: a node of a cluster has no fonts.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace nanscope::report {

constexpr int glyphWidth = 5;
constexpr int glyphHeight = 9; ///< seven above the line that letters stand on, two below
constexpr int glyphBaseline = 7;
constexpr int glyphAdvance = 6;

/// Rows from the top; the leftmost pixel is bit 4.
using Glyph = std::array<std::uint8_t, glyphHeight>;

/// Of every code point of UTF-8 text; a box for one that has no letter here.
std::vector<Glyph> glyphsOf(std::string_view text);

/// Twice as large in both directions, without steps in what runs aslant.
using LargeGlyph = std::array<std::array<bool, std::size_t {2} * glyphWidth>, std::size_t {2} * glyphHeight>;
LargeGlyph enlarged(const Glyph& glyph);

} // namespace nanscope::report
