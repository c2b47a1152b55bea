// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include "core/model/model.h"
#include "core/replay/engine/capturecells.h"
#include "ui/shared/paneframe.h"

class QComboBox;
class QProgressBar;
class QPushButton;
class QToolButton;
class QTableView;

namespace nanscope {

class CellGridModel;
struct SweepGrid;

/// Variants x precisions of the selected capture: outcome and birth op per cell, filled while a sweep runs.
class SweepPane : public PaneFrame
{
    Q_OBJECT

public:
    explicit SweepPane(QWidget* parent = nullptr);

    /// An empty grid.
    void setGrid(const SweepGrid& grid);
    /// As CellGridModel::putCell().
    bool putCell(const Cell& cell, const replay::CellRequest& request);
    /// Marks the cell whose film is seen; none where there is none, or it has no place here.
    void markShown(const std::optional<replay::CellRequest>& cell);
    /// Of two cells that are compared, clicks choose the one that the user says; the second at first.
    void setComparing(bool comparing);
    void markSecond(const std::optional<replay::CellRequest>& cell);
    /// With what is replayed.
    void setRunning(bool running, const std::vector<replay::CellRequest>& ordered = {});
    /// What is not usual about what the next sweep replays; empty where nothing is.
    void showChoice(const QString& text);
    /// Empty where the capture can be swept.
    void setWhyNoSweep(const QString& why);
    /// There are some whose replays can be compared.
    void setHasGpus(bool has);
    bool isRunning() const { return m_running; }

    CellGridModel* model() { return m_model; }
    QTableView* view() { return m_view; }
    QToolButton* optionsButton() { return m_options; }
    QComboBox* sideBox() { return m_side; }

Q_SIGNALS:
    void sweepRequested();
    /// Every variant is wanted, not just one of each schedule.
    void everyVariantToggled(bool every);
    /// The user wants to choose what is replayed.
    void optionsWanted();
    /// The user wants to know whether every GPU gives the same bits.
    void agreeWanted();
    void cancelRequested();
    /// A computed cell was selected by the user.
    void cellSelected(const nanscope::Cell& cell);
    /// One that is not computed yet was clicked.
    void replayRequested(const nanscope::replay::CellRequest& cell);
    /// One was selected to be compared with the first.
    void secondWanted(const nanscope::replay::CellRequest& cell);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void updateState();
    void fitNames();
    void showDetail(const QModelIndex& index);
    void selectCell(const QModelIndex& index);
    void requestReplay(const QModelIndex& index);
    bool choosesSecond() const;
    void showSides();

    CellGridModel* m_model;
    QTableView* m_view;
    ElidedLabel* m_detail;
    QProgressBar* m_progress;
    QPushButton* m_button;
    QToolButton* m_every;
    QToolButton* m_options;
    QToolButton* m_agree;
    QComboBox* m_side; ///< that clicks choose while two cells are compared
    bool m_comparing = false;
    bool m_running = false;
    std::optional<replay::CellRequest> m_shown; ///< its film is seen
    std::optional<replay::CellRequest> m_second; ///< it is compared with that one
    int m_ordered = 0; ///< cells that the running sweep replays
};

} // namespace nanscope
