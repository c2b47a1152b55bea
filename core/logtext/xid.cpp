// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/logtext/xid.h"

#include <algorithm>
#include <array>

#include <re2/re2.h>

namespace nanscope::logtext {

namespace {

struct Meaning
{
    int code;
    const char* text;
};

// As NVIDIA's catalogue of Xids has them.
constexpr std::array meanings {
    Meaning {13,
        "a kernel ended with an exception, such as an access out of bounds: mostly the program's own fault, which ends "
        "its process"},
    Meaning {31, "a process used an address that is not its own: mostly the program's own fault, which ends it"},
    Meaning {43, "the driver ended a process whose work had failed: mostly the program's own fault"},
    Meaning {45, "the driver cleaned up behind a process that ended or was stopped, which is not the cause of its end"},
    Meaning {63,
        "rows or pages of the GPU's memory that had errors are set aside, from its next reset on: alone it changes no "
        "value that was computed"},
};

} // namespace

std::optional<QuietXid> quietXid(const Event& event)
{
    static const RE2 pattern(R"(^[^`'"#]*(?:NVRM: Xid(?: \([^)]*\))?|\bXid \(PCI:[^)]*\)):? (\d{1,4})\b)", RE2::Latin1);
    QuietXid xid;
    if (event.kind != EventKind::other || !event.says(Phrase::xid)
        || !RE2::PartialMatch(event.text, pattern, &xid.code)) {
        return std::nullopt;
    }
    const auto* known = std::ranges::find(meanings, xid.code, &Meaning::code);
    xid.meaning = known != meanings.end()
        ? known->text
        : "by its number it is none of memory, bus or links; NVIDIA's catalogue of Xids says what it is";
    return xid;
}

} // namespace nanscope::logtext
