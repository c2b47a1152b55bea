// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/scan.h"

#include <algorithm>

namespace nanscope {

void addScan(Scan& whole, const Scan& part, std::int64_t first)
{
    if (first >= 0 && (whole.firstNonFinite < 0 || first < whole.firstNonFinite)) {
        whole.firstNonFinite = first;
        whole.firstClass = part.firstClass;
    }
    whole.count += part.count;
    whole.nan += part.nan;
    whole.posInf += part.posInf;
    whole.negInf += part.negInf;
    whole.zero += part.zero;
    whole.subnormal += part.subnormal;
    whole.absmax = std::max(whole.absmax, part.absmax);
    if (part.minNonzero > 0 && (whole.minNonzero == 0 || part.minNonzero < whole.minNonzero)) {
        whole.minNonzero = part.minNonzero;
    }
    whole.sumSquares += part.sumSquares;
}

} // namespace nanscope
