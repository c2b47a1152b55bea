// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <QStringList>

class QLabel;
class QLineEdit;
class QListWidget;

namespace nanscope {

/// Chooses one of many logs or ranks: a list with a box that narrows it.
class LinesDialog : public QDialog
{
    Q_OBJECT

public:
    /// `current` is selected, where it is not negative.
    LinesDialog(const QStringList& labels, int current, QWidget* parent = nullptr);

    QLineEdit* filter() { return m_filter; }
    QListWidget* list() { return m_list; }

Q_SIGNALS:
    /// As an index into the labels.
    void chosen(int index);

private:
    void narrow(const QString& text);
    void choose();

    QLineEdit* m_filter;
    QLabel* m_count;
    QListWidget* m_list;
};

} // namespace nanscope
