// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/verdict/verdictexperiments.h"

#include <algorithm>

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/model/verdict.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/verdict/verdictbox.h"
#include "ui/verdict/verdictcalls.h"
#include "ui/verdict/verdictchips.h"
#include "ui/verdict/verdictflow.h"

namespace nanscope {

namespace {

QLabel* wrappedLabel(QWidget* parent, const char* objectName)
{
    auto* label = makeWrappedLabel(parent, objectName);
    label->setTextFormat(Qt::RichText);
    label->setMinimumSize(1, 1); // only its height for the width it gets counts here
    return label;
}

QToolButton* copyButton(const QString& what, QWidget* parent)
{
    const QString name = ExperimentRow::tr("Copy: %1").arg(what);
    auto* copy = makeToolButton(parent, "quiet", ExperimentRow::tr("Copy"), name);
    copy->setStyleSheet(QStringLiteral("QToolButton#quiet { padding: 0 8px; }"));
    copy->setAccessibleName(name);
    return copy;
}

std::optional<TriedExperiment> triedOf(const Observations& observed, const std::string& id)
{
    const auto found = std::ranges::find(observed.tried, id, &TriedExperiment::id);
    return id.empty() || found == observed.tried.end() ? std::nullopt : std::optional(*found);
}

} // namespace

QString seenText(Seen seen)
{
    switch (seen) {
    case Seen::gone:
        return ExperimentRow::tr("Stayed away");
    case Seen::stays:
        return ExperimentRow::tr("Came again");
    case Seen::moves:
        return ExperimentRow::tr("Moved with the card");
    case Seen::oftener:
        return ExperimentRow::tr("Came more often");
    }
    return {};
}

ExperimentRow::ExperimentRow(const Experiment& experiment, QWidget* parent)
    : QWidget(parent)
    , m_experiment(experiment)
    , m_box(new VerdictBox(this))
    , m_text(wrappedLabel(this, ""))
    , m_seen(new QComboBox(this))
    , m_hours(new QDoubleSpinBox(this))
    , m_times(new QSpinBox(this))
    , m_needed(wrappedLabel(this, "muted"))
    , m_outcome(buildOutcome())
{
    const QString what = qstr(experiment.what);
    auto* copy = copyButton(what, this);
    auto* layout = new QGridLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setHorizontalSpacing(grid(2));
    layout->setVerticalSpacing(2);
    layout->setColumnStretch(1, 1);
    layout->addWidget(m_box, 0, 0, Qt::AlignTop);
    layout->addWidget(m_text, 0, 1, Qt::AlignTop);
    layout->addWidget(copy, 0, 2, Qt::AlignTop);
    layout->addWidget(m_outcome, 1, 1);
    layout->addWidget(m_needed, 2, 1);
    m_box->setAccessibleName(what);
    m_box->setToolTip(tr("Tick what you have tried"));
    m_box->setVisible(!experiment.outcomes.empty());
    connect(copy, &QToolButton::clicked, this, [this, what] {
        QApplication::clipboard()->setText(what);
        Q_EMIT copied(tr("Copied: %1").arg(what));
    });
    connect(m_box, &VerdictBox::toggled, this, [this](bool ticked) {
        if (!ticked) {
            const QSignalBlocker quiet(m_seen);
            m_seen->setCurrentIndex(-1);
        }
        showParts();
        Q_EMIT changed();
    });
    showText();
    showParts();
}

QWidget* ExperimentRow::buildOutcome()
{
    auto* row = new QWidget(this);
    auto* flow = new VerdictFlow(row);
    flow->setSpacing(grid(2));
    for (const Seen seen : m_experiment.outcomes) {
        m_seen->addItem(seenText(seen), static_cast<int>(seen));
    }
    m_seen->setPlaceholderText(tr("How did it end?"));
    m_seen->setCurrentIndex(-1);
    m_seen->setAccessibleName(tr("How it ended: %1").arg(qstr(m_experiment.what)));
    m_seen->setToolTip(tr("What became of the fault"));
    m_hours->setRange(0, 100000);
    m_hours->setDecimals(1);
    m_hours->setSuffix(tr(" h clean"));
    m_hours->setAccessibleName(tr("Clean hours: %1").arg(qstr(m_experiment.what)));
    m_hours->setToolTip(tr("How long the run went on without the fault"));
    m_times->setRange(1, 1000);
    m_times->setPrefix(tr("in "));
    m_times->setSuffix(tr(" swaps"));
    m_times->setAccessibleName(tr("Swaps it moved in"));
    m_times->setToolTip(tr("Two are proof enough to name the machine"));
    flow->addWidget(m_seen);
    flow->addWidget(m_hours);
    flow->addWidget(m_times);
    connect(m_seen, &QComboBox::currentIndexChanged, this, [this] {
        showParts();
        Q_EMIT changed();
    });
    connect(m_hours, &QDoubleSpinBox::valueChanged, this, &ExperimentRow::changed);
    connect(m_times, &QSpinBox::valueChanged, this, &ExperimentRow::changed);
    return row;
}

void ExperimentRow::update(const Experiment& experiment, const std::optional<TriedExperiment>& tried)
{
    m_experiment = experiment;
    const QSignalBlocker quiet(this);
    // One that was ticked and not answered yet waits.
    if (tried || m_seen->currentIndex() >= 0) {
        m_box->setChecked(tried.has_value());
    }
    if (tried) {
        m_seen->setCurrentIndex(m_seen->findData(static_cast<int>(tried->seen)));
        m_times->setValue(tried->times);
        // Written as it is typed: setting the same value again would move the cursor.
        if (m_hours->value() != tried->hours) {
            m_hours->setValue(tried->hours);
        }
    }
    showText();
    showParts();
}

std::optional<Seen> ExperimentRow::seen() const
{
    return m_seen->currentIndex() < 0 ? std::nullopt : std::optional(static_cast<Seen>(m_seen->currentData().toInt()));
}

std::optional<TriedExperiment> ExperimentRow::tried() const
{
    const auto ended = seen();
    if (!m_box->isChecked() || !ended) {
        return std::nullopt;
    }
    return TriedExperiment {m_experiment.id, *ended, ended == Seen::gone ? m_hours->value() : 0,
        ended == Seen::moves ? m_times->value() : 1};
}

void ExperimentRow::showText()
{
    QString html = QStringLiteral("<b>%1</b>").arg(qstr(m_experiment.what).toHtmlEscaped());
    if (!m_experiment.meaning.empty()) {
        html += QStringLiteral(": %1").arg(qstr(m_experiment.meaning).toHtmlEscaped());
    }
    if (m_experiment.cleanHours) {
        html += tr(" (%1 clean hours for 95 %)").arg(qstr(hoursText(*m_experiment.cleanHours)));
    }
    m_text->setText(html);
}

void ExperimentRow::showParts()
{
    const bool ticked = m_box->isChecked();
    m_outcome->setVisible(ticked);
    m_hours->setVisible(ticked && seen() == Seen::gone);
    m_times->setVisible(ticked && seen() == Seen::moves);
    const auto needed = m_experiment.cleanHours;
    m_needed->setVisible(ticked && seen() == Seen::gone);
    m_needed->setText(!needed            ? tr("says nothing until you say above how often it fails")
            : m_hours->value() < *needed ? tr("of %1 h: says nothing yet").arg(qstr(hoursText(*needed)))
                                         : tr("enough: %1 h were needed").arg(qstr(hoursText(*needed))));
}

VerdictExperiments::VerdictExperiments(QWidget* parent)
    : QWidget(parent)
    , m_layout(new QVBoxLayout(this))
    , m_failures(new QSpinBox)
    , m_hours(new QDoubleSpinBox)
    , m_addCalls(makeToolButton(nullptr, "quiet", tr("I repeated the call…"),
          tr("Say how often the captured call failed when it was made again with the captured input")))
    , m_calls(new VerdictCalls)
{
    setAccessibleName(tr("Next experiments"));
    m_layout->setContentsMargins(2, 0, grid(1), 0);
    m_layout->setSpacing(2);
    m_layout->addWidget(buildHead());
    m_layout->addWidget(m_calls);
}

void VerdictExperiments::buildRate()
{
    m_failures->setRange(0, 100000);
    m_failures->setSpecialValueText(tr("unknown"));
    m_failures->setAccessibleName(tr("Failures"));
    m_failures->setToolTip(tr("How often the run failed like this"));
    m_hours->setRange(0.1, 100000);
    m_hours->setDecimals(1);
    m_hours->setValue(1);
    m_hours->setSuffix(tr(" h"));
    m_hours->setAccessibleName(tr("Hours of the failures"));
    m_hours->setToolTip(tr("How long it ran in all for that"));
    m_rate = {new QLabel(tr("It failed"), this), m_failures, new QLabel(tr("times in"), this), m_hours};
    connect(m_failures, &QSpinBox::valueChanged, this, &VerdictExperiments::say);
    connect(m_hours, &QDoubleSpinBox::valueChanged, this, &VerdictExperiments::say);
}

QWidget* VerdictExperiments::buildHead()
{
    auto* head = new QWidget(this);
    auto* flow = new VerdictFlow(head);
    flow->setSpacing(grid(2));
    buildRate();
    for (QWidget* part : m_rate) {
        flow->addWidget(part);
    }
    flow->addWidget(m_addCalls);
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
        auto* row = new ExperimentRow(experiment, this);
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
    const bool tested =
        std::ranges::any_of(experiments, [](const Experiment& experiment) { return !experiment.outcomes.empty(); });
    for (QWidget* part : m_rate) {
        part->setVisible(tested);
    }
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

QWidget* VerdictExperiments::askCalls(const std::string& experiment)
{
    CallsRow* row = m_calls->rowOf({true, experiment});
    m_addCalls->setEnabled(m_calls->canAdd());
    Q_EMIT resized();
    return row;
}

} // namespace nanscope
