// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include <QDialog>
#include <QHash>
#include <QLabel>
#include <QStringList>

#include "core/model/experiment.h"
#include "core/workflow/userfiles.h"

class QAction;
class QPushButton;
class QTreeWidget;

namespace nanscope {

/// "Parameter names".
QString kindWord(workflow::UserFileKind kind);

/// What the user says of the run: files, with what each holds or why it is not in force, and the answers that were
/// given in the verdict pane. Each can be taken back; files can be added.
class UserContextDialog : public QDialog
{
    Q_OBJECT

public:
    /// `adders` are the commands that add one of each kind.
    explicit UserContextDialog(const QList<QAction*>& adders, QWidget* parent = nullptr);

    /// `kept`: names of the variants that came with the run's session, which nobody can take back.
    void setFiles(const std::vector<workflow::UserFile>& files, const QStringList& kept = {});
    struct Answers
    {
        QStringList ran; ///< of every capture
        Observations observed;
        QHash<QString, QString> experiments; ///< what each id stands for
        bool stored = true; ///< there is a session that keeps them
    };
    void setAnswers(const Answers& answers);
    /// While the run is judged with them.
    void setJudging(bool judging);
    void showProblem(const QString& sentence);

    QTreeWidget* tree() { return m_tree; }
    QPushButton* removeButton() { return m_remove; }
    QString message() const { return m_message->text(); }

Q_SIGNALS:
    void removeRequested(nanscope::workflow::UserFileKind kind, const QString& path);
    /// Nothing is said any more of what ran.
    void ranUnwanted();
    /// The observations without the one that was taken back.
    void observedChanged(const nanscope::Observations& left);

private:
    using TakeBack = std::function<void()>; ///< empty: it stays

    void fill();
    void addFiles();
    void addAnswers();
    void addRow(const QStringList& texts, const QString& sourceTip, const TakeBack& takeBack, bool inForce = true);
    /// A row for an entry of one of the lists in the observations.
    template <class Entry>
    void addObserved(const QStringList& texts, std::vector<Entry> Observations::*list, std::size_t at);
    QString triedText(const TriedExperiment& tried) const;
    QString standText() const;
    void showMessage();
    void remove();
    void updateButtons();
    TakeBack current() const;

    std::vector<workflow::UserFile> m_files;
    QStringList m_kept;
    Answers m_answers;
    std::vector<TakeBack> m_rows;
    QTreeWidget* m_tree;
    QLabel* m_message;
    QPushButton* m_add;
    QPushButton* m_remove;
    QString m_problem;
    bool m_judging = false;
};

} // namespace nanscope
