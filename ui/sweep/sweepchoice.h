// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QByteArray>
#include <QStringList>

#include "core/model/model.h"

namespace nanscope {

/// What the user wants sweeps to replay. What is left out is as usual.
struct SweepChoice
{
    QStringList variants; ///< usual: those worth sweeping
    std::vector<Precision> precisions; ///< usual: usualPrecisions()
    std::vector<Lowering> lowerings; ///< usual: each variant's own
    std::optional<double> epsilon; ///< usual: the captured one
    std::optional<int> steps; ///< usual: as many as each schedule has
    bool operator==(const SweepChoice&) const = default;
};

/// "3 variants · fp32 · bf16 · epsilon 1e-05 · 8 steps"; empty where all is as usual.
QString choiceText(const SweepChoice& choice);

/// For settings. What no sweep takes any more is dropped.
QByteArray saveChoice(const SweepChoice& choice);
SweepChoice restoreChoice(const QByteArray& saved);

} // namespace nanscope
