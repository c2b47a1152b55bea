// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QScrollArea>
#include <QStringList>

#include "core/model/model.h"

class QDoubleSpinBox;
class QSpinBox;
class QToolButton;
class QVBoxLayout;

namespace nanscope {

class ExperimentRow;
class VerdictCalls;

/// The next experiments, how often the run fails, how often the captured call failed when it was made again, and what
/// was tried.
class VerdictExperiments : public QScrollArea
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
    /// Height that shows everything.
    int wantedHeight(int width) const;

Q_SIGNALS:
    void observedChanged(const nanscope::Observations& observed);
    void copied(const QString& text);
    void resized(); ///< a row came or went that says nothing yet

private:
    QWidget* buildRate();
    QWidget* buildHead();
    void setExperiments(const std::vector<Experiment>& experiments, const Observations& observed);
    void buildRows(const std::vector<Experiment>& experiments);
    void say();

    QWidget* m_contents;
    QVBoxLayout* m_layout;
    QSpinBox* m_failures;
    QDoubleSpinBox* m_hours;
    QWidget* m_rate; ///< holds the two
    QToolButton* m_addCalls;
    VerdictCalls* m_calls;
    std::vector<ExperimentRow*> m_rows;
    Observations m_observed;
};

} // namespace nanscope
