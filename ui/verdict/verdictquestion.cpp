// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/verdict/verdictquestion.h"

#include <algorithm>

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "core/diagnose/rejudge.h"
#include "core/model/verdict.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/verdict/verdictflow.h"

namespace nanscope {

namespace {

QString namedText(const QStringList& ticks)
{
    switch (ticks.size()) {
    case 1:
        return VerdictQuestion::tr("It was %1").arg(ticks[0]);
    case 2:
        return VerdictQuestion::tr("It was %1 or %2").arg(ticks[0], ticks[1]);
    default:
        return VerdictQuestion::tr("It was one of %1, %2 and %3 more")
            .arg(ticks[0], ticks[1], QString::number(ticks.size() - 2));
    }
}

QString answerText(const diagnose::Answer& answer)
{
    switch (answer.kind) {
    case diagnose::Answer::Kind::castsFirst:
        return VerdictQuestion::tr("My code casts to %1 first").arg(qstr(answer.precision));
    case diagnose::Answer::Kind::normalizesFirst:
        return VerdictQuestion::tr("It normalises in fp32 first");
    case diagnose::Answer::Kind::nothingElse:
        return VerdictQuestion::tr("No other code ran");
    case diagnose::Answer::Kind::otherCode:
        return VerdictQuestion::tr("Other code ran");
    case diagnose::Answer::Kind::inputAlone:
        return VerdictQuestion::tr("It takes nothing else");
    case diagnose::Answer::Kind::takesMore:
        return VerdictQuestion::tr("It takes more");
    case diagnose::Answer::Kind::noEpsilon:
        return VerdictQuestion::tr("It adds no epsilon");
    case diagnose::Answer::Kind::otherSteps:
    case diagnose::Answer::Kind::oneOf:
        break;
    }
    return namedText(qstrs(answer.ticks));
}

QString answerTip(const diagnose::Answer& answer)
{
    switch (answer.kind) {
    case diagnose::Answer::Kind::nothingElse:
        return VerdictQuestion::tr("What was dumped is what the function was given and what it returned");
    case diagnose::Answer::Kind::otherCode:
        return VerdictQuestion::tr("A weight, a mask, a cast or the like lies between what was dumped: nobody is "
                                   "accused, and a capture of the iteration alone is asked for");
    case diagnose::Answer::Kind::inputAlone:
        return VerdictQuestion::tr(
            "No weights, no moments, no coefficient that changes: the same input is the same call");
    case diagnose::Answer::Kind::takesMore:
        return VerdictQuestion::tr("Weights, moments or a coefficient that changes: nobody is accused, and a capture "
                                   "of the iteration alone is asked for");
    case diagnose::Answer::Kind::noEpsilon:
    case diagnose::Answer::Kind::otherSteps:
        return VerdictQuestion::tr("Replays %1, then the run is judged again")
            .arg(qstrs(answer.ticks).join(QStringLiteral(", ")));
    default:
        return VerdictQuestion::tr("Keeps only %1").arg(qstrs(answer.ticks).join(QStringLiteral(", ")));
    }
}

} // namespace

VerdictQuestion::VerdictQuestion(QWidget* parent)
    : QFrame(parent)
    , m_text(makeWrappedLabel(this, "questionText"))
    , m_row(new QWidget(this))
    , m_flow(new VerdictFlow(m_row))
{
    setObjectName(QStringLiteral("questionBox"));
    setAccessibleName(tr("Deciding question"));
    m_flow->setSpacing(grid(2));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(grid(2), grid(1) + 2, grid(2), grid(1) + 2);
    layout->setSpacing(grid(1) + 2);
    layout->addWidget(m_text);
    layout->addWidget(m_row);
    style();
    hide();
    onThemeChange(*this, [this] { style(); });
}

void VerdictQuestion::ask(const CaptureVerdict& verdict, const replay::Catalogue& catalogue)
{
    m_text->setText(sentenceCase(qstr(diagnose::questionAlone(verdict))));
    const auto focused = std::ranges::find_if(m_buttons, &QWidget::hasFocus);
    const auto place = static_cast<std::size_t>(focused - m_buttons.begin());
    const bool hadFocus = focused != m_buttons.end();
    clear();
    if (!verdict.question.empty()) {
        for (const diagnose::Answer& answer : diagnose::answersOf(verdict, catalogue)) {
            const QStringList ticks = qstrs(answer.ticks);
            connect(addButton(answerText(answer), answerTip(answer)), &QPushButton::clicked, this,
                [this, ticks] { Q_EMIT answered(ticks); });
        }
        addControls(verdict);
    }
    m_row->setVisible(!m_buttons.empty());
    setVisible(!verdict.question.empty());
    if (hadFocus && !m_buttons.empty()) {
        m_buttons[std::min(place, m_buttons.size() - 1)]->setFocus();
    } else if (hadFocus) {
        Q_EMIT focusLeft();
    }
}

void VerdictQuestion::clear()
{
    for (QPushButton* button : m_buttons) {
        m_flow->removeWidget(button);
        button->hide();
        button->deleteLater();
    }
    m_buttons.clear();
}

QPushButton* VerdictQuestion::addButton(const QString& text, const QString& tip)
{
    auto* button = new QPushButton(text, m_row);
    button->setToolTip(tip);
    m_flow->addWidget(button);
    m_buttons.push_back(button);
    return button;
}

/// What leads to where the window takes an answer that is no tick.
void VerdictQuestion::addControls(const CaptureVerdict& verdict)
{
    if (diagnose::asksEpsilon(verdict)) {
        const QString tip = tr("Say what it adds to the norm; it is replayed with that, then the run is judged again");
        connect(addButton(tr("Say its epsilon…"), tip), &QPushButton::clicked, this, &VerdictQuestion::epsilonWanted);
    }
    if (diagnose::asksWhatRan(verdict)) {
        const QString tip =
            tr("Choose among all variants and formats; what you choose is replayed, then the run is judged again");
        connect(addButton(tr("Say what ran…"), tip), &QPushButton::clicked, this, &VerdictQuestion::ranWanted);
    }
    if (const auto call = diagnose::callThatAnswers(verdict)) {
        const QString experiment = qstr(*call);
        const QString tip = tr("Opens “try next”, with a row for how often the captured call failed when it was made "
                               "again with the captured input");
        connect(addButton(tr("Say how calls made again ended…"), tip), &QPushButton::clicked, this,
            [this, experiment] { Q_EMIT callsWanted(experiment); });
    }
}

QStringList VerdictQuestion::answers() const
{
    QStringList texts;
    for (const QPushButton* button : m_buttons) {
        texts << button->text();
    }
    return texts;
}

void VerdictQuestion::style()
{
    const QString sheet =
        QStringLiteral("QFrame#questionBox { background: %1; border-radius: 4px; }").arg(theme().warningTint.name());
    // A sheet changes the palette, which would ask for the sheet again.
    if (styleSheet() != sheet) {
        setStyleSheet(sheet);
    }
}

} // namespace nanscope
