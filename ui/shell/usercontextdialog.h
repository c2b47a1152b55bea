// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QDialog>

#include "core/workflow/userfiles.h"

class QAction;
class QLabel;
class QPushButton;
class QTreeWidget;

namespace nanscope {

/// "Parameter names".
QString kindWord(workflow::UserFileKind kind);

/// The files in which the user says what they know of the run: what each holds or why it is not in force, to add to
/// and to take back.
class UserContextDialog : public QDialog
{
    Q_OBJECT

public:
    /// `adders` are the commands that add one of each kind.
    explicit UserContextDialog(const QList<QAction*>& adders, QWidget* parent = nullptr);

    /// `kept`: names of the variants that came with the run's session, which nobody can take back.
    void setFiles(const std::vector<workflow::UserFile>& files, const QStringList& kept = {});
    /// While the run is judged with them.
    void setJudging(bool judging);
    void showProblem(const QString& sentence);

    QTreeWidget* tree() { return m_tree; }
    QPushButton* removeButton() { return m_remove; }
    QString message() const;

Q_SIGNALS:
    void removeRequested(nanscope::workflow::UserFileKind kind, const QString& path);

protected:
    void changeEvent(QEvent* event) override;

private:
    void fill();
    void addRow(const QStringList& texts, const QString& fileTip, bool inForce);
    QString standText() const;
    void showMessage();
    void remove();
    void updateButtons();
    const workflow::UserFile* current() const;

    std::vector<workflow::UserFile> m_files;
    QStringList m_kept;
    QTreeWidget* m_tree;
    QLabel* m_message;
    QPushButton* m_add;
    QPushButton* m_remove;
    QString m_problem;
    bool m_judging = false;
};

} // namespace nanscope
