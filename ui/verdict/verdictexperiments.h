// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QStringList>
#include <QWidget>

#include "core/model/experiment.h"
#include "core/model/fwd.h"
#include "core/model/model.h"

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QSpinBox;
class QToolButton;
class QVBoxLayout;

namespace nanscope {

class VerdictBox;
class VerdictCalls;

/// "Stayed away".
QString seenText(Seen seen);

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
    std::optional<Seen> seen() const; ///< none before it is answered

    Experiment m_experiment;
    VerdictBox* m_box;
    QLabel* m_text;
    QComboBox* m_seen;
    QDoubleSpinBox* m_hours;
    QSpinBox* m_times;
    QLabel* m_needed;
    QWidget* m_outcome;
};

/// The next experiments, how often the run fails, how often the captured call failed when it was made again, and what
/// was tried.
class VerdictExperiments : public QWidget
{
    Q_OBJECT

public:
    explicit VerdictExperiments(QWidget* parent = nullptr);

    /// Keeps what is being typed where the experiments are the same as before.
    void setVerdict(const CaptureVerdict& verdict, const Observations& observed);
    /// As set, with what these rows say in it; what was tried of other verdicts stays.
    Observations observed() const;
    QStringList lines() const;
    const std::vector<ExperimentRow*>& rows() const { return m_rows; }
    QSpinBox* failuresBox() { return m_failures; }
    QDoubleSpinBox* hoursBox() { return m_hours; }
    VerdictCalls* calls() { return m_calls; }
    QToolButton* addCallsButton() { return m_addCalls; }
    /// The row of calls that were made again with this changed, which is added where there is none.
    QWidget* askCalls(const std::string& experiment);

Q_SIGNALS:
    void observedChanged(const nanscope::Observations& observed);
    void copied(const QString& text);
    void resized(); ///< a row came or went that says nothing yet

private:
    void buildRate();
    QWidget* buildHead();
    void setExperiments(const std::vector<Experiment>& experiments, const Observations& observed);
    void buildRows(const std::vector<Experiment>& experiments);
    void say();

    QVBoxLayout* m_layout;
    QSpinBox* m_failures;
    QDoubleSpinBox* m_hours;
    std::vector<QWidget*> m_rate; ///< the two and the words around them
    QToolButton* m_addCalls;
    VerdictCalls* m_calls;
    std::vector<ExperimentRow*> m_rows;
    Observations m_observed;
};

} // namespace nanscope
