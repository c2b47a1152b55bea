// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/diagnose/damagetally.h"
#include "core/model/model.h"

namespace nanscope {

/// Name and words of what was tallied:
///   "whole element", "single element", "rows", "columns", "rectangle"
///   "strided rectangle": every n-th row or column of a rectangle
///   "blocks": some rows x some columns, neither all of a range nor evenly apart
///   "mirrored pair": of a square matrix, a rectangle and its mirror image
///   "lower triangle", "upper triangle", "diagonal": of a square matrix, all of it
///   "scattered", "none"
/// The batch element and the bits of its NaN are not filled in.
DamagePattern patternOf(const DamageTally& tally);

} // namespace nanscope
