// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/diagnose/identify/element.h"
#include "core/model/model.h"
#include "core/replay/analysis/badblocks.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::diagnose {

/// Shape of the damage of one matrix, in words and numbers; bit patterns are not filled in.
DamagePattern describeDamage(std::span<const double> output, std::int64_t rows, std::int64_t cols);

/// What the damage of a captured output looks like. `batch` elements in which nothing is wrong give "none".
Result<std::vector<DamagePattern>> damagePatterns(const tensorfile::CaptureFile& capture);

/// Exactly which elements of a captured output are damaged, through one small buffer; none where they take more than so
/// many different lines.
Result<std::optional<replay::BadBlocks>> damagedBlocks(
    const tensorfile::CaptureFile& capture, std::int64_t batch, std::size_t mostLines);

/// True if something is damaged, and all of it lies where a finite input is zero.
bool damagedWhereInputIsZero(const Element& element);

/// True if something is damaged, and all of it lies in rows, or all of it in columns, that hold next to nothing in a
/// finite input: below 2^-10 of the median norm of such lines.
bool damagedInFaintLines(const Element& element);

/// True if the damage is a rectangle, the input is zero in the rest of its rows and columns, and holds something within
/// and without. A product would spread it over these rows and columns (0 times NaN is NaN): what ran takes blocks one
/// by one.
bool damagedInOwnBlock(const Element& element, const DamagePattern& damage);

/// Damage of one rectangle whose input is far smaller or larger than that of most others of a grid of its size, as what
/// scales or divides blocks one by one leaves it.
bool damagedInOutlyingBlock(const Element& element, const DamagePattern& damage);

} // namespace nanscope::diagnose
