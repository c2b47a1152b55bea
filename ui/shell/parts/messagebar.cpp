// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/parts/messagebar.h"

#include <QHBoxLayout>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/shared/answerparts.h"
#include "ui/shared/elidedlabel.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

MessageBar::MessageBar(QWidget* parent)
    : QFrame(parent)
    , m_text(new ElidedLabel(this))
    , m_offer(new QPushButton(this))
    , m_more(makeToolButton(this, "quiet", tr("Details"), tr("Every file with its reason")))
    , m_details(new QPlainTextEdit(this))
{
    setObjectName(QStringLiteral("messageBar"));
    setAccessibleName(tr("Message"));
    m_more->setCheckable(true);
    m_details->setReadOnly(true);
    m_details->setFrameShape(QFrame::NoFrame);
    m_details->setFixedHeight(grid(24));
    m_details->setAccessibleName(tr("Details of the message"));
    m_details->hide();
    auto* close = makeToolButton(this, "quiet", QStringLiteral("✕"), tr("Close this message"));
    auto* row = new QHBoxLayout;
    row->setSpacing(grid(2));
    row->addWidget(m_text, 1);
    row->addWidget(m_offer);
    row->addWidget(m_more);
    row->addWidget(close);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(grid(3), grid(1), grid(1), grid(1));
    layout->setSpacing(grid(1));
    layout->addLayout(row);
    layout->addWidget(m_details);
    connect(m_more, &QToolButton::toggled, m_details, &QWidget::setVisible);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    connect(m_offer, &QPushButton::clicked, this, [this] {
        hide();
        const auto taken = m_taken; // it may come to another offer
        taken();
    });
    hide();
}

void MessageBar::showMessage(const QString& sentence, const QStringList& details)
{
    m_text->setFullText(sentenceCase(sentence));
    m_details->setPlainText(details.join(QLatin1Char('\n')));
    m_more->setChecked(false);
    m_more->setVisible(!details.isEmpty());
    m_offer->hide();
    show();
}

void MessageBar::showOffer(
    const QString& sentence, const QStringList& details, const QString& offer, const std::function<void()>& taken)
{
    showMessage(sentence, details);
    m_taken = taken;
    m_offer->setText(offer);
    m_offer->show();
}

QString MessageBar::sentence() const
{
    return isVisibleTo(parentWidget()) ? m_text->fullText() : QString();
}

} // namespace nanscope
