// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QStringList>

#include "core/rpc/requests.h"
#include "ui/jobs/cellchoice.h"
#include "ui/sweep/cellgridmodel.h"
#include "ui/sweep/sweepchoice.h"

namespace nanscope {

/// What a grid is made of.
struct SweepSubject
{
    const Capture& capture;
    const replay::Catalogue& catalogue;
    VariantOrder order;
    QStringList variants; ///< that the next sweep replays
    SweepChoice choice;
    QStringList devices; ///< that it replays on
    std::vector<const Cell*> cells; ///< that are there
    std::vector<replay::CellRequest> running; ///< that are on their way
};

/// Rows for what the next sweep replays, and for every other cell that is there or on its way.
SweepGrid sweepGrid(const SweepSubject& subject);

/// Every cell of the wanted rows that are not complete, fp64 first, which the others are held against; none where
/// nothing is missing.
std::vector<replay::CellRequest> cellsToSweep(const SweepSubject& subject);
/// The same of all wanted rows.
std::vector<replay::CellRequest> cellsWanted(const SweepSubject& subject);

/// What was ordered of other devices and is not there, on the CPU instead; nothing that fails there, too.
std::vector<replay::CellRequest> restOnCpu(
    const std::vector<replay::CellRequest>& ordered, const SweepSubject& subject);

/// One capture's.
rpc::SweepOrder orderOf(const CaptureRef& capture, std::vector<replay::CellRequest> cells,
    const replay::Catalogue& catalogue, const rpc::KeptIn& kept);

} // namespace nanscope
