// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/paneframe.h"

#include <QHBoxLayout>
#include <QStyle>
#include <QVBoxLayout>

#include "ui/shared/elidedlabel.h"
#include "ui/shared/theme.h"

namespace nanscope {

PaneFrame::PaneFrame(const QString& title, QWidget* parent)
    : QFrame(parent)
    , m_title(new ElidedLabel(this, Qt::ElideMiddle))
    , m_note(new ElidedLabel(this))
    , m_headerBar(new QWidget(this))
    , m_header(new QHBoxLayout(m_headerBar))
    , m_body(new QVBoxLayout)
{
    setObjectName(QStringLiteral("pane"));
    setAccessibleName(title);
    m_title->setObjectName(QStringLiteral("paneTitle"));
    m_title->setFullText(title);
    m_note->setObjectName(QStringLiteral("paneNote"));
    m_note->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_header->setContentsMargins(grid(3), grid(2), grid(3), grid(1));
    m_header->setSpacing(grid(2));
    m_header->addWidget(m_title);
    m_header->addWidget(m_note, 1);
    m_body->setContentsMargins(0, 0, 0, 0);
    m_body->setSpacing(0);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 1, 1, 1);
    layout->setSpacing(0);
    layout->addWidget(m_headerBar);
    layout->addLayout(m_body, 1);
}

QString PaneFrame::note() const
{
    return m_note->fullText();
}

QWidget* PaneFrame::takeHeader()
{
    layout()->removeWidget(m_headerBar);
    m_headerBar->setObjectName(QStringLiteral("dockHeader"));
    m_headerBar->setAttribute(Qt::WA_StyledBackground);
    setObjectName(QStringLiteral("dockBody"));
    style()->unpolish(this); // the style sheet knew it by its old name
    style()->polish(this);
    return m_headerBar;
}

void PaneFrame::setTitle(const QString& title)
{
    m_title->setFullText(title);
    m_title->setVisible(!title.isEmpty());
    m_note->setAlignment(Qt::AlignVCenter | (title.isEmpty() ? Qt::AlignLeft : Qt::AlignRight));
    if (!title.isEmpty()) {
        setAccessibleName(title);
    }
    showHeader();
}

void PaneFrame::setNote(const QString& note, const QString& details)
{
    m_note->setFullText(note);
    m_note->setDetails(details);
    showHeader();
}

void PaneFrame::setNoteLines(int most)
{
    const Qt::Alignment before = m_note->alignment();
    m_note->setLines(1, most);
    m_note->setAlignment(before);
}

void PaneFrame::showEvent(QShowEvent* event)
{
    QFrame::showEvent(event);
    Q_EMIT watchedChanged(true);
}

void PaneFrame::hideEvent(QHideEvent* event)
{
    QFrame::hideEvent(event);
    Q_EMIT watchedChanged(false);
}

/// A header with nothing in it would be a gap above the contents.
void PaneFrame::showHeader()
{
    constexpr int ownWidgets = 2;
    const bool empty = m_title->fullText().isEmpty() && note().isEmpty() && m_header->count() == ownWidgets;
    m_headerBar->setVisible(!empty);
    layout()->setContentsMargins(1, empty ? grid(2) : 1, 1, 1);
}

} // namespace nanscope
