// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/capture.h"
#include "ui/heatmap/matrixpicture.h"

namespace nanscope {

/// Reads the pictures of one matrix of a capture, or why there are none.
Result<TensorPictures> picturesOf(const CaptureRef& capture, std::int64_t batch);

} // namespace nanscope
