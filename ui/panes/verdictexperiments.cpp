// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/verdictexperiments.h"

#include <algorithm>

#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/panes/experimentrow.h"
#include "ui/panes/verdictcalls.h"
#include "ui/panes/verdictchips.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

std::optional<TriedExperiment> triedOf(const Observations& observed, const std::string& id)
{
    const auto found = std::ranges::find(observed.tried, id, &TriedExperiment::id);
    return id.empty() || found == observed.tried.end() ? std::nullopt : std::optional(*found);
}

} // namespace

VerdictExperiments::VerdictExperiments(QWidget* parent)
    : QScrollArea(parent)
    , m_contents(new QWidget)
    , m_layout(new QVBoxLayout(m_contents))
    , m_failures(new QSpinBox)
    , m_hours(new QDoubleSpinBox)
    , m_rate(buildRate())
    , m_addCalls(new QToolButton)
    , m_calls(new VerdictCalls)
{
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    setAccessibleName(tr("Next experiments"));
    setStyleSheet(QStringLiteral("QScrollArea { background: transparent; }"));
    m_layout->setContentsMargins(2, 0, grid(1), 0);
    m_layout->setSpacing(2);
    m_layout->addWidget(buildHead());
    m_layout->addWidget(m_calls);
    setWidget(m_contents);
    viewport()->setAutoFillBackground(false);
    m_contents->setAutoFillBackground(false);
}

QWidget* VerdictExperiments::buildRate()
{
    auto* row = new QWidget(m_contents);
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(grid(2));
    m_failures->setRange(0, 100000);
    m_failures->setSpecialValueText(tr("not said"));
    m_failures->setAccessibleName(tr("Failures"));
    m_failures->setToolTip(tr("How often the run failed like this"));
    m_hours->setRange(0.1, 100000);
    m_hours->setDecimals(1);
    m_hours->setValue(1);
    m_hours->setSuffix(tr(" h"));
    m_hours->setAccessibleName(tr("Hours of the failures"));
    m_hours->setToolTip(tr("How long it ran in all for that"));
    layout->addWidget(new QLabel(tr("Failures seen"), row));
    layout->addWidget(m_failures);
    layout->addWidget(new QLabel(tr("in"), row));
    layout->addWidget(m_hours);
    connect(m_failures, &QSpinBox::valueChanged, this, &VerdictExperiments::say);
    connect(m_hours, &QDoubleSpinBox::valueChanged, this, &VerdictExperiments::say);
    return row;
}

QWidget* VerdictExperiments::buildHead()
{
    auto* head = new QWidget(m_contents);
    auto* layout = new QHBoxLayout(head);
    layout->setContentsMargins(0, 0, 0, 2);
    layout->setSpacing(grid(2));
    m_addCalls->setObjectName(QStringLiteral("quiet"));
    m_addCalls->setText(tr("Called again…"));
    m_addCalls->setToolTip(tr("Say how often the captured call failed when it was made again with the captured input"));
    layout->addWidget(m_rate);
    layout->addStretch(1);
    layout->addWidget(m_addCalls);
    connect(m_addCalls, &QToolButton::clicked, this, [this] {
        m_calls->addRow();
        m_addCalls->setEnabled(m_calls->canAdd());
        Q_EMIT resized();
    });
    connect(m_calls, &VerdictCalls::changed, this, &VerdictExperiments::say);
    connect(m_calls, &VerdictCalls::removed, this, [this] {
        m_addCalls->setEnabled(m_calls->canAdd());
        Q_EMIT resized();
    });
    connect(m_calls, &VerdictCalls::lastRemoved, m_addCalls, [this] { m_addCalls->setFocus(); });
    return head;
}

void VerdictExperiments::buildRows(const std::vector<Experiment>& experiments)
{
    const bool same = std::ranges::equal(experiments, m_rows,
        [](const Experiment& a, const ExperimentRow* b) { return a.what == b->experiment().what; });
    if (same) {
        return;
    }
    for (ExperimentRow* row : m_rows) {
        m_layout->removeWidget(row);
        row->hide();
        row->deleteLater();
    }
    m_rows.clear();
    for (const Experiment& experiment : experiments) {
        auto* row = new ExperimentRow(experiment, m_contents);
        connect(row, &ExperimentRow::changed, this, &VerdictExperiments::say);
        connect(row, &ExperimentRow::copied, this, &VerdictExperiments::copied);
        m_layout->addWidget(row);
        m_rows.push_back(row);
    }
}

void VerdictExperiments::setVerdict(const CaptureVerdict& verdict, const Observations& observed)
{
    setExperiments(verdict.next, observed);
    const bool callable = canBeCalledAgain(verdict);
    m_calls->setCalls(verdict.capture, observed.called);
    m_calls->setVisible(callable && !m_calls->rows().empty());
    m_addCalls->setVisible(callable);
    m_addCalls->setEnabled(m_calls->canAdd());
}

void VerdictExperiments::setExperiments(const std::vector<Experiment>& experiments, const Observations& observed)
{
    m_observed = observed;
    buildRows(experiments);
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        m_rows[i]->update(experiments[i], triedOf(observed, experiments[i].id));
    }
    const QSignalBlocker failures(m_failures);
    const QSignalBlocker hours(m_hours);
    m_rate->setVisible(
        std::ranges::any_of(experiments, [](const Experiment& experiment) { return !experiment.outcomes.empty(); }));
    m_failures->setValue(observed.rate ? observed.rate->failures : 0);
    if (observed.rate && m_hours->value() != observed.rate->hours) {
        m_hours->setValue(observed.rate->hours);
    }
    m_hours->setEnabled(observed.rate.has_value());
}

Observations VerdictExperiments::observed() const
{
    Observations all = m_observed;
    all.rate.reset();
    if (m_failures->value() > 0) {
        all.rate = FailureRate {m_failures->value(), m_hours->value()};
    }
    all.called = m_calls->calls();
    for (const ExperimentRow* row : m_rows) {
        std::erase_if(all.tried, [&](const TriedExperiment& tried) { return tried.id == row->experiment().id; });
        if (const auto tried = row->tried()) {
            all.tried.push_back(*tried);
        }
    }
    return all;
}

void VerdictExperiments::say()
{
    m_observed = observed();
    Q_EMIT observedChanged(m_observed);
}

QStringList VerdictExperiments::lines() const
{
    QStringList lines;
    for (const ExperimentRow* row : m_rows) {
        lines << qstr(lineOf(row->experiment()));
    }
    return lines;
}

int VerdictExperiments::wantedHeight(int width) const
{
    return m_layout->hasHeightForWidth() ? m_layout->totalHeightForWidth(width) : m_layout->totalSizeHint().height();
}

} // namespace nanscope
