// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include <QFrame>
#include <QStringList>

class QPlainTextEdit;
class QPushButton;
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
    /// With a button that says what can be done about it.
    void showOffer(
        const QString& sentence, const QStringList& details, const QString& offer, const std::function<void()>& taken);
    QString sentence() const;

private:
    ElidedLabel* m_text;
    QPushButton* m_offer;
    std::function<void()> m_taken;
    QToolButton* m_more;
    QPlainTextEdit* m_details;
};

} // namespace nanscope
