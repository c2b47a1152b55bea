// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/tensorfile/tensorfile.h"

namespace nanscope::tensorfile {

const PickleValue* PickleValue::find(std::string_view key) const
{
    const auto* dict = std::get_if<PickleDict>(&value);
    if (dict == nullptr) {
        return nullptr;
    }
    const auto found = std::find_if(dict->begin(), dict->end(), [&](const auto& entry) {
        const auto* text = std::get_if<std::string>(&entry.first.value);
        return text != nullptr && *text == key;
    });
    return found == dict->end() ? nullptr : &found->second;
}

} // namespace nanscope::tensorfile
