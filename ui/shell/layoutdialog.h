// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

class QListWidget;
class QPushButton;

namespace nanscope {

class WindowSettings;

/// The layouts that were saved, to be renamed in place or deleted.
class LayoutDialog : public QDialog
{
    Q_OBJECT

public:
    LayoutDialog(WindowSettings& settings, QWidget* parent = nullptr);

    QListWidget* list() { return m_list; }
    QPushButton* deleteButton() { return m_delete; }

Q_SIGNALS:
    void changed();

private:
    void fill(const QString& current);
    void rename(const QString& from, const QString& to);
    void remove();

    WindowSettings& m_settings;
    QListWidget* m_list;
    QPushButton* m_rename;
    QPushButton* m_delete;
};

} // namespace nanscope
