// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/report/pictures/svg.h"

namespace nanscope::handmade {

struct Attribute
{
    std::string element;
    std::string name;
    std::string value;
};

/// What a strict reader of XML finds in a page or picture.
struct Markup
{
    std::string error; ///< empty where everything opens, closes and is quoted as it should
    std::vector<std::string> elements; ///< in the order they open
    std::vector<Attribute> attributes;
    std::string text; ///< between the elements, entities replaced
    std::string style; ///< of the style elements

    int count(std::string_view element) const;
    /// How many elements have this among their classes.
    int countClass(std::string_view name) const;
};

Markup readMarkup(std::string_view text);

/// Expects that it is well-formed.
Markup markupOf(const report::Svg& svg);

} // namespace nanscope::handmade
