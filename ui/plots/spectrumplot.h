// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/plots/spectrumpicture.h"
#include "ui/plots/stopplot.h"

namespace nanscope {

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
