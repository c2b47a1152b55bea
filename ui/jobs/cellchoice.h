// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QStringList>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "core/replay/variants/catalogue.h"

namespace nanscope {

/// All variants, those that may have run first.
struct VariantOrder
{
    QStringList names;
    int identified = 0; ///< how many of them may have run; none where that could be every one
};

/// `judged` may be null.
VariantOrder variantOrder(const CaptureVerdict* judged, const replay::Catalogue& catalogue);

/// What a sweep looks at unless it is to look at all: what may have run, the user's own, one variant of every other
/// schedule, and what has cells already. Projects copy from one another, and where they share a schedule they share its
/// edges.
QStringList worthSweeping(
    const VariantOrder& order, const std::vector<const Cell*>& swept, const replay::Catalogue& catalogue);

/// Oldest first.
std::vector<const Cell*> cellsOf(const std::vector<Cell>& cells, const Capture& capture);

/// The cell most worth seeing first: what ran, as far as that is known, in its own precision. Null where there is none.
const Cell* firstToSee(
    const std::vector<const Cell*>& cells, const VariantOrder& order, const replay::Catalogue& catalogue);

/// The variant to replay without being asked: it is known to have run, its input is finite, and replaying it takes no
/// longer than looking for the button. Null where there is none.
const replay::Variant* quickReplay(
    const Capture& capture, const CaptureVerdict* judged, const replay::Catalogue& catalogue);

} // namespace nanscope
