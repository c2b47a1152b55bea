// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What a report is made of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/model/verdict.h"
#include "core/report/input/measures.h"

namespace nanscope::report {

struct ReportInput
{
    RunData run;
    Diagnosis diagnosis;
    std::vector<Cell> cells;
    std::string commandLine;
    /// Of each cell what is not usual about it: "epsilon 1e-05, 8 steps". Without them all are usual.
    std::vector<std::string> cellSettings = {};
    std::optional<TileMap> outputTiles = std::nullopt; ///< of shownBatch() of mainCapture(), for its picture
    std::string about = {}; ///< the capture it is about; empty or unknown: that of the first birth
    std::vector<std::string> variantFiles = {}; ///< as they were given, for the commands that it suggests
    std::vector<std::string> ran = {}; ///< likewise, VARIANT or VARIANT:PRECISION
    bool nothingElse = false; ///< likewise
    bool otherCode = false; ///< likewise
    Measures measures = {}; ///< of mainCapture()
    std::string goOn = {}; ///< what to do tonight where the diagnosis has no rollback; empty: nothing is known to help
};

/// "gns-gram", or "gns-gram (8 steps)" where it was not replayed as usual. `cell` is one of the input's.
std::string labelOf(const ReportInput& input, const Cell& cell);

/// The batch element worth showing: the first whose output is not finite, else the first.
int shownBatch(const Capture& capture);

/// The verdict a report is about: the first birth, else what comes closest to one; nullptr without captures.
const CaptureVerdict* mainVerdict(const Diagnosis& diagnosis);
const CaptureVerdict* mainVerdict(const ReportInput& input);

/// The capture of that verdict; nullptr where it is not there.
const Capture* mainCapture(const ReportInput& input);

} // namespace nanscope::report
