// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/verdict/verdictpane.h"

#include <algorithm>
#include <utility>

#include <QHBoxLayout>
#include <QPushButton>
#include <QScrollBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/diagnose/rejudge.h"
#include "core/diagnose/verdict/decide.h"
#include "core/diagnose/verdict/experiments.h"
#include "core/diagnose/verdict/margin.h"
#include "core/report/document/conviction.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/marks.h"
#include "ui/shared/partsscroll.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/verdict/evidencelist.h"
#include "ui/verdict/verdictchips.h"
#include "ui/verdict/verdictexperiments.h"
#include "ui/verdict/verdictflow.h"
#include "ui/verdict/verdictnow.h"
#include "ui/verdict/verdictquestion.h"
#include "ui/verdict/verdictticks.h"
#include "ui/verdict/whatrandialog.h"

namespace nanscope {

namespace {

std::vector<EvidenceLine> linesOf(const CaptureVerdict& verdict, VerdictPane::List list)
{
    switch (list) {
    case VerdictPane::List::place:
        return placeLines(verdict);
    case VerdictPane::List::speaksFor:
        return verdict.speaksFor;
    case VerdictPane::List::speaksAgainst:
        return verdict.speaksAgainst;
    case VerdictPane::List::notTestable:
        return verdict.notTestable;
    case VerdictPane::List::next:
    case VerdictPane::List::none:
        break;
    }
    return {};
}

/// The number that the verdict rests on, where there is one; else what it was concluded from.
std::string whatText(const Capture& capture, const CaptureVerdict& verdict)
{
    const auto losesInCast = [](const MemberResult& member) { return member.castLoses && member.castsFirst; };
    const bool byDamage = verdict.rule == RuleId::noReplayEndsLikeThis || verdict.rule == RuleId::damagedInput;
    const bool byCast = verdict.blame == Blame::numerics && !verdict.members.empty()
        && std::ranges::all_of(verdict.members, losesInCast);
    std::string number = byDamage ? report::convictingText(capture, verdict, {})
        : byCast                  ? report::castText(capture.input)
                                  : std::string();
    return number.empty() ? verdict.summary : number;
}

/// What the summary says, and what a slack below zero means where it tells one.
QString summaryTip(const CaptureVerdict& verdict)
{
    const QString summary = sentenceCase(qstr(verdict.summary));
    const std::optional<double> slack = diagnose::verdict::totalsOf(verdict.members).slackPercent;
    return slack && *slack < 0
        ? VerdictPane::tr("%1\nSlack %2 % is %3.").arg(summary, roundNumber(*slack, 2), negativeSlackText(*slack))
        : summary;
}

} // namespace

VerdictPane::VerdictPane(QWidget* parent)
    : QFrame(parent)
    , m_parts(new PartsScroll(this))
{
    setAccessibleName(tr("Verdict"));
    m_summary = makeWrappedLabel(this, "summary");
    m_question = new VerdictQuestion(this);
    m_ticks = new VerdictTicks(this);
    m_chips = new VerdictChips(this);
    m_experiments = new VerdictExperiments(this);
    m_list = new EvidenceList(this);
    m_kind = makeWrappedLabel(this, "kind");
    m_place = makeWrappedLabel(this, "muted");
    m_now = new VerdictNow(this);
    auto* frame = new QVBoxLayout(this);
    frame->setContentsMargins(0, 0, 0, 0);
    frame->addWidget(m_parts);
    QVBoxLayout* layout = m_parts->parts();
    layout->setSpacing(grid(1) + 2);
    m_hidden = buildHidden();
    layout->addWidget(m_hidden);
    layout->addWidget(m_place);
    layout->addWidget(buildHeader());
    layout->addWidget(m_kind);
    // In a low window the answers are in sight before the reasons.
    layout->addWidget(m_question);
    m_alike = buildAlike();
    layout->addWidget(m_alike);
    layout->addWidget(m_summary);
    layout->addWidget(m_now);
    layout->addWidget(m_chips);
    layout->addWidget(m_list);
    layout->addWidget(m_experiments);
    layout->addWidget(m_ticks);
    layout->addStretch(1);
    connectParts();
    showMessage(QString(), QString());
    onThemeChange(*this, [this] { fillList(); });
}

VerdictPane::~VerdictPane() = default;

void VerdictPane::connectParts()
{
    connect(m_ticks, &VerdictTicks::changed, this, &VerdictPane::changeTicks);
    connect(m_ticks, &VerdictTicks::ranUnwanted, this, [this] { Q_EMIT ranChanged({}); });
    connect(m_ticks, &VerdictTicks::anotherWanted, this, &VerdictPane::askWhatRan);
    connect(m_ticks, &VerdictTicks::resized, this, &VerdictPane::fitList);
    connect(m_question, &VerdictQuestion::answered, this, &VerdictPane::changeTicks);
    connect(m_question, &VerdictQuestion::ranWanted, this, &VerdictPane::askWhatRan);
    connect(m_question, &VerdictQuestion::epsilonWanted, this, [this] { askWhatRan()->askEpsilon(); });
    connect(m_question, &VerdictQuestion::focusLeft, m_chips, &VerdictChips::takeFocus);
    connect(m_question, &VerdictQuestion::callsWanted, this, &VerdictPane::askCalls);
    connect(m_chips, &VerdictChips::opened, this, &VerdictPane::setOpenList);
    connect(m_ticks, &VerdictTicks::resized, this, [this] { m_parts->keepInSight(m_ticks); });
    connect(m_now, &VerdictNow::copied, this, &VerdictPane::nowCopied);
    connect(m_experiments, &VerdictExperiments::resized, this, &VerdictPane::fitList);
    connect(m_experiments, &VerdictExperiments::copied, this, &VerdictPane::experimentCopied);
    connect(m_experiments, &VerdictExperiments::observedChanged, this, [this](const Observations& observed) {
        setObserved(observed);
        Q_EMIT observedChanged(observed);
    });
}

QWidget* VerdictPane::buildHeader()
{
    auto* row = new QWidget(this);
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(grid(2));
    m_mark = new MarkLabel(row);
    m_headline = makeWrappedLabel(row, "headline");
    QFont large = scaledFont(font(), 1.2);
    large.setBold(true);
    m_headline->setFont(large);
    m_headline->setMinimumSize(grid(40), QFontMetrics(large).height());
    m_cause = new QPushButton(tr("Show the birth"), row);
    m_cause->setToolTip(tr("Select the capture this one descends from"));
    layout->addWidget(m_mark, 0, Qt::AlignVCenter);
    layout->addWidget(m_headline, 1);
    m_judge = new QPushButton(tr("Judge now"), row);
    m_judge->setToolTip(tr("Judge the captures of this run that are not judged, each from its first replay"));
    m_judge->hide();
    layout->addWidget(m_cause);
    layout->addWidget(m_judge);
    connect(m_judge, &QPushButton::clicked, this, &VerdictPane::judgingRequested);
    connect(m_cause, &QPushButton::clicked, this, &VerdictPane::causeRequested);
    return row;
}

QWidget* VerdictPane::buildHidden()
{
    auto* row = new QWidget(this);
    auto* flow = new VerdictFlow(row);
    flow->setSpacing(grid(2));
    auto* clear =
        makeToolButton(row, "chip", tr("Clear the filter"), tr("List all captures again; this one stays selected"));
    clear->setFocusPolicy(Qt::StrongFocus);
    flow->addWidget(makeMutedLabel(row, tr("The filter of the list hides this capture")));
    flow->addWidget(clear);
    row->hide();
    connect(clear, &QToolButton::clicked, this, &VerdictPane::filterUnwanted);
    return row;
}

QWidget* VerdictPane::buildAlike()
{
    auto* row = new QWidget(this);
    auto* flow = new VerdictFlow(row);
    flow->setSpacing(grid(2));
    auto* answer = makeToolButton(row, "chip", tr("Answer them alike"),
        tr("Captures that you answered already keep their answers; “What is known of this run” takes answers back"));
    answer->setFocusPolicy(Qt::StrongFocus);
    m_alikeText = makeMutedLabel(row, QString());
    flow->addWidget(m_alikeText);
    flow->addWidget(answer);
    row->hide();
    connect(answer, &QToolButton::clicked, this, &VerdictPane::alikeWanted);
    return row;
}

void VerdictPane::offerAlike(std::size_t others)
{
    m_alikeText->setText(others == 1 ? tr("Another capture of this function asks the same")
                                     : tr("%1 other captures of this function ask the same").arg(others));
    if (m_alike->isHidden() == (others > 0)) {
        m_alike->setVisible(others > 0);
        fitList();
    }
}

void VerdictPane::offerJudging(bool offered)
{
    m_judge->setVisible(offered);
}

void VerdictPane::setHiddenByFilter(bool hidden)
{
    if (m_hidden->isHidden() == hidden) {
        m_hidden->setVisible(hidden);
        fitList();
    }
}

void VerdictPane::showVerdict(const Capture& capture, const CaptureVerdict& judged, const QStringList& ticked)
{
    if (std::exchange(m_capture, capture).path != capture.path) {
        m_parts->verticalScrollBar()->setValue(0);
    }
    m_judged = std::make_unique<const CaptureVerdict>(judged);
    // None ticked asks for a replay where the user had said what ran; here it means that nobody unticked any.
    if (ticked.isEmpty() || !showTicks(ticked)) {
        showOver({}, judged);
    }
}

void VerdictPane::showOver(const QStringList& ticked, CaptureVerdict verdict)
{
    m_verdict = std::make_unique<CaptureVerdict>(diagnose::withObservations(std::move(verdict), m_observed));
    // The window has ticks and buttons for what ran.
    std::erase_if(m_verdict->next, diagnose::hasButton);
    diagnose::nameByPath(m_verdict->next, m_capture);
    m_ticks->setTicks(*m_judged, ticked, m_catalogue);
    showShown();
}

bool VerdictPane::showTicks(const QStringList& ticked)
{
    if (!m_judged) {
        return false;
    }
    auto verdict = diagnose::rejudge(*m_judged, stringsOf(ticked), m_catalogue);
    if (!verdict) {
        return false;
    }
    showOver(ticked, std::move(*verdict));
    return true;
}

void VerdictPane::setCatalogue(const replay::Catalogue& catalogue)
{
    m_catalogue = catalogue;
}

void VerdictPane::setObserved(const Observations& observed)
{
    m_observed = observed;
    if (m_judged && !showTicks(ticked())) {
        showOver(ticked(), *m_judged);
    }
}

void VerdictPane::changeTicks(const QStringList& ticked)
{
    if (showTicks(ticked)) {
        Q_EMIT ticksChanged(ticked == m_ticks->names() ? QStringList() : ticked);
    } else {
        QStringList ran = ticked;
        ran.removeAll(qstr(diagnose::nothingElse));
        ran.removeAll(qstr(diagnose::otherCode));
        Q_EMIT ranChanged(ran);
    }
}

WhatRanDialog* VerdictPane::askWhatRan()
{
    auto* dialog = new WhatRanDialog(m_catalogue, m_ticks->variants(), m_ran, this);
    connect(dialog, &WhatRanDialog::answered, this, [this, asked = m_capture.path](const QStringList& ran) {
        // Another run may have been read meanwhile.
        if (m_capture.path == asked) {
            Q_EMIT ranChanged(ran);
        }
    });
    dialog->open();
    return dialog;
}

void VerdictPane::askCalls(const QString& experiment)
{
    setOpenList(List::next);
    m_parts->keepInSight(m_experiments->askCalls(experiment.toStdString()));
}

void VerdictPane::setConsequences(const Consequences& consequences)
{
    m_consequences = consequences;
    m_now->setCauses(consequences.causes);
}

void VerdictPane::setRollback(const std::optional<Rollback>& rollback, const QString& goOn)
{
    m_now->setRollback(rollback, goOn);
}

/// What went wrong where, and how much follows from it.
QString VerdictPane::placeText(const CaptureVerdict& verdict) const
{
    QString place = placeSentence(m_capture, verdict);
    if (verdict.role == Role::downstream) {
        return place;
    }
    const DamagePattern& damage = verdict.facts.damage;
    const QString what = damage.count == 0 ? QString() : damage.nan > 0 ? tr("NaN") : tr("Inf");
    const Consequences& follow = m_consequences;
    QString named = what.isEmpty() ? place : tr("%1: %2").arg(follow.first ? tr("First %1").arg(what) : what, place);
    if (follow.together > 1) {
        named = tr("%1; %2 captures went bad in this update: this one and %3")
                    .arg(named)
                    .arg(follow.together)
                    .arg(follow.others);
    }
    if (follow.downstream == 0) {
        return named;
    }
    return tr("%1. %2 of the %3 captures follow from it.").arg(named).arg(follow.downstream).arg(follow.captures);
}

void VerdictPane::showShown()
{
    const CaptureVerdict& verdict = *m_verdict;
    m_mark->setRole(static_cast<int>(verdict.role));
    m_headline->setText(blameTitle(verdict));
    m_kind->setText(sentenceCase(qstr(verdict.kind)));
    m_kind->setHidden(verdict.kind.empty() || m_kind->text() == m_headline->text());
    const bool follows = verdict.role == Role::downstream;
    m_place->setText(placeText(verdict));
    m_place->setToolTip(plainTip(identificationSentence(verdict.variant)));
    m_place->show();
    m_now->setVerdict(&verdict);
    m_now->setVisible(!follows && !m_now->text().isEmpty());
    m_summary->setText(sentenceCase(qstr(whatText(m_capture, verdict))));
    m_summary->setToolTip(plainTip(summaryTip(verdict)));
    m_summary->setVisible(!m_summary->text().isEmpty());
    m_question->ask(verdict, m_catalogue);
    m_ticks->setVisible(!follows);
    m_cause->setVisible(!verdict.causedBy.empty());
    showChips();
    fillList();
}

void VerdictPane::showChips()
{
    const auto tried = std::ranges::count_if(m_verdict->next, [&](const Experiment& experiment) {
        return !experiment.id.empty()
            && std::ranges::find(m_observed.tried, experiment.id, &TriedExperiment::id) != m_observed.tried.end();
    });
    const auto called = std::ranges::count(m_observed.called, m_verdict->capture, &CallsAgain::capture);
    m_chips->setCounts(*m_verdict, static_cast<int>(tried + (canBeCalledAgain(*m_verdict) ? called : 0)));
}

void VerdictPane::showMessage(const QString& headline, const QString& text)
{
    m_judged.reset();
    m_verdict.reset();
    m_mark->setRole(-1);
    m_headline->setText(headline);
    m_kind->hide();
    m_place->hide();
    m_now->setVerdict(nullptr);
    m_now->hide();
    m_summary->setText(text);
    m_summary->setToolTip({});
    m_summary->setVisible(!text.isEmpty());
    m_question->ask({}, {});
    m_ticks->clearTicks();
    m_ticks->hide();
    m_chips->hide();
    m_cause->hide();
    fillList();
}

void VerdictPane::setOpenList(List list)
{
    m_open = list;
    fillList();
    // Not all of a long one, for which the answer above would leave, and the chip that was clicked its place.
    m_parts->keepInSight(m_experiments->isHidden() ? static_cast<QWidget*>(m_list) : m_experiments, grid(24));
}

void VerdictPane::setReplayedOn(const QString& device)
{
    if (m_replayedOn != device) {
        m_replayedOn = device;
        fillList();
    }
}

/// Those of the list that is open.
std::vector<EvidenceLine> VerdictPane::evidence() const
{
    auto lines = m_verdict ? linesOf(*m_verdict, m_open) : std::vector<EvidenceLine>();
    if (!lines.empty() && m_open != List::place && m_verdict->facts.replayed && !m_replayedOn.isEmpty()) {
        lines.push_back({m_replayedOn.toStdString(), tr("replayed on").toStdString()});
    }
    return lines;
}

void VerdictPane::fillList()
{
    const std::vector<EvidenceLine> lines = evidence();
    const bool experiments = m_verdict && m_open == List::next && hasNext(*m_verdict);
    m_chips->setOpen(experiments || !lines.empty() ? m_open : List::none);
    m_list->setLines(lines);
    if (experiments) {
        m_experiments->setVerdict(*m_verdict, m_observed);
    }
    m_experiments->setVisible(experiments);
    fitList();
}

/// As high as what it holds: the parts scroll together, and nothing in them by itself.
void VerdictPane::fitList()
{
    m_list->setFixedHeight(m_list->heightOfAll(m_parts->viewport()->width() - 4));
    // What was shown or hidden just now has its height only once the layout has come to it.
    QMetaObject::invokeMethod(this, &VerdictPane::sayHeight, Qt::QueuedConnection);
}

void VerdictPane::sayHeight()
{
    // Of a capture that has nothing in the open list, too: the room stays until the user closes it.
    const bool opened = !m_hidden->isHidden() || m_open != List::none || m_ticks->showsAll();
    Q_EMIT heightNeeded(m_parts->heightOfAll(), opened);
}

QSize VerdictPane::minimumSizeHint() const
{
    return {grid(40), grid(24)};
}

void VerdictPane::setRan(const QStringList& ran)
{
    m_ran = ran;
    m_ticks->setRanSaid(!ran.isEmpty());
}

QStringList VerdictPane::ticked() const
{
    return m_ticks->ticked();
}

QString VerdictPane::listText() const
{
    return m_experiments->isVisibleTo(this) ? m_experiments->lines().join(QLatin1Char('\n')) : m_list->toPlainText();
}

void VerdictPane::resizeEvent(QResizeEvent* event)
{
    QFrame::resizeEvent(event);
    fitList();
}

} // namespace nanscope
