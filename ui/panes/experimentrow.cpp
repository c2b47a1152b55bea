// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/experimentrow.h"

#include <algorithm>

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QToolButton>

#include "ui/panes/verdictbox.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

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

QLabel* wrappedLabel(QWidget* parent)
{
    auto* label = new QLabel(parent);
    label->setTextFormat(Qt::RichText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    QSizePolicy policy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    label->setSizePolicy(policy);
    // The hint of a wrapped label is that of a narrow one; only its height for the width it gets counts here.
    label->setMinimumSize(1, 1);
    return label;
}

QToolButton* copyButton(const QString& what, QWidget* parent)
{
    auto* copy = new QToolButton(parent);
    copy->setObjectName(QStringLiteral("quiet"));
    copy->setStyleSheet(QStringLiteral("QToolButton#quiet { padding: 0 8px; }"));
    copy->setText(ExperimentRow::tr("Copy"));
    copy->setAccessibleName(ExperimentRow::tr("Copy: %1").arg(what));
    copy->setToolTip(copy->accessibleName());
    return copy;
}

} // namespace

ExperimentRow::ExperimentRow(const Experiment& experiment, QWidget* parent)
    : QWidget(parent)
    , m_experiment(experiment)
    , m_box(new VerdictBox(this))
    , m_text(wrappedLabel(this))
    , m_seen(new QComboBox(this))
    , m_hours(new QDoubleSpinBox(this))
    , m_times(new QSpinBox(this))
    , m_needed(new QLabel(this))
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
    m_box->setAccessibleName(what);
    m_box->setToolTip(tr("Tick what you have tried"));
    m_box->setVisible(!experiment.outcomes.empty());
    connect(copy, &QToolButton::clicked, this, [this, what] {
        QApplication::clipboard()->setText(what);
        Q_EMIT copied(what);
    });
    connect(m_box, &VerdictBox::toggled, this, [this] {
        showParts();
        Q_EMIT changed();
    });
    showText();
    showParts();
}

QWidget* ExperimentRow::buildOutcome()
{
    auto* row = new QWidget(this);
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 2);
    layout->setSpacing(grid(2));
    for (const Seen seen : m_experiment.outcomes) {
        m_seen->addItem(seenText(seen), static_cast<int>(seen));
    }
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
    m_needed->setObjectName(QStringLiteral("muted"));
    layout->addWidget(m_seen);
    layout->addWidget(m_hours);
    layout->addWidget(m_times);
    layout->addWidget(m_needed);
    layout->addStretch(1);
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
    m_box->setChecked(tried.has_value());
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

Seen ExperimentRow::seen() const
{
    return static_cast<Seen>(m_seen->currentData().toInt());
}

std::optional<TriedExperiment> ExperimentRow::tried() const
{
    if (!m_box->isChecked() || m_experiment.outcomes.empty()) {
        return std::nullopt;
    }
    const bool gone = seen() == Seen::gone;
    return TriedExperiment {
        m_experiment.id, seen(), gone ? m_hours->value() : 0, seen() == Seen::moves ? m_times->value() : 1};
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

} // namespace nanscope
