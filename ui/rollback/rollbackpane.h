// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>

#include "core/model/finding.h"
#include "ui/shared/paneframe.h"
#include "ui/shared/rowmodel.h"

class QPushButton;
class QTableView;

namespace nanscope {

/// "Can I go on tonight?": the answer in one line, and each checkpoint with what speaks for and against it, newest
/// first.
class RollbackPane : public PaneFrame
{
    Q_OBJECT

public:
    enum Column { step, status, why, proof, path };

    explicit RollbackPane(QWidget* parent = nullptr);

    /// None where nothing went wrong; `judged` tells that from "not looked at yet". `newest` as in showNewest().
    /// `goOn`: what to do where there is nothing to go back from.
    void setRollback(const std::optional<Rollback>& rollback, bool judged,
        const std::optional<std::int64_t>& newest = {}, const QString& goOn = {});

    /// How many complete checkpoints lie in the run's folder, to be read.
    void setReadable(qsizetype checkpoints);
    void showVerifying();
    void showProgress(const QString& checkpoint, qint64 tensors);
    void showVerified();

    QString tonight() const { return m_tonight->text(); }
    QString reason() const { return m_reason->text(); }
    RowModel<CheckpointAdvice>* model() { return m_model; }
    QTableView* view() { return m_view; }
    QPushButton* copyButton() { return m_copy; }
    QPushButton* verifyButton() { return m_verify; }
    QString resume() const { return m_resume->text(); }
    QString progress() const { return m_progress->isHidden() ? QString() : m_progress->text(); }
    QLabel* newestLabel() { return m_newest; }

Q_SIGNALS:
    void copied(const QString& what);
    void verifyAsked();
    void cancelAsked();

private:
    void showOffer();
    QWidget* buildAnswer();
    void buildView();
    std::vector<RowColumn<CheckpointAdvice>> columns() const;
    void setCheckpoints(const Rollback& rollback);

    RowModel<CheckpointAdvice>* m_model;
    QTableView* m_view;
    QLabel* m_tonight;
    QLabel* m_reason;
    QLabel* m_newest;
    QPushButton* m_copy;
    QLabel* m_resume;
    QLabel* m_progress;
    QPushButton* m_verify;
    int m_recommended = -1; ///< row of the one to go back to, where there is one
    bool m_verifying = false;
    qsizetype m_readable = 0; ///< checkpoints in the folder
};

} // namespace nanscope
