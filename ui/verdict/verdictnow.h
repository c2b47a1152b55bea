// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QWidget>

#include "core/model/fwd.h"

class QLabel;
class QToolButton;

namespace nanscope {

/// What to do now: the setting and the checkpoint to go on with, and the experiment that would tell most. Hides itself
/// where there is neither.
class VerdictNow : public QWidget
{
    Q_OBJECT

public:
    explicit VerdictNow(QWidget* parent = nullptr);

    /// `goOn`: what to do where there is nothing to go back from.
    void setRollback(const std::optional<Rollback>& rollback, const QString& goOn = {});
    /// The different causes that the advice for tonight is for, in words.
    void setCauses(const QStringList& causes);
    /// Null while nothing is judged.
    void setVerdict(const CaptureVerdict* verdict);

    /// Both lines, as they are copied.
    QString text() const;
    QToolButton* copyButton() { return m_copy; }

Q_SIGNALS:
    void copied(const QString& text);

private:
    void showLines();

    QLabel* m_text;
    QToolButton* m_copy;
    QString m_tonight;
    QStringList m_causes;
    QString m_next;
};

} // namespace nanscope
