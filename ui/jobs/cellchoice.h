// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
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

/// `variant` may have run, as far as that is known.
bool mayHaveRun(const std::string& variant, const CaptureVerdict* judged);

/// Oldest first.
std::vector<const Cell*> cellsOf(const std::vector<Cell>& cells, const Capture& capture);

struct ReplayChoice
{
    std::string variant;
    Precision precision = Precision::fp32;
};

/// The replay that shows a number fault, or would show one while it is undecided: that of the plausible functions and
/// formats which ended like the dump under most roundings, or else left the finite range under most. None for other
/// verdicts; `judged` may be null.
std::optional<ReplayChoice> explainingReplay(const CaptureVerdict* judged);

/// The cell most worth seeing first: the one that explains the verdict, else what ran, as far as that is known, in its
/// own precision. Null where there is none.
const Cell* firstToSee(
    const std::vector<const Cell*>& cells, const CaptureVerdict* judged, const replay::Catalogue& catalogue);

/// What to replay without being asked: what explains the verdict, else the first of what may have run. None while
/// nothing is judged, where the input is not finite, and where replaying takes longer than looking for the button.
std::optional<ReplayChoice> quickReplay(
    const Capture& capture, const CaptureVerdict* judged, const replay::Catalogue& catalogue);

} // namespace nanscope
