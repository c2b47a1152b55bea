// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "core/model/model.h"
#include "ui/shared/paneframe.h"

class QProgressBar;
class QPushButton;
class QToolButton;
class QTableView;

namespace nanscope {

class CellGridModel;

/// Variants x precisions of the selected capture: outcome and birth op per cell, filled while a sweep runs.
class SweepPane : public PaneFrame
{
    Q_OBJECT

public:
    explicit SweepPane(QWidget* parent = nullptr);

    /// An empty grid; the first `identified` variants are those that may have run.
    void setGrid(const QStringList& variants, int identified, const QStringList& devices = {QStringLiteral("cpu")});
    void putCell(const Cell& cell);
    void setRunning(bool running);
    void setSweepEnabled(bool enabled);
    bool isRunning() const { return m_running; }

    CellGridModel* model() { return m_model; }
    QTableView* view() { return m_view; }
    QToolButton* everyButton() { return m_every; }

Q_SIGNALS:
    void sweepRequested();
    /// Every variant is wanted, not just one of each schedule.
    void everyVariantToggled(bool every);
    void cancelRequested();
    /// A computed cell was selected by the user.
    void cellSelected(const nanscope::Cell& cell);
    /// One that is not computed yet was clicked.
    void replayRequested(const QString& variant, nanscope::Precision precision, const QString& device);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void updateState();
    void showDetail(const QModelIndex& index);
    void requestReplay(const QModelIndex& index);

    CellGridModel* m_model;
    QTableView* m_view;
    ElidedLabel* m_detail;
    QProgressBar* m_progress;
    QPushButton* m_button;
    QToolButton* m_every;
    bool m_running = false;
};

} // namespace nanscope
