// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/report/document/document.h"

namespace nanscope::report {

std::string toHtml(const Document& document);

} // namespace nanscope::report
