// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QLabel>
#include <QStackedWidget>
#include <QTimer>

#include "core/replay/variants/catalogue.h"
#include "ui/cliff/cliffhistory.h"
#include "ui/cliff/cliffpicture.h"
#include "ui/shared/paneframe.h"
#include "ui/shared/picture.h"

class QDoubleSpinBox;
class QToolButton;

namespace nanscope {

class CliffCurve;
class CliffLadder;
class CliffStrip;
class MarkLabel;

/// How far one matrix of the shown cell is from the place where its schedule diverges. Scale and safety factor can be
/// changed, and every setting is replayed: first under the cell's own rounding, then, where that is quick, under all.
class CliffPane : public PaneFrame
{
    Q_OBJECT

public:
    explicit CliffPane(QWidget* parent = nullptr);

    /// Starts anew unless it is the same cell and matrix; what was replayed of one that was shown before is there
    /// again. The cell names a variant of the catalogue.
    void setCell(const Cell& cell, int batch, const replay::Catalogue& catalogue, const QString& overrides = {},
        const CaptureRef& capture = {});
    /// Instead of a cell: why there is none.
    void showMessage(const QString& message);
    void setReplay(const SharedCliff& cliff);
    void setFailure(const QString& sentence);

    void setScale(double scale);
    void setSafety(double safety);
    void setStep(int step);
    int step() const { return m_step; }
    const CliffHistory& history() const { return m_history; }
    const CliffPicture& picture() const { return m_picture; }
    QString outcomeText() const;
    QString message() const { return m_pages->currentIndex() == 0 ? m_message->text() : QString(); }

    CliffStrip* strip() { return m_strip; }
    QDoubleSpinBox* scaleBox() { return m_scale; }
    QDoubleSpinBox* safetyBox() { return m_safety; }
    QToolButton* envelopeButton() { return m_envelope; }

Q_SIGNALS:
    /// The capture is whatever the cell is of.
    void replayRequested(const nanscope::replay::CliffRequest& request);
    void replayUnwanted();

protected:
    void showEvent(QShowEvent* event) override;

private:
    struct Past
    {
        CaptureRef capture;
        Cell cell;
        replay::Variant variant; ///< its file may say something else by now
        int batch = 0;
        CliffHistory history;
    };

    void keepHistory();
    void takeHistory();
    void buildHeader();
    void buildBody();
    void reset();
    void settingChanged();
    void ask(int roundings);
    void askWhenShown();
    void refresh();
    void refreshReadout(const QString& hovered);
    Picture plotsPicture() const;
    PictureCaption caption() const;
    bool isCurrent(const replay::ReplayedCliff& cliff) const;

    QStackedWidget* m_pages;
    QLabel* m_message;
    CliffCurve* m_curve;
    CliffLadder* m_ladder;
    CliffStrip* m_strip;
    QDoubleSpinBox* m_scale;
    QDoubleSpinBox* m_safety;
    QToolButton* m_reset;
    QToolButton* m_envelope;
    MarkLabel* m_mark;
    ElidedLabel* m_readout;
    QTimer m_throttle;

    QString m_overrides; ///< epsilon and steps of the cell where they are not the usual ones
    CaptureRef m_capture; ///< that the cell is of
    std::optional<Cell> m_cell;
    replay::Variant m_variant; ///< of the cell
    std::optional<int> m_steps; ///< where the cell was replayed with another number than the variant has
    int m_batch = 0;
    int m_step = 1;
    CliffHistory m_history;
    std::vector<Past> m_past; ///< what was replayed of other cells, the newest last
    CliffPicture m_picture;
    SharedCliff m_shown; ///< the last replay that arrived
    QString m_failure;
};

} // namespace nanscope
