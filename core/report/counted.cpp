// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/counted.h"

#include <fmt/format.h>

#include "core/report/words.h"

namespace nanscope {

std::string counted(std::int64_t count, std::string_view noun)
{
    return fmt::format("{} {}{}", countText(count), noun, count == 1 || noun == "series" ? "" : "s");
}

} // namespace nanscope
