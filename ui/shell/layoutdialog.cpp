// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/layoutdialog.h"

#include <QDialogButtonBox>
#include <QListWidget>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "ui/shared/theme.h"
#include "ui/shell/settings.h"

namespace nanscope {

namespace {

constexpr int NameRole = Qt::UserRole; ///< as it is kept, while another one is typed

} // namespace

LayoutDialog::LayoutDialog(WindowSettings& settings, QWidget* parent)
    : QDialog(parent)
    , m_settings(settings)
    , m_list(new QListWidget(this))
    , m_rename(new QPushButton(tr("Rename"), this))
    , m_delete(new QPushButton(tr("Delete"), this))
{
    setWindowTitle(tr("Layouts"));
    m_list->setAccessibleName(tr("Saved layouts"));
    m_list->setSpacing(grid(1) / 2);
    m_rename->setToolTip(tr("Type another name for the selected layout (F2)"));
    m_delete->setToolTip(tr("Forget the selected layout; the panes stay as they lie"));
    m_rename->setAutoDefault(false);
    m_delete->setAutoDefault(false);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->addButton(m_rename, QDialogButtonBox::ActionRole);
    buttons->addButton(m_delete, QDialogButtonBox::ActionRole);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_list, 1);
    layout->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_rename, &QPushButton::clicked, this, [this] { m_list->editItem(m_list->currentItem()); });
    connect(m_delete, &QPushButton::clicked, this, &LayoutDialog::remove);
    connect(m_list, &QListWidget::itemChanged, this,
        [this](const QListWidgetItem* item) { rename(item->data(NameRole).toString(), item->text().trimmed()); });
    resize(grid(90), grid(70));
    fill({});
}

void LayoutDialog::fill(const QString& current)
{
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    for (const QString& name : m_settings.layoutNames()) {
        auto* item = new QListWidgetItem(name, m_list);
        item->setData(NameRole, name);
        item->setFlags(item->flags() | Qt::ItemIsEditable);
        if (name == current) {
            m_list->setCurrentItem(item);
        }
    }
    if (!m_list->currentItem()) {
        m_list->setCurrentRow(0);
    }
    m_rename->setEnabled(m_list->count() > 0);
    m_delete->setEnabled(m_list->count() > 0);
}

// The list tells of the new name while it is still at work on the row: what follows waits until it is done.
void LayoutDialog::rename(const QString& from, const QString& to)
{
    const bool taken = m_settings.layoutNames().contains(to);
    const QString name = to.isEmpty() || taken ? from : to;
    m_settings.renameLayout(from, name);
    QMetaObject::invokeMethod(
        this,
        [this, name] {
            fill(name);
            Q_EMIT changed();
        },
        Qt::QueuedConnection);
}

void LayoutDialog::remove()
{
    if (const QListWidgetItem* item = m_list->currentItem()) {
        m_settings.removeLayout(item->data(NameRole).toString());
        fill({});
        Q_EMIT changed();
    }
}

} // namespace nanscope
