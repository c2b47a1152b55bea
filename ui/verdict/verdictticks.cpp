// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/verdict/verdictticks.h"

#include <algorithm>
#include <initializer_list>

#include <QLabel>
#include <QSignalBlocker>
#include <QToolButton>

#include "core/model/verdict.h"
#include "core/model/words.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/verdict/verdictbox.h"
#include "ui/verdict/verdictflow.h"

namespace nanscope {

namespace {

/// The format that all of them are in; empty where they differ.
std::string commonPrecision(const std::vector<diagnose::Tick>& ticks)
{
    const bool one = !ticks.empty() && std::ranges::all_of(ticks, [&](const diagnose::Tick& tick) {
        return tick.precision == ticks.front().precision;
    });
    return one ? ticks.front().precision : std::string();
}

QString tickText(const diagnose::Tick& tick, bool withPrecision)
{
    const QString name = qstr(tick.variant);
    const QString text = withPrecision ? QStringLiteral("%1  %2").arg(name, qstr(tick.precision)) : name;
    constexpr double saysSomething = 0.5; // of zeros everything is 100 % off
    const bool near = tick.fit && *tick.fit <= saysSomething;
    return near ? VerdictTicks::tr("%1 · %2").arg(text, qstr(offByText(*tick.fit))) : text;
}

QString memberText(const MemberResult& member)
{
    const bool replayed = member.forecastBy.empty();
    QStringList parts {replayed
            ? VerdictTicks::tr("%1 of %2 replays stay finite").arg(member.finite).arg(member.roundings)
            : VerdictTicks::tr("Forecast to stay finite, as %1 did when replayed").arg(qstr(member.forecastBy))};
    if (member.slackPercent) {
        parts << VerdictTicks::tr("slack %1 % in the tightest step").arg(roundNumber(*member.slackPercent, 2));
        if (*member.slackPercent < 0) {
            parts << negativeSlackText(*member.slackPercent);
        }
    }
    parts << VerdictTicks::tr("headroom %1 binades").arg(roundNumber(member.headroomBinades, 2));
    if (!member.firstBad.empty()) {
        parts << VerdictTicks::tr("first bad at %1").arg(qstr(member.firstBad));
    }
    if (replayed) {
        parts << VerdictTicks::tr("%1 end like this dump").arg(member.reproducing);
    }
    return parts.join(QStringLiteral(", "));
}

QString toolTip(const CaptureVerdict& judged, const diagnose::Tick& tick)
{
    QStringList lines;
    if (tick.fit) {
        const QString off = qstr(percentText(*tick.fit));
        lines << (judged.facts.fit.compared
                ? VerdictTicks::tr("The finite part of the captured output is %1 off what it gives on this input")
                      .arg(off)
                : VerdictTicks::tr("A healthy call of the same kind is %1 off what it gives there").arg(off));
    }
    for (const std::size_t member : tick.members) {
        lines << memberText(judged.facts.members[member]);
    }
    lines << (judged.variant.how == IdentifiedBy::sidecar
            ? VerdictTicks::tr("The sidecar says that this ran")
            : VerdictTicks::tr("Untick what cannot have run; the verdict changes at once"));
    return lines.join(QLatin1Char('\n'));
}

bool endsLikeTheDump(const CaptureVerdict& judged, const diagnose::Tick& tick)
{
    return std::ranges::any_of(
        tick.members, [&](std::size_t member) { return judged.facts.members[member].reproducing > 0; });
}

/// Where there are more, the others are asked for.
constexpr std::size_t mostAtFirst = 6;

} // namespace

VerdictTicks::VerdictTicks(QWidget* parent)
    : QWidget(parent)
    , m_flow(new VerdictFlow(this))
    , m_label(new QLabel(this))
    , m_alone(new VerdictBox(this))
    , m_besides(new VerdictBox(this))
    , m_all(makeToolButton(this, "quiet", tr("Take back")))
    , m_others(makeToolButton(this, "quiet"))
    , m_more(makeToolButton(this, "quiet"))
{
    setAccessibleName(tr("Variants that may have run"));
    m_flow->setSpacing(grid(1) + 2);
    m_label->setObjectName(QStringLiteral("muted"));
    m_more->setToolTip(tr("Say that another variant ran, or in another format or with another epsilon; it is replayed, "
                          "then the capture is judged again"));
    for (QWidget* part : std::initializer_list<QWidget*> {m_label, m_others, m_alone, m_besides, m_more, m_all}) {
        m_flow->addWidget(part);
    }
    connect(m_others, &QToolButton::clicked, this, [this] {
        m_showsAll = !m_showsAll;
        updateButtons();
        Q_EMIT resized();
    });
    m_besides->setText(tr("other code ran"));
    m_besides->setToolTip(tr("Untick it if what was dumped is what the iteration was given and what it returned"));
    connect(m_alone, &VerdictBox::toggled, this, [this] { Q_EMIT changed(this->ticked()); });
    connect(m_besides, &VerdictBox::toggled, this, [this] { Q_EMIT changed(this->ticked()); });
    connect(m_more, &QToolButton::clicked, this, &VerdictTicks::anotherWanted);
    connect(m_all, &QToolButton::clicked, this, [this] {
        if (this->ticked() != m_names) {
            Q_EMIT changed(m_names);
        } else {
            Q_EMIT ranUnwanted();
        }
    });
    updateButtons();
}

void VerdictTicks::setTicks(const CaptureVerdict& judged, const QStringList& ticked, const replay::Catalogue& catalogue)
{
    build(judged, inOrder(diagnose::ticksOf(judged, catalogue), ticked));
    for (std::size_t i = 0; i < m_boxes.size(); ++i) {
        const QSignalBlocker quiet(m_boxes[i]);
        m_boxes[i]->setChecked(ticked.isEmpty() || ticked.contains(m_names[static_cast<qsizetype>(i)]));
    }
    const QSignalBlocker quiet(m_alone);
    const QSignalBlocker quietToo(m_besides);
    const bool besides = judged.facts.otherCode || ticked.contains(qstr(diagnose::otherCode));
    m_besides->setChecked(besides);
    m_alone->setChecked(!besides && (judged.facts.nothingElse || ticked.contains(qstr(diagnose::nothingElse))));
    updateButtons();
}

void VerdictTicks::clearTicks()
{
    setTicks({}, {}, {});
}

void VerdictTicks::setRanSaid(bool said)
{
    m_ranSaid = said;
    updateButtons();
}

/// As they stand, so that the box that was just clicked stays where it is. Where more than that one changed, an answer
/// was given or taken back: what is left of it comes first.
std::vector<diagnose::Tick> VerdictTicks::inOrder(std::vector<diagnose::Tick> ticks, const QStringList& ticked) const
{
    const auto staysTicked = [&](const QString& name) { return ticked.isEmpty() || ticked.contains(name); };
    const auto placeOf = [this](const diagnose::Tick& tick) { return m_names.indexOf(qstr(tick.name)); };
    int changed = std::ssize(ticks) == m_names.size() ? 0 : 2;
    for (const diagnose::Tick& tick : ticks) {
        const qsizetype place = placeOf(tick);
        const bool same =
            place >= 0 && m_boxes[static_cast<std::size_t>(place)]->isChecked() == staysTicked(qstr(tick.name));
        changed += place < 0 ? 2 : same ? 0 : 1;
    }
    if (changed < 2) {
        std::ranges::sort(ticks, {}, placeOf);
    } else {
        std::stable_partition(
            ticks.begin(), ticks.end(), [&](const diagnose::Tick& tick) { return staysTicked(qstr(tick.name)); });
    }
    return ticks;
}

void VerdictTicks::build(const CaptureVerdict& judged, const std::vector<diagnose::Tick>& ticks)
{
    askAlone(judged);
    m_sidecar = judged.variant.how == IdentifiedBy::sidecar && !ticks.empty();
    m_names.clear();
    m_variants.clear();
    for (const diagnose::Tick& tick : ticks) {
        m_names << qstr(tick.name);
        m_variants << qstr(tick.variant);
    }
    // Boxes stay where they can, so that the one that was just clicked keeps the focus.
    while (m_boxes.size() > ticks.size()) {
        m_flow->removeWidget(m_boxes.back());
        m_boxes.back()->hide();
        m_boxes.back()->deleteLater();
        m_boxes.pop_back();
    }
    while (m_boxes.size() < ticks.size()) {
        auto* box = new VerdictBox(this);
        m_flow->insertAt(static_cast<int>(m_boxes.size()) + 1, box);
        connect(box, &VerdictBox::toggled, this, [this] { Q_EMIT changed(this->ticked()); });
        m_boxes.push_back(box);
    }
    const std::string common = commonPrecision(ticks);
    m_label->setText(common.empty() ? tr("Compared") : tr("Compared in %1").arg(qstr(common)));
    for (std::size_t i = 0; i < ticks.size(); ++i) {
        m_boxes[i]->setText(tickText(ticks[i], common.empty()));
        m_boxes[i]->setToolTip(nanscope::toolTip(judged, ticks[i]));
        m_boxes[i]->setEnabled(!m_sidecar || ticks.size() > 1);
        m_boxes[i]->setSuspect(endsLikeTheDump(judged, ticks[i]));
    }
}

void VerdictTicks::askAlone(const CaptureVerdict& judged)
{
    const bool taken = diagnose::asksWhatElseIsTaken(judged);
    const bool suspect = judged.role == Role::birth || judged.role == Role::padding;
    m_asksAlone = judged.facts.replayed && (suspect || judged.facts.nothingElse);
    m_alone->setEnabled(!judged.facts.nothingElse);
    m_besides->setEnabled(!judged.facts.otherCode);
    m_alone->setText(taken ? tr("takes nothing else") : tr("no other code ran"));
    m_alone->setToolTip(judged.facts.nothingElse ? tr("The sidecar or the command line says so")
            : taken ? tr("Tick it if the function takes no weights, no moments and no coefficient that changes")
                    : tr("Tick it if what was dumped is what the function was given and what it returned: no cast, no "
                         "mask and no weights between"));
}

QStringList VerdictTicks::names() const
{
    return m_names;
}

QStringList VerdictTicks::ticked() const
{
    QStringList names;
    for (std::size_t i = 0; i < m_boxes.size(); ++i) {
        if (m_boxes[i]->isChecked()) {
            names << m_names[static_cast<qsizetype>(i)];
        }
    }
    if (m_asksAlone && m_alone->isEnabled() && m_alone->isChecked()) {
        names << qstr(diagnose::nothingElse);
    }
    if (m_asksAlone && m_besides->isEnabled() && m_besides->isChecked()) {
        names << qstr(diagnose::otherCode);
    }
    return names;
}

void VerdictTicks::updateButtons()
{
    const bool any = !m_boxes.empty();
    m_label->setVisible(any);
    // One of the two, as a question answered with the other takes this one back.
    m_besides->setVisible(m_asksAlone && m_besides->isChecked());
    m_alone->setVisible(m_asksAlone && !m_besides->isChecked());
    const bool answered = ticked() != m_names;
    m_all->setVisible((any && answered) || (m_ranSaid && !answered));
    m_all->setToolTip(answered ? tr("Tick every variant that was replayed again")
                               : tr("Take back what you said ran; the run is judged again without it"));
    m_more->setText(any ? tr("Another ran…") : tr("What ran…"));
    m_more->setVisible(!m_sidecar);
    showBoxes();
}

void VerdictTicks::showBoxes()
{
    // A button in place of a single tick would win nothing.
    const bool many = m_boxes.size() > mostAtFirst + 1;
    for (std::size_t i = 0; i < m_boxes.size(); ++i) {
        m_boxes[i]->setVisible(!many || m_showsAll || i < mostAtFirst);
    }
    m_others->setVisible(many);
    m_others->setText(m_showsAll ? tr("Show fewer") : tr("Show all %1").arg(m_boxes.size()));
    m_others->setToolTip(m_showsAll ? tr("Show the first few variants alone")
                                    : tr("Show the other %1 variants, too").arg(m_boxes.size() - mostAtFirst));
}

} // namespace nanscope
