// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <gmock/gmock.h>

#include "core/model/verdict.h"

namespace nanscope {

/// One of the lines of evidence holds these words.
inline auto says(const std::string& words)
{
    return testing::Contains(testing::Field(&EvidenceLine::text, testing::HasSubstr(words)));
}

} // namespace nanscope
