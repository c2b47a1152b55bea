// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QString>

#include "core/instruments/spectrumcheck.h"
#include "core/replay/variants/catalogue.h"

namespace nanscope {

/// One step of the spectrum instrument, with what both plots of it share.
struct SpectrumPicture
{
    instruments::SpectrumStage stage;
    std::vector<std::size_t> order; ///< of the lines: ascending sigma
    std::vector<double> places; ///< on the axis, in that order; those too small for it stand at its left end
    double left = 0; ///< of the axis
    double right = 1;
    bool logarithmic = false;
    std::vector<replay::Coefficients> schedule; ///< p(sigma / denominator) is expected; empty: only at the lines
    double denominator = 1;
    bool closedForm = true; ///< expected is p(sigma), else what the fp64 replay made of it
    double frobenius = 0;

    bool hasExpected() const { return !stage.lines.empty() && stage.lines.front().expected.has_value(); }
    std::size_t flagged() const;
    /// Of those, the ones that left what was expected by most.
    std::vector<std::size_t> worstFlagged(std::size_t most) const;
};

/// `epsilon` is what it was called with, where that is known; the answer names a variant of the catalogue.
SpectrumPicture makeSpectrumPicture(const instruments::SpectrumAnswer& answer, std::size_t stage,
    std::optional<double> epsilon, const replay::Catalogue& catalogue);

/// (found - expected) / allowed; nothing where nothing was expected.
std::optional<double> spectrumDeviation(const instruments::SpectrumLine& line);

/// "step 3", "output".
QString spectrumStageText(const instruments::SpectrumStage& stage, bool last);

/// "direction 3 · σ 0.12 (1.4 % of ‖G‖) · p(σ) 0.88 · measured 0.91 · …".
QString spectrumLineText(const SpectrumPicture& picture, std::size_t line);

/// What the step comes to, in a sentence.
QString spectrumSummary(const SpectrumPicture& picture);

/// All steps, a line for each singular value of each, tab-separated, a heading first.
QString spectrumTsv(const instruments::SpectrumAnswer& answer);

} // namespace nanscope
