// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "core/diagnose/whatif/whatifwords.h"
#include "ui/jobs/whatifjob.h"
#include "ui/shared/paneframe.h"

class QLabel;
class QProgressBar;
class QStackedWidget;
class QTimer;
class QToolButton;

namespace nanscope {

class DetectorView;
class GuardView;

/// What the owner of the window asked last, for the next start; how many ranks a run has belongs to that run.
QByteArray saveWhatIf(const WhatIfQuestion& question);
/// The defaults where `state` is damaged or of another version.
WhatIfQuestion restoreWhatIf(const QByteArray& state);

/// Two questions about a run that is over: what a NaN detector would have done, and which ranks a guard would have left
/// out. Changing a setting asks again.
class WhatIfPane : public PaneFrame
{
    Q_OBJECT

public:
    explicit WhatIfPane(QWidget* parent = nullptr);

    WhatIfQuestion question() const;
    void setQuestion(const WhatIfQuestion& question);
    void setAnswer(std::shared_ptr<const WhatIfAnswer> answer);
    /// Shows that an answer is on its way, once it takes longer than a moment.
    void setAsking();
    void showProblem(const QString& sentence);
    /// Another run is open.
    void forgetAnswer();

    DetectorView* detector() { return m_detector; }
    GuardView* guard() { return m_guard; }
    QToolButton* detectorButton() { return m_detectorButton; }
    QToolButton* guardButton() { return m_guardButton; }
    QToolButton* copyButton() { return m_copy; }
    QLabel* newestLabel() { return m_newest; }
    /// Of the part that is shown.
    QString asText() const;
    QString asJson() const;

Q_SIGNALS:
    void questionChanged(const nanscope::WhatIfQuestion& question);
    /// Somebody wants to see the step of a fact and what shows it.
    void factActivated(const nanscope::diagnose::AnswerFact& fact);
    void copied(const QString& what);

private:
    QToolButton* addPart(const QString& text, const QString& tip, QWidget* part);
    void buildCopy();
    void stopWaiting();

    std::shared_ptr<const WhatIfAnswer> m_answer;
    DetectorView* m_detector;
    GuardView* m_guard;
    QStackedWidget* m_parts;
    QToolButton* m_detectorButton = nullptr;
    QToolButton* m_guardButton = nullptr;
    QToolButton* m_copy;
    QLabel* m_newest;
    QLabel* m_message;
    QProgressBar* m_progress;
    QTimer* m_patience;
};

} // namespace nanscope
