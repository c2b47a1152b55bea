// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/whatif/detectorview.h"

#include <algorithm>
#include <utility>

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QTableView>

#include "core/diagnose/whatif/whatifwords.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/factsview.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/whatif/turningsplitter.h"

namespace nanscope {

namespace {

constexpr int mostPatience = 9'999;

QString summary(const WhatIfAnswer& answer)
{
    const auto& replays = answer.detector;
    if (const std::string silence = diagnose::detectorSilence(replays); !silence.empty()) {
        return sentenceCase(qstr(silence));
    }
    const auto stopped = std::ranges::count_if(replays, [](const auto& replay) { return replay.stop.has_value(); });
    if (replays.size() == 1) {
        return sentenceCase(qstr(diagnose::detectorAnswer(replays.front())));
    }
    return stopped == 0
        ? DetectorView::tr("None of %1 processes would have been stopped").arg(replays.size())
        : DetectorView::tr("%1 of %2 processes would have been stopped").arg(stopped).arg(replays.size());
}

StatusMark markOf(const diagnose::DetectorReplay& replay)
{
    if (replay.stop) {
        return replay.afterwards.outcome == diagnose::Afterwards::recovered ? StatusMark::caution : StatusMark::bad;
    }
    if (!diagnose::detectorSpeaks(replay)) {
        return StatusMark::good;
    }
    return replay.checkable && replay.suspected.empty() ? StatusMark::none : StatusMark::unknown;
}

QString actionWord(const diagnose::DetectorReplay& replay)
{
    if (!replay.first) {
        return DetectorView::tr("none");
    }
    switch (replay.options.action) {
    case probe::NanAction::warn:
        return DetectorView::tr("warns");
    case probe::NanAction::skip:
        return DetectorView::tr("skips");
    case probe::NanAction::raise:
        break;
    }
    return DetectorView::tr("raises");
}

QString rollbackWord(const diagnose::DetectorReplay& replay)
{
    if (replay.options.action == probe::NanAction::raise) {
        return replay.stop ? DetectorView::tr("raises before") : DetectorView::tr("no");
    }
    if (replay.stop) {
        return DetectorView::tr("at step %1").arg(replay.stop->step);
    }
    const bool known = !diagnose::detectorSpeaks(replay) || (replay.checkable && replay.suspected.empty());
    return known ? DetectorView::tr("no") : DetectorView::tr("not checkable");
}

QString titleOf(const diagnose::DetectorReplay& replay)
{
    return qstr(diagnose::detectorTitle(replay));
}

QString answerTip(const diagnose::DetectorReplay& replay)
{
    return sentenceCase(qstr(diagnose::detectorAnswer(replay)));
}

QString firstStep(const diagnose::DetectorReplay& replay)
{
    return replay.first ? QString::number(replay.first->step) : QStringLiteral("–");
}

QString leftOutCount(const diagnose::DetectorReplay& replay)
{
    return QString::number(replay.total + std::ssize(replay.byGradients));
}

QString firstMessage(const diagnose::DetectorReplay& replay)
{
    return replay.first ? qstr(replay.first->message) : QString();
}

QString spokenTitle(const diagnose::DetectorReplay& replay)
{
    return DetectorView::tr("%1: %2").arg(titleOf(replay), qstr(diagnose::detectorAnswer(replay)));
}

std::vector<RowColumn<diagnose::DetectorReplay>> detectorColumns()
{
    return {
        {.title = DetectorView::tr("Process"),
            .text = titleOf,
            .headingTip = DetectorView::tr("One process of the run: its counters start anew with every restart"),
            .mark = markOf,
            .spoken = spokenTitle},
        {.title = DetectorView::tr("First"),
            .text = actionWord,
            .headingTip = DetectorView::tr("What the detector does at the first step that is not finite"),
            .tip = answerTip},
        {.title = DetectorView::tr("Step"),
            .text = firstStep,
            .headingTip =
                DetectorView::tr("As the detector counts: a trainer that prints behind its increment prints one more"),
            .tip = answerTip},
        {.title = DetectorView::tr("Roll back at"),
            .text = rollbackWord,
            .headingTip = DetectorView::tr("Where should_rollback turns true, and the trainer stops"),
            .tip = answerTip},
        {.title = DetectorView::tr("Updates skipped"),
            .text = leftOutCount,
            .headingTip = DetectorView::tr("Updates that are not made, up to the stop"),
            .tip = answerTip},
        {.title = DetectorView::tr("It says"),
            .text = firstMessage,
            .headingTip = DetectorView::tr("The line it writes then")},
    };
}

} // namespace

DetectorView::DetectorView(QWidget* parent)
    : QWidget(parent)
    , m_model(new RowModel(detectorColumns(), this))
    , m_view(makeAnswerTable(this, m_model, tr("NaN detector"), [this](int row) { activate(row); }))
    , m_facts(new FactsView(tr("Why the detector would have done that"), this))
    , m_headline(makeAnswerLabel(this))
    , m_action(new QComboBox(this))
    , m_patience(new QSpinBox(this))
    , m_gradients(new QCheckBox(tr("Check &gradients, too"), this))
    , m_below(new TurningSplitter(m_view, m_facts, this))
{
    buildTable();
    layOutAnswer(*this, *buildSettings(), *m_headline, *m_below);
    connect(m_facts, &FactsView::factActivated, this, &DetectorView::factActivated);
    setQuestion({});
}

QWidget* DetectorView::buildSettings()
{
    auto [bar, row] = makeSettingsBar(this);
    for (const probe::NanAction action : {probe::NanAction::warn, probe::NanAction::skip, probe::NanAction::raise}) {
        m_action->addItem(qstr(probe::name(action)), static_cast<int>(action));
    }
    m_patience->setRange(1, mostPatience);
    m_patience->setSuffix(tr(" in a row"));
    m_patience->setKeyboardTracking(false);
    addSetting(*row, tr("&Action"), *m_action,
        tr("What it does at a loss that is not finite: warn and skip leave the update out alike, raise ends the run"));
    addSetting(*row, tr("&Stop after"), *m_patience,
        tr("max_consecutive: so many steps that were not finite, without a good one between. KempnerForge's class has "
           "5, its train.py 10"));
    m_gradients->setToolTip(tr("check_gradients behind the loss: leaves an update out whose gradient norm is not "
                               "finite; it counts nothing, and KempnerForge's own loop does not call it"));
    row->addWidget(m_gradients);
    row->addStretch();
    connect(m_action, &QComboBox::currentIndexChanged, this, &DetectorView::readSettings);
    connect(m_patience, &QSpinBox::valueChanged, this, &DetectorView::readSettings);
    connect(m_gradients, &QCheckBox::toggled, this, &DetectorView::readSettings);
    return bar;
}

void DetectorView::buildTable()
{
    m_view->setToolTip(tr("Click a row, or press Enter, to go to its first step in the timeline"));
    auto* heading = m_view->horizontalHeader();
    heading->setSectionResizeMode(process, QHeaderView::Stretch);
    heading->setSectionResizeMode(message, QHeaderView::Stretch);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &DetectorView::showDetail);
}

void DetectorView::setQuestion(const diagnose::DetectorQuestion& question)
{
    const QSignalBlocker first(m_action);
    const QSignalBlocker second(m_patience);
    const QSignalBlocker third(m_gradients);
    m_question = question;
    m_action->setCurrentIndex(m_action->findData(static_cast<int>(question.options.action)));
    m_patience->setValue(static_cast<int>(std::min<std::int64_t>(question.options.maxConsecutive, mostPatience)));
    m_patience->setEnabled(question.options.action != probe::NanAction::raise);
    m_gradients->setChecked(question.checkGradients);
}

void DetectorView::readSettings()
{
    m_question.options.action = static_cast<probe::NanAction>(m_action->currentData().toInt());
    m_question.options.maxConsecutive = m_patience->value();
    m_question.checkGradients = m_gradients->isChecked();
    m_patience->setEnabled(m_question.options.action != probe::NanAction::raise);
    Q_EMIT questionChanged();
}

void DetectorView::setAnswer(const WhatIfAnswer& answer)
{
    const int row = std::max(0, m_view->currentIndex().row());
    const int rows = m_model->rowCount();
    auto replays = answer.detector;
    std::ranges::stable_partition(replays, diagnose::detectorSpeaks);
    m_model->setRows(std::move(replays));
    m_below->setVisible(!answer.detector.empty());
    if (answer.detector.empty()) {
        m_headline->setText(tr("%1: open a folder that holds the console logs of the run, or a table of its losses")
                                .arg(sentenceCase(qstr(answer.noDetector))));
        return;
    }
    m_headline->setText(summary(answer));
    m_view->selectRow(std::min(row, m_model->rowCount() - 1));
    if (rows != m_model->rowCount()) {
        m_below->shareAgain();
    }
    showDetail();
}

std::vector<FactSection> DetectorView::sectionsOf(int row) const
{
    const diagnose::DetectorReplay* replay = m_model->rowAt(row);
    return replay ? std::vector<FactSection> {{QString(), diagnose::detectorFacts(*replay)}}
                  : std::vector<FactSection> {};
}

void DetectorView::showDetail()
{
    const int row = m_view->currentIndex().row();
    const diagnose::DetectorReplay* replay = m_model->rowAt(row);
    const bool oneLog = replay && replay->sources.size() == 1;
    m_facts->setFacts(replay ? qstr(diagnose::detectorTitle(*replay)) : QString(), sectionsOf(row),
        oneLog ? replay->sources.front() : std::string());
}

void DetectorView::activate(int row)
{
    const diagnose::DetectorReplay* replay = m_model->rowAt(row);
    if (replay && replay->first) {
        Q_EMIT factActivated(
            {{}, replay->first->message, replay->first->line.source, {}, replay->first->step + replay->offset});
    }
}

QString DetectorView::text() const
{
    QString text =
        m_headline->text() + QLatin1Char('\n') + qstr(diagnose::detectorSettings(m_question)) + QLatin1Char('\n');
    for (int row = 0; row < m_model->rowCount(); ++row) {
        if (diagnose::detectorSpeaks(*m_model->rowAt(row))) {
            text += QLatin1Char('\n') + factsText(qstr(diagnose::detectorTitle(*m_model->rowAt(row))), sectionsOf(row));
        }
    }
    return text;
}

} // namespace nanscope
