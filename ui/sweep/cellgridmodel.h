// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <QAbstractTableModel>
#include <QStringList>

#include "core/model/model.h"

namespace nanscope {

enum class CellState { notRun, pending, done, failed };

/// Variants x precisions of one capture, a row for each device where there are several. A cell replaces an earlier one
/// of the same variant, precision and device.
class CellGridModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    /// Clears all cells. The first `identified` variants are those of the plausible set.
    void setGrid(QStringList variants, int identified, std::vector<Precision> precisions,
        QStringList devices = {QStringLiteral("cpu")});
    void putCell(const Cell& cell);
    /// Marks the cells that are about to be computed; those already there stay visible until they are replaced.
    void setPending(bool pending);

    int doneCount() const;
    /// Of the capture the cells are of; empty before the first is done.
    QString captureName() const;
    int cellCount() const;
    const Cell* cellAt(const QModelIndex& index) const;
    QString variantOf(int row) const { return m_variants[row / m_devices.size()]; }
    QString deviceOf(int row) const { return m_devices[row % m_devices.size()]; }
    Precision precisionOf(int column) const { return m_precisions[static_cast<std::size_t>(column)]; }
    QStringList devices() const { return m_devices; }

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

    const Entry& entry(const QModelIndex& index) const;
    static CellState stateOf(const Entry& entry);
    static QString text(const Entry& entry);
    static QString birthText(const Entry& entry);
    static QString copyText(const Entry& entry);
    QString toolTip(const QModelIndex& index) const;
    QString rowName(int row) const;

    QStringList m_variants;
    QStringList m_devices {QStringLiteral("cpu")}; ///< never empty
    int m_identified = 0;
    std::vector<Precision> m_precisions;
    std::vector<Entry> m_entries; ///< row-major
};

/// All formats a sweep replays in, widest first.
const std::vector<Precision>& sweepPrecisions();

} // namespace nanscope
