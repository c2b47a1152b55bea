// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/verdict/verdictnow.h"

#include <algorithm>

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

#include "core/model/verdict.h"
#include "core/model/words.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

QString nextText(const CaptureVerdict& verdict)
{
    const auto left = untried(verdict);
    if (verdict.question.empty()) {
        return left.empty()            ? QString()
            : left.front()->id.empty() ? VerdictNow::tr("Next: %1").arg(qstr(left.front()->what))
                                       : VerdictNow::tr("Next test: %1").arg(qstr(left.front()->what));
    }
    const auto test = std::ranges::find_if(left, [](const Experiment* experiment) { return !experiment->id.empty(); });
    return test == left.end() ? VerdictNow::tr("Next: answer the question")
                              : VerdictNow::tr("Next: answer the question, or test with %1").arg(qstr((*test)->what));
}

} // namespace

VerdictNow::VerdictNow(QWidget* parent)
    : QWidget(parent)
    , m_text(makeWrappedLabel(this, "now"))
    , m_copy(makeToolButton(this, "quiet", tr("Copy"), tr("Copy what to do now")))
{
    setAccessibleName(tr("What to do now"));
    m_copy->setFocusPolicy(Qt::StrongFocus);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(grid(2));
    layout->addWidget(m_text, 1);
    layout->addWidget(m_copy, 0, Qt::AlignTop);
    connect(m_copy, &QToolButton::clicked, this, [this] {
        QApplication::clipboard()->setText(text());
        Q_EMIT copied(tr("Copied what to do now"));
    });
    showLines();
}

void VerdictNow::setRollback(const std::optional<Rollback>& rollback, const QString& goOn)
{
    m_tonight = rollback ? windowText(rollback->tonight) : goOn;
    showLines();
}

void VerdictNow::setCauses(const QStringList& causes)
{
    m_causes = causes;
    showLines();
}

void VerdictNow::setVerdict(const CaptureVerdict* verdict)
{
    m_next = verdict ? nextText(*verdict) : QString();
    showLines();
}

QString VerdictNow::text() const
{
    QStringList lines;
    if (!m_tonight.isEmpty()) {
        const QString heading = m_causes.size() > 1
            ? tr("Tonight, against all that began in this run (%1)").arg(m_causes.join(QStringLiteral(", ")))
            : tr("Tonight");
        lines << tr("%1: %2").arg(heading, m_tonight);
    }
    if (!m_next.isEmpty()) {
        lines << m_next;
    }
    return lines.join(QLatin1Char('\n'));
}

void VerdictNow::showLines()
{
    m_text->setText(text());
    m_copy->setAccessibleName(tr("Copy: %1").arg(text()));
}

} // namespace nanscope
