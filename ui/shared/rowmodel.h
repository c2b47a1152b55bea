// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <QAbstractTableModel>
#include <QFont>

#include "ui/shared/marks.h"
#include "ui/shared/table/roles.h"
#include "ui/shared/text.h"

namespace nanscope {

/// What a table says of a row in one column. A part that is left out says nothing, and the tip of a cell its text.
template <class Row>
struct RowColumn
{
    QString title;
    std::function<QString(const Row&)> text;
    QString headingTip {};
    std::function<QString(const Row&)> tip {};
    std::function<std::optional<StatusMark>(const Row&)> mark {};
    std::function<bool(const Row&)> bold {};
    std::function<QString(const Row&)> spoken {}; ///< to a screen reader, instead of the text
    std::function<QString(const Row&)> copied {}; ///< to the clipboard, instead of the text
    std::function<bool(const Row&, const Row&)> less {}; ///< rows cannot be sorted by a column without
    Qt::Alignment alignment {};
};

/// A list of columns and a list of rows. What shows it has an enum of the places of columns where others ask for one.
template <class Row>
class RowModel : public QAbstractTableModel
{
public:
    explicit RowModel(std::vector<RowColumn<Row>> columns, QObject* parent = nullptr)
        : QAbstractTableModel(parent)
        , m_columns(std::move(columns))
    { }

    void setRows(std::vector<Row> rows)
    {
        beginResetModel();
        m_rows = std::move(rows);
        endResetModel();
    }

    const std::vector<Row>& rows() const { return m_rows; }
    const Row* rowAt(int row) const
    {
        return row >= 0 && row < rowCount() ? &m_rows[static_cast<std::size_t>(row)] : nullptr;
    }

    int rowCount(const QModelIndex& parent = {}) const override
    {
        return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
    }

    int columnCount(const QModelIndex& parent = {}) const override
    {
        return parent.isValid() ? 0 : static_cast<int>(m_columns.size());
    }

    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override
    {
        return checkIndex(index, CheckIndexOption::IndexIsValid)
            ? cell(m_columns[static_cast<std::size_t>(index.column())], *rowAt(index.row()), role)
            : QVariant();
    }

    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override
    {
        if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) {
            return {};
        }
        const RowColumn<Row>& column = m_columns[static_cast<std::size_t>(section)];
        return role == Qt::DisplayRole ? column.title : role == Qt::ToolTipRole ? column.headingTip : QVariant();
    }

    /// Rows that are alike keep their order, and what is selected stays so.
    void sort(int column, Qt::SortOrder order) override
    {
        if (column < 0 || column >= columnCount() || !m_columns[static_cast<std::size_t>(column)].less) {
            return;
        }
        const auto& less = m_columns[static_cast<std::size_t>(column)].less;
        std::vector<std::size_t> from(m_rows.size());
        std::iota(from.begin(), from.end(), std::size_t {0});
        std::ranges::stable_sort(from, [&](std::size_t a, std::size_t b) {
            return order == Qt::AscendingOrder ? less(m_rows[a], m_rows[b]) : less(m_rows[b], m_rows[a]);
        });
        arrange(from);
    }

private:
    static QVariant cell(const RowColumn<Row>& column, const Row& row, int role)
    {
        switch (role) {
        case Qt::DisplayRole:
            return column.text(row);
        case Qt::ToolTipRole:
            return plainTip(column.tip ? column.tip(row) : column.text(row));
        case Qt::AccessibleTextRole:
            return column.spoken ? QVariant(column.spoken(row)) : QVariant();
        case Qt::TextAlignmentRole:
            return column.alignment ? QVariant::fromValue(column.alignment) : QVariant();
        case Qt::FontRole:
            return column.bold && column.bold(row) ? QVariant(boldFont()) : QVariant();
        case CopyRole:
            return column.copied ? QVariant(column.copied(row)) : QVariant();
        case StatusRole: {
            const auto mark = column.mark ? column.mark(row) : std::nullopt;
            return mark ? QVariant(static_cast<int>(*mark)) : QVariant();
        }
        default:
            return {};
        }
    }

    static QFont boldFont()
    {
        QFont font;
        font.setBold(true);
        return font;
    }

    /// `from` says for each place which row comes there.
    void arrange(const std::vector<std::size_t>& from)
    {
        Q_EMIT layoutAboutToBeChanged();
        std::vector<Row> rows;
        std::vector<int> to(from.size());
        for (std::size_t place = 0; place < from.size(); ++place) {
            rows.push_back(std::move(m_rows[from[place]]));
            to[from[place]] = static_cast<int>(place);
        }
        m_rows = std::move(rows);
        const QModelIndexList before = persistentIndexList();
        QModelIndexList after;
        for (const QModelIndex& index : before) {
            after << this->index(to[static_cast<std::size_t>(index.row())], index.column());
        }
        changePersistentIndexList(before, after);
        Q_EMIT layoutChanged();
    }

    std::vector<RowColumn<Row>> m_columns;
    std::vector<Row> m_rows;
};

} // namespace nanscope
