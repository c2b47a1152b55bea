// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What a capture helper saw at a call, as sentences: the same on the terminal, in the report and in the window.
#pragma once

#include <string>
#include <vector>

#include "core/model/capture.h"

namespace nanscope {

/// What limits what may be concluded: state of the function, an exception, a stale output, turned tensors, a sidecar
/// that contradicts its dump or could not be read. One clause each.
std::vector<std::string> notesOf(const Scene& scene);

/// "before the step began, 1 of 8 weights was not finite, first layers.3.q"
std::string weightsBeforeText(const WeightsBefore& weights);

/// Why there are no tensors; empty where there are.
std::string withheldText(const Scene& scene);

/// What to set so that the next capture of the kind holds more; empty where it holds all.
std::string whatKeepsMore(const Scene& scene);

} // namespace nanscope
