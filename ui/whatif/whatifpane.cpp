// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/whatif/whatifpane.h"

#include <algorithm>
#include <utility>

#include <QButtonGroup>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QStackedWidget>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/diagnose/whatif/whatifwords.h"
#include "core/json/records.h"
#include "core/report/report.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/whatif/detectorview.h"
#include "ui/whatif/guardview.h"

namespace nanscope {

namespace {

constexpr int whatIfStateVersion = 1;

} // namespace

QByteArray saveWhatIf(const WhatIfQuestion& question)
{
    const auto& detector = question.detector;
    QJsonObject state {{QStringLiteral("version"), whatIfStateVersion},
        {QStringLiteral("action"), qstr(probe::name(detector.options.action))},
        {QStringLiteral("max_consecutive"), static_cast<qint64>(detector.options.maxConsecutive)},
        {QStringLiteral("check_gradients"), detector.checkGradients}};
    if (question.guard.layout) {
        state.insert(QStringLiteral("layout"), qstr(probe::name(*question.guard.layout)));
    }
    if (question.guard.scope) {
        state.insert(QStringLiteral("guard"), qstr(probe::name(*question.guard.scope)));
    }
    return QJsonDocument(state).toJson(QJsonDocument::Compact);
}

WhatIfQuestion restoreWhatIf(const QByteArray& state)
{
    const QJsonObject saved = QJsonDocument::fromJson(state).object();
    WhatIfQuestion question;
    if (saved[QStringLiteral("version")].toInt() != whatIfStateVersion) {
        return question;
    }
    const auto word = [&saved](const char* key) { return saved[QLatin1String(key)].toString().toStdString(); };
    auto& options = question.detector.options;
    options.action = probe::parseNanAction(word("action")).value_or(options.action);
    options.maxConsecutive =
        std::max<std::int64_t>(1, saved[QStringLiteral("max_consecutive")].toInteger(options.maxConsecutive));
    question.detector.checkGradients = saved[QStringLiteral("check_gradients")].toBool();
    question.guard.layout = probe::parseLayout(word("layout"));
    question.guard.scope = probe::parseGuardScope(word("guard"));
    return question;
}

WhatIfPane::WhatIfPane(QWidget* parent)
    : PaneFrame(tr("What if"), parent)
    , m_detector(new DetectorView(this))
    , m_guard(new GuardView(this))
    , m_parts(new QStackedWidget(this))
    , m_copy(makeToolButton(this, "quiet", tr("Copy ▾"), tr("Copy the answer that is shown, as text or as JSON")))
    , m_newest(makeNewestLabel(this))
    , m_message(makeAnswerLabel(this))
    , m_progress(new QProgressBar(this))
    , m_patience(new QTimer(this))
{
    m_detectorButton = addPart(tr("NaN detector"),
        tr("What a detector of losses that are not finite would have done to this run"), m_detector);
    m_guardButton =
        addPart(tr("Guard"), tr("Which ranks a guard behind the Newton-Schulz step would have left out"), m_guard);
    m_detectorButton->setChecked(true);
    m_progress->setRange(0, 0);
    m_progress->setMaximumWidth(grid(30));
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("The answer is on its way"));
    m_progress->hide();
    header()->addWidget(m_progress);
    buildCopy();
    body()->addWidget(m_newest);
    body()->addWidget(m_message);
    body()->addWidget(m_parts, 1);
    constexpr int aMomentMs = 200;
    m_patience->setSingleShot(true);
    m_patience->setInterval(aMomentMs);
    connect(m_patience, &QTimer::timeout, m_progress, &QWidget::show);
    const auto changed = [this] { Q_EMIT questionChanged(question()); };
    connect(m_detector, &DetectorView::questionChanged, this, changed);
    connect(m_guard, &GuardView::questionChanged, this, changed);
    connect(m_detector, &DetectorView::factActivated, this, &WhatIfPane::factActivated);
    connect(m_guard, &GuardView::factActivated, this, &WhatIfPane::factActivated);
    forgetAnswer();
}

QToolButton* WhatIfPane::addPart(const QString& text, const QString& tip, QWidget* part)
{
    m_parts->addWidget(part);
    auto* group = findChild<QButtonGroup*>();
    group = group ? group : new QButtonGroup(this);
    auto* button = makeToolButton(this, "chip", text, tip);
    button->setCheckable(true);
    group->addButton(button);
    header()->insertWidget(static_cast<int>(group->buttons().size()) - 1, button);
    connect(button, &QToolButton::toggled, this, [this, part](bool on) {
        if (on) {
            m_parts->setCurrentWidget(part);
        }
    });
    return button;
}

void WhatIfPane::buildCopy()
{
    m_copy->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(m_copy);
    const auto add = [&](const QString& text, QString (WhatIfPane::*made)() const, const QString& said) {
        connect(menu->addAction(text), &QAction::triggered, this, [this, made, said] {
            QGuiApplication::clipboard()->setText((this->*made)());
            Q_EMIT copied(said);
        });
    };
    add(tr("Copy as &text"), &WhatIfPane::asText, tr("Copied the answer as text"));
    add(tr("Copy as &JSON"), &WhatIfPane::asJson, tr("Copied the answer as JSON"));
    m_copy->setMenu(menu);
    header()->addWidget(m_copy);
}

WhatIfQuestion WhatIfPane::question() const
{
    return {m_detector->question(), m_guard->question()};
}

void WhatIfPane::setQuestion(const WhatIfQuestion& question)
{
    m_detector->setQuestion(question.detector);
    m_guard->setQuestion(question.guard);
}

void WhatIfPane::setAsking()
{
    m_patience->start();
}

void WhatIfPane::stopWaiting()
{
    m_patience->stop();
    m_progress->hide();
}

void WhatIfPane::setAnswer(std::shared_ptr<const WhatIfAnswer> answer)
{
    stopWaiting();
    m_answer = std::move(answer);
    showNewest(*m_newest, m_answer->newestPoints);
    m_message->hide();
    m_parts->show();
    m_copy->setEnabled(true);
    m_detector->setAnswer(*m_answer);
    m_guard->setAnswer(*m_answer);
}

void WhatIfPane::showProblem(const QString& sentence)
{
    stopWaiting();
    m_answer.reset();
    m_message->setText(sentence);
    m_message->show();
    m_parts->hide();
    m_copy->setEnabled(false);
}

void WhatIfPane::forgetAnswer()
{
    m_guard->ranksBox()->setValue(0);
    showProblem(tr("The logs and captures of the run are being read"));
    showNewest(*m_newest, {});
}

QString WhatIfPane::asText() const
{
    return m_parts->currentWidget() == m_guard ? m_guard->text() : m_detector->text();
}

QString WhatIfPane::asJson() const
{
    if (!m_answer) {
        return {};
    }
    return qstr(jsonText(m_parts->currentWidget() == m_guard
            ? diagnose::guardJson(m_answer->guard)
            : diagnose::detectorJson(m_answer->detector, m_answer->question.detector)));
}

} // namespace nanscope
