// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/clifftable.h"

#include <QClipboard>
#include <QDialogButtonBox>
#include <QGuiApplication>
#include <QHeaderView>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>

#include "ui/theme.h"

namespace nanscope {

CliffTable::CliffTable(const CliffHistory& history, QWidget* parent)
    : QDialog(parent)
    , m_table(new QTableWidget(this))
{
    setWindowTitle(tr("Cliff: everything that was replayed"));
    const auto rows = cliffRows(history, false);
    m_table->setColumnCount(static_cast<int>(cliffColumns().size()));
    m_table->setHorizontalHeaderLabels(cliffColumns());
    m_table->setRowCount(static_cast<int>(rows.size()));
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->verticalHeader()->hide();
    m_table->setAccessibleName(windowTitle());
    for (int row = 0; row < static_cast<int>(rows.size()); ++row) {
        for (int column = 0; column < m_table->columnCount(); ++column) {
            const QString text = rows[static_cast<std::size_t>(row)][column];
            m_table->setItem(row, column, new QTableWidgetItem(text.isEmpty() ? QStringLiteral("–") : text));
        }
    }
    m_table->resizeColumnsToContents();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    auto* copy = buttons->addButton(tr("Copy all"), QDialogButtonBox::ActionRole);
    connect(
        copy, &QPushButton::clicked, this, [text = cliffTsv(history)] { QGuiApplication::clipboard()->setText(text); });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_table, 1);
    layout->addWidget(buttons);
    resize(grid(220), grid(110));
}

} // namespace nanscope
