// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/partsscroll.h"

#include <algorithm>

#include <QEvent>
#include <QScrollBar>
#include <QVBoxLayout>

namespace nanscope {

PartsScroll::PartsScroll(QWidget* parent)
    : QScrollArea(parent)
    , m_parts(nullptr)
{
    auto* contents = new QWidget;
    m_parts = new QVBoxLayout(contents);
    m_parts->setContentsMargins(0, 0, 0, 0);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    // Not resizable: that would make the contents as high as they would like to be, and scroll too soon.
    setWidget(contents);
    viewport()->setAutoFillBackground(false);
    contents->setAutoFillBackground(false);
    contents->installEventFilter(this);
    connect(verticalScrollBar(), &QScrollBar::actionTriggered, this, [this] { m_kept = nullptr; });
}

int PartsScroll::leastHeightAt(int width) const
{
    return m_parts->hasHeightForWidth() ? m_parts->totalMinimumHeightForWidth(width)
                                        : m_parts->totalMinimumSize().height();
}

int PartsScroll::leastHeight() const
{
    return leastHeightAt(viewport()->width());
}

int PartsScroll::heightOfAll() const
{
    return leastHeightAt(contentsRect().width());
}

QSize PartsScroll::sizeHint() const
{
    const QSize hint = m_parts->totalSizeHint();
    return {
        hint.width(), m_parts->hasHeightForWidth() ? m_parts->totalHeightForWidth(viewport()->width()) : hint.height()};
}

QSize PartsScroll::minimumSizeHint() const
{
    return m_parts->totalMinimumSize();
}

void PartsScroll::fit()
{
    widget()->resize(viewport()->width(), std::max(viewport()->height(), leastHeight()));
    updateGeometry();
    showKept();
}

void PartsScroll::keepInSight(QWidget* part, int most)
{
    m_kept = part;
    m_keptHeight = most;
    m_keptFrom = verticalScrollBar()->value();
    showKept();
}

/// Where there has come to be more room, less far than before.
void PartsScroll::showKept()
{
    if (m_kept && m_kept->isVisible()) {
        verticalScrollBar()->setValue(m_keptFrom);
        const int top = m_kept->mapTo(widget(), QPoint()).y();
        ensureVisible(0, top + std::min(m_kept->height(), m_keptHeight), 0, 0);
        ensureVisible(0, top, 0, 0);
    }
}

bool PartsScroll::eventFilter(QObject* object, QEvent* event)
{
    if (object == widget() && event->type() == QEvent::LayoutRequest) {
        fit();
    }
    return QScrollArea::eventFilter(object, event);
}

void PartsScroll::resizeEvent(QResizeEvent* event)
{
    QScrollArea::resizeEvent(event);
    fit();
}

} // namespace nanscope
