// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include <QWidget>

#include "ui/jobs/measurejob.h"
#include "ui/shared/elidedlabel.h"
#include "ui/shared/picture.h"

namespace nanscope::instruments {
struct EpsilonAnswer;
struct ScaleAnswer;
} // namespace nanscope::instruments

namespace nanscope {

class EpsilonPlot;
class ScalePlot;
class StopPlot;

/// The plot of an instrument, and in words what is under the mouse, at the chosen place, or the whole of it.
class StopView : public QWidget
{
    Q_OBJECT

public:
    QString readoutText() const { return m_readout->fullText(); }
    PictureCaption caption() const;

protected:
    /// What is said of the plot.
    struct Words
    {
        QString title;
        std::function<QString()> tsv;
        std::function<QString()> summary;
        std::function<QString()> legend;
    };
    StopView(StopPlot* plot, Words words, QWidget* parent);

    /// The plot has another answer.
    void setFacts(const MeasureFacts& facts);

private:
    void showReadout(const QString& hovered);

    StopPlot* m_stops;
    ElidedLabel* m_readout;
    Words m_words;
    MeasureFacts m_facts;
};

class ScaleView : public StopView
{
    Q_OBJECT

public:
    explicit ScaleView(QWidget* parent = nullptr);

    void setAnswer(const instruments::ScaleAnswer& answer, const MeasureFacts& facts);
    ScalePlot* plot() { return m_plot; }

private:
    ScalePlot* m_plot;
};

class EpsilonView : public StopView
{
    Q_OBJECT

public:
    explicit EpsilonView(QWidget* parent = nullptr);

    void setAnswer(const instruments::EpsilonAnswer& answer, const MeasureFacts& facts);
    EpsilonPlot* plot() { return m_plot; }

private:
    EpsilonPlot* m_plot;
};

} // namespace nanscope
