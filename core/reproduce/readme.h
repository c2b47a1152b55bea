// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/reproduce/material.h"

namespace nanscope::reproduce {

/// Why repro.py is expected to end as it is: one or two sentences.
std::string whyThatStatus(const Material& from);

/// What capture_min.pt is, and whether it may be private.
std::string captureSentence(const Material& from);

/// What README.txt says of the files: each name on a line of its own, with what it is below it.
std::string readmeLines(const Material& from);

} // namespace nanscope::reproduce
