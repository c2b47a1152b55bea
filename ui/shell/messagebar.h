// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QStringList>

class QPlainTextEdit;
class QToolButton;

namespace nanscope {

class ElidedLabel;

/// Non-modal bar for what went wrong: one sentence, the details on demand, gone with one click.
class MessageBar : public QFrame
{
    Q_OBJECT

public:
    explicit MessageBar(QWidget* parent = nullptr);

    void showMessage(const QString& sentence, const QStringList& details = {});
    QString sentence() const;

private:
    ElidedLabel* m_text;
    QToolButton* m_more;
    QPlainTextEdit* m_details;
};

} // namespace nanscope
