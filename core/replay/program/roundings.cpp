// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/program/roundings.h"

#include <fmt/format.h>

namespace nanscope::replay {

std::vector<Rounding> envelopeOf(Lowering own)
{
    Rounding plain;
    plain.lowering = own;
    std::vector<Rounding> all(8, plain);
    all[1].lowering = own == Lowering::eager ? Lowering::fused : Lowering::eager;
    all[2].lowering = Lowering::eager;
    all[2].fuseElementwise = true;
    all[3].fp32Norm = true;
    all[4].normUlps = 1;
    all[5].normUlps = -1;
    all[6].inputUlps = 1;
    all[7].otherSide = true;
    return all;
}

std::string describe(const Rounding& rounding)
{
    std::string text(name(rounding.lowering));
    if (rounding.fuseElementwise) {
        text += ", sums rounded once";
    }
    if (rounding.fp32Norm) {
        text += ", norm in fp32";
    }
    if (rounding.normUlps != 0) {
        text += fmt::format(", norm {:+} ulp", rounding.normUlps);
    }
    if (rounding.inputUlps != 0) {
        text += fmt::format(", input moved by {} ulp", rounding.inputUlps);
    }
    if (rounding.otherSide) {
        text += ", products on the other side";
    }
    return text;
}

} // namespace nanscope::replay
