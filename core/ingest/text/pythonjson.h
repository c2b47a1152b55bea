// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nanscope::ingest {

/// JSON as Python writes it, made strict: bare numbers, NaN and Infinity are quoted, so that each is read as it is
/// written, and bytes that are no UTF-8 become '?'.
std::string strictJson(std::string_view text);

/// A dict as Python prints it ("{'lr': 0.1, 'name': None}"), in the words of JSON. What is no literal stays as it is.
std::string jsonOfPython(std::string_view text);

} // namespace nanscope::ingest
