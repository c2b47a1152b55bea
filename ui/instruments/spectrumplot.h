// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QString>

#include "core/instruments/spectrumcheck.h"
#include "core/replay/variants/catalogue.h"
#include "ui/instruments/stopplot.h"

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

/// What became of every singular value of the input. `values` holds what was measured against p(σ); `deviation` shows
/// how far it is off as a share of what roundings explain. Flagged directions are crosses with their number. What lies
/// beyond the plot is a triangle at its edge.
class SpectrumPlot : public StopPlot
{
    Q_OBJECT

public:
    enum class Kind { values, deviation };

    explicit SpectrumPlot(Kind kind, QWidget* parent = nullptr);

    void setAnswer(const SpectrumPicture& picture);
    QString legendText() const;

    QString textOf(int stop) const override;
    std::vector<KeyHint> keyHints() const override;

Q_SIGNALS:
    /// One of the steps before (-1) or after (1).
    void stepWanted(int direction);

protected:
    const std::vector<double>& stops() const override { return m_picture.places; }
    void rebuild() override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    double valueOf(const instruments::SpectrumLine& line) const;
    double placeOf(double value) const;
    void setAxes();
    void setValueAxis();
    void addTolerances();
    void addCurve();
    void addReplay();
    void addTolerance();
    void addMeasured();
    void addMark(const std::vector<std::size_t>& positions, int shape, const QColor& color, bool filled, double size);
    void addNames();

    Kind m_kind;
    SpectrumPicture m_picture;
    double m_low = 0; ///< of the y axis
    double m_high = 1;
};

} // namespace nanscope
