// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QAbstractTableModel>
#include <QStringList>

#include "core/model/model.h"
#include "core/replay/engine/capturecells.h"

namespace nanscope {

enum class CellState { notRun, pending, done, failed };

/// What the cells of a row have in common.
struct SweepRow
{
    replay::CellRequest cell; ///< in any format
    bool identified = false; ///< its variant may have run
    bool wanted = true; ///< the next sweep fills it
    QString setting; ///< what is not usual about it: "fused · epsilon 1e-05 · 8 steps"
    bool operator==(const SweepRow&) const = default;
};

struct SweepGrid
{
    std::vector<SweepRow> rows;
    std::vector<Precision> columns;
    std::vector<Precision> wanted; ///< those of them that the next sweep fills
    bool operator==(const SweepGrid&) const = default;
};

/// The replays of one capture: a row for each variant, and for each setting and device where there are several. A cell
/// replaces an earlier one of its row and precision.
class CellGridModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    /// Clears all cells.
    void setGrid(SweepGrid grid);
    const SweepGrid& grid() const { return m_grid; }
    /// `request` asks for it again. False where there is no place for it.
    bool putCell(const Cell& cell, const replay::CellRequest& request);
    /// Letters for the cells that are compared.
    void setSides(const std::optional<replay::CellRequest>& first, const std::optional<replay::CellRequest>& second);
    /// Marks the cells that are about to be computed, and no others.
    void setPending(const std::vector<replay::CellRequest>& cells);
    int pendingCount() const;

    /// Of those that a sweep fills.
    int doneCount() const;
    int cellCount() const;
    /// Of the capture the cells are of; empty before the first is done.
    QString captureName() const;
    const Cell* cellAt(const QModelIndex& index) const;
    /// Invalid where it has no place.
    QModelIndex indexOf(const replay::CellRequest& cell) const;
    replay::CellRequest requestAt(const QModelIndex& index) const;
    /// Those that a sweep fills.
    QStringList devices() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    struct Entry
    {
        std::optional<Cell> cell;
        bool pending = false;
    };

    const SweepRow& row(int row) const { return m_grid.rows[static_cast<std::size_t>(row)]; }
    bool isWanted(std::size_t entry) const;
    std::optional<std::size_t> placeOf(const replay::CellRequest& request) const;
    const Entry& entry(const QModelIndex& index) const;
    static CellState stateOf(const Entry& entry);
    static QString text(const Entry& entry);
    static QString birthText(const Entry& entry);
    QString sideText(const QModelIndex& index) const;
    static QString copyText(const Entry& entry);
    QString toolTip(const QModelIndex& index) const;
    QString rowName(int row) const;

    SweepGrid m_grid;
    bool m_severalDevices = false;
    std::optional<replay::CellRequest> m_first; ///< of two that are compared
    std::optional<replay::CellRequest> m_second;
    std::vector<Entry> m_entries; ///< row-major
};

/// All formats a sweep replays in, widest first.
const std::vector<Precision>& sweepPrecisions();

} // namespace nanscope
