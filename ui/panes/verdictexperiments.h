// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QScrollArea>
#include <QStringList>

class QVBoxLayout;

namespace nanscope {

class VerdictBox;

/// What an experiment's line says: what to run or to set, what its outcome means, and how long it has to stay clean.
struct ExperimentText
{
    QString what;
    QString meaning;
    QString hours; ///< "4.2 clean hours", empty where none are given
};

ExperimentText experimentText(const QString& line);

/// The next experiments as ticks, each with a button that copies what to run.
class VerdictExperiments : public QScrollArea
{
    Q_OBJECT

public:
    explicit VerdictExperiments(QWidget* parent = nullptr);

    void setExperiments(const QStringList& lines, const QStringList& done);
    QStringList done() const;
    QStringList lines() const { return m_lines; }
    /// Height that shows everything.
    int wantedHeight(int width) const;

Q_SIGNALS:
    void doneChanged(const QStringList& done);
    void copied(const QString& text);

private:
    QWidget* makeRow(const QString& line, bool done);

    QWidget* m_rows;
    QVBoxLayout* m_layout;
    QStringList m_lines;
    std::vector<VerdictBox*> m_boxes;
};

} // namespace nanscope
