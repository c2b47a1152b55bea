// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QWidget>

#include "core/model/experiment.h"

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QSpinBox;

namespace nanscope {

class VerdictBox;

/// One experiment: a tick for "tried", what to do and what it means, and, once ticked, how it ended. What has no
/// outcome to tell has no tick.
class ExperimentRow : public QWidget
{
    Q_OBJECT

public:
    explicit ExperimentRow(const Experiment& experiment, QWidget* parent = nullptr);

    const Experiment& experiment() const { return m_experiment; }
    /// The same experiment with another time to stay clean, and how it ended; nothing is signalled.
    void update(const Experiment& experiment, const std::optional<TriedExperiment>& tried);
    std::optional<TriedExperiment> tried() const;

    VerdictBox* box() { return m_box; }
    QComboBox* seenBox() { return m_seen; }
    QDoubleSpinBox* hoursBox() { return m_hours; }
    QSpinBox* timesBox() { return m_times; }

Q_SIGNALS:
    void changed();
    void copied(const QString& text);

private:
    QWidget* buildOutcome();
    void showParts();
    void showText();
    Seen seen() const;

    Experiment m_experiment;
    VerdictBox* m_box;
    QLabel* m_text;
    QComboBox* m_seen;
    QDoubleSpinBox* m_hours;
    QSpinBox* m_times;
    QLabel* m_needed;
    QWidget* m_outcome;
};

} // namespace nanscope
