// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/text/mlflowline.h"

#include "core/ingest/text/consoletext.h"

namespace nanscope::ingest {

std::optional<MlflowLine> mlflowLine(std::string_view text)
{
    text = trimmed(text);
    const auto time = parseInteger(takeUntil(text, " "));
    const auto value = parseNumber(takeUntil(text, " "));
    if (!time || !value) {
        return std::nullopt;
    }
    MlflowLine line {*time, *value, {}};
    if (!text.empty()) {
        line.step = parseInteger(takeUntil(text, " "));
        if (!line.step) {
            return std::nullopt;
        }
    }
    return line;
}

} // namespace nanscope::ingest
