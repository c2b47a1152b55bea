// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nanscope::report {

/// figures.css: what every picture needs.
std::string_view figureStyle();

/// The one style block of a page: page.css and figures.css.
std::string_view pageStyle();

/// Its hash as a Content-Security-Policy wants it: "sha256-...".
std::string pageStyleHash();

} // namespace nanscope::report
