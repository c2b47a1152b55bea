// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QString>

#include "core/instruments/scale.h"
#include "ui/instruments/stopplot.h"

namespace nanscope {

/// A scale at which somebody looked, in binades from the capture's own.
struct ScaleLook
{
    double at = 0;
    double scale = 1;
    std::optional<Outcome> outcome; ///< none: there was no output
    std::optional<std::size_t> edge; ///< the look is one of the two sides of this edge
};

/// What lies between two looks, or beyond the last.
struct ScaleStretch
{
    enum class Kind {
        alike, ///< both ends ended alike; nobody looked between
        between, ///< they did not: the edge is somewhere here
        unseen ///< no number of the input's type is that large or small
    };
    double from = 0;
    double to = 0;
    Kind kind = Kind::alike;
    std::optional<Outcome> outcome; ///< of `alike`
};

struct ScaleMark
{
    instruments::ScaleEdge edge;
    double at = 0; ///< of firstOutside
    QString place; ///< which end of which format it is; empty where none explains it
};

/// The answer of the scale instrument on an axis of binades.
struct ScalePicture
{
    std::vector<ScaleLook> looks; ///< ascending
    std::vector<ScaleStretch> stretches; ///< ascending, without gaps
    std::vector<ScaleMark> edges; ///< as the answer has them
    double lowest = 0; ///< looked at
    double highest = 0;

    bool hasSilence() const; ///< some look gave no output
    std::optional<std::size_t> nearestEdge(bool up) const; ///< to the capture's own scale, on this side
};

/// `epsilon` is what it was called with, where that is known.
ScalePicture makeScalePicture(const instruments::ScaleAnswer& answer, std::optional<double> epsilon);

/// "finite to zero at ×2.31e+04 (+14.5 binades): the norm rounds to Inf in fp16".
QString scaleEdgeText(const ScaleMark& mark);

/// What is known of any place, and how far the next edges are.
QString scalePlaceText(const ScalePicture& picture, double at);

/// The whole in a sentence: how far the capture's own scale is from the nearest edge on either side.
QString scaleSummary(const ScalePicture& picture);

/// A line for each look and each edge, tab-separated, a heading first.
QString scaleTsv(const ScalePicture& picture);

/// How one matrix ends at every scale that was looked at: binades from left to right, the captured one at 0, and a lane
/// for each outcome, so that none is told by its colour alone. A mark is a look, a bar what lies between looks that
/// ended alike; where nobody looked, or the outcome changes, the lanes are hatched.
class ScalePlot : public StopPlot
{
    Q_OBJECT

public:
    explicit ScalePlot(QWidget* parent = nullptr);

    void setAnswer(const ScalePicture& picture);
    const ScalePicture& answer() const { return m_picture; }
    /// "✓ looked at · ▬ between two that ended alike · …"
    static QString legendText();

    QString textOf(int stop) const override;

    /// Of the axis, in binades; the wheel and the keys + and − take a part of it.
    double lowestShown() const;
    double highestShown() const;

    std::vector<KeyHint> keyHints() const override;

protected:
    const std::vector<double>& stops() const override { return m_stops; }
    QString textAt(double x) const override;
    void rebuild() override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void showWhole();
    void zoom(double factor, double about);
    void addStretch(const ScaleStretch& stretch);
    void addLooks(std::optional<Outcome> outcome);
    void addEdges();

    ScalePicture m_picture;
    std::vector<double> m_stops;
    std::vector<std::size_t> m_looks; ///< one per stop
};

} // namespace nanscope
