// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "core/instruments/spectrumcheck.h"
#include "ui/instruments/spectrumplot.h"
#include "ui/jobs/measurejob.h"
#include "ui/shared/elidedlabel.h"
#include "ui/shared/picture.h"

class QComboBox;

namespace nanscope {

class SpectrumPlot;

/// The plots of the spectrum instrument for one step, which is chosen above them: what was measured, and how far it is
/// off.
class SpectrumView : public QWidget
{
    Q_OBJECT

public:
    explicit SpectrumView(QWidget* parent = nullptr);

    void setAnswer(const instruments::SpectrumAnswer& answer, const MeasureFacts& facts);

    QComboBox* stepBox() { return m_steps; }
    SpectrumPlot* values() { return m_values; }
    SpectrumPlot* deviation() { return m_deviation; }
    QString readoutText() const { return m_readout->fullText(); }

private:
    void showStep();
    void moveBy(int steps);
    void choose(int stop);
    void showReadout(const QString& hovered);
    Picture picture() const;
    PictureCaption caption() const;

    QComboBox* m_steps;
    SpectrumPlot* m_values;
    SpectrumPlot* m_deviation;
    ElidedLabel* m_summary;
    ElidedLabel* m_readout;
    instruments::SpectrumAnswer m_answer;
    SpectrumPicture m_shown;
    MeasureFacts m_facts;
};

} // namespace nanscope
