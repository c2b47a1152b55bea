// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QDialog>
#include <QLabel>

#include "ui/runcomparison/runcomparer.h"

class QProgressBar;
class QSpinBox;
class QTableView;

namespace nanscope {

class TimelinePane;

/// Two runs on one axis: their curves over each other, the first step that differs, and what differs in how they were
/// set up.
class RunComparisonWindow : public QDialog
{
    Q_OBJECT

public:
    explicit RunComparisonWindow(QWidget* parent = nullptr);

    void compare(const LoadedRun& open, const std::filesystem::path& other);
    void setRuns(std::shared_ptr<const ComparedRuns> runs);

    QString headline() const { return m_headline->text(); }
    TimelinePane* timeline() { return m_timeline; }
    QTableView* series() { return m_series; }
    QTableView* settings() { return m_settings; }
    /// How many settings differ, or why there is nothing to compare.
    QString settingsSentence() const { return m_settingsSentence->text(); }
    QSpinBox* shiftBox() { return m_shift; }
    RunComparer& comparer() { return m_comparer; }

private:
    QWidget* buildHeader();
    QWidget* buildSettings();
    void showDifference();
    void fillTables();

    QLabel* m_headline;
    QSpinBox* m_shift;
    QProgressBar* m_progress;
    TimelinePane* m_timeline;
    QTableView* m_series;
    QTableView* m_settings;
    QLabel* m_settingsSentence;
    std::shared_ptr<const ComparedRuns> m_runs;
    RunComparer m_comparer;
};

} // namespace nanscope
