// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/instruments/measurement.h"

namespace nanscope::instruments {

/// The same input with other epsilons.
struct EpsilonLine
{
    double epsilon = 0;
    bool own = false; ///< the captured one, or the variant's
    std::optional<Outcome> outcome; ///< the worst of the batch; none: there was no output
    std::optional<double> change; ///< ||X - X_own||_F / ||X_own||_F, the largest of the batch; none: not finite
    std::vector<Precision> zeroIn; ///< formats in which it rounds to 0
};

struct EpsilonAnswer
{
    std::optional<double> own; ///< none: the function was called without one
    std::optional<Outcome> ownOutcome;
    bool ignoresCaller = false; ///< a variant that does, made to take these
    std::optional<Precision> format; ///< the denominator of a cell is in; none: not known of a function
    std::vector<EpsilonLine> lines; ///< ascending
};

/// 0, 1e-30, 1e-15, 1e-10, 1e-8, 1e-7, 1e-6, 1e-4 and the own one. `own` is that of the cell's variant where the
/// capture has none.
struct EpsilonRequest
{
    std::optional<double> own;
    bool ignoresCaller = false;
    std::optional<Precision> format;
};
Result<EpsilonAnswer> varyEpsilon(Measurement& measurement, const EpsilonRequest& request);

/// What varyEpsilon() wants to know of a cell.
class CellTarget;
Result<EpsilonRequest> epsilonOf(const CellTarget& cell, const InputBatch& inputBatch);

} // namespace nanscope::instruments
