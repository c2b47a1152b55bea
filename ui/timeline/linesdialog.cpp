// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/linesdialog.h"

#include <algorithm>

#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>

#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

LinesDialog::LinesDialog(const QStringList& labels, int current, QWidget* parent)
    : QDialog(parent)
    , m_filter(new QLineEdit(this))
    , m_count(new QLabel(this))
    , m_list(new QListWidget(this))
{
    setWindowTitle(tr("Logs and ranks"));
    m_filter->setPlaceholderText(tr("Words that the name holds"));
    m_filter->setAccessibleName(tr("Filter logs and ranks"));
    m_filter->setClearButtonEnabled(true);
    m_count->setObjectName(QStringLiteral("muted"));
    m_list->setAccessibleName(tr("Logs and ranks"));
    m_list->setUniformItemSizes(true);
    m_list->setTextElideMode(Qt::ElideMiddle);
    for (const QString& label : labels) {
        (new QListWidgetItem(label, m_list))->setToolTip(plainTip(label));
    }
    m_list->setCurrentRow(current);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_filter);
    layout->addWidget(m_list, 1);
    layout->addWidget(m_count);
    layout->addWidget(buttons);
    connect(m_filter, &QLineEdit::textChanged, this, &LinesDialog::narrow);
    connect(m_list, &QListWidget::itemDoubleClicked, this, &LinesDialog::choose);
    connect(buttons, &QDialogButtonBox::accepted, this, &LinesDialog::choose);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    resize(grid(120), grid(100));
    narrow({});
}

void LinesDialog::narrow(const QString& text)
{
    const QStringList words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    int shown = 0;
    int first = -1;
    for (int row = 0; row < m_list->count(); ++row) {
        QListWidgetItem* item = m_list->item(row);
        const bool holds = std::ranges::all_of(
            words, [&](const QString& word) { return item->text().contains(word, Qt::CaseInsensitive); });
        item->setHidden(!holds);
        first = holds && first < 0 ? row : first;
        shown += holds ? 1 : 0;
    }
    m_count->setText(tr("%1 of %2 shown").arg(countLabel(shown), countLabel(m_list->count())));
    if (!m_list->currentItem() || m_list->currentItem()->isHidden()) {
        m_list->setCurrentRow(first);
    }
}

void LinesDialog::choose()
{
    if (const QListWidgetItem* item = m_list->currentItem(); item && !item->isHidden()) {
        Q_EMIT chosen(m_list->currentRow());
        accept();
    }
}

} // namespace nanscope
