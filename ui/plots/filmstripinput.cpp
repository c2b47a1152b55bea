// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Mouse and keys of a film strip, and what it tells where the mouse rests.
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>

#include "ui/plots/filmstrip.h"
#include "ui/plots/heatview.h"
#include "ui/text.h"

namespace nanscope {

void FilmStrip::mousePressEvent(QMouseEvent* event)
{
    if (const int frame = frameAt(event->position().toPoint()); frame >= 0) {
        setCurrent(frame);
    }
}

void FilmStrip::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (const int frame = frameAt(event->position().toPoint()); frame >= 0) {
        Q_EMIT activated(frame);
    }
}

QString FilmStrip::keysTitle() const
{
    return tr("Film strip");
}

std::vector<KeyHint> FilmStrip::keyHints() const
{
    return {{{Qt::Key_Left, Qt::Key_Right}, tr("the same op one step before or after"), {}},
        {{Qt::Key_Up, Qt::Key_Down}, tr("the op before or after"), {}},
        {{Qt::Key_Home, Qt::Key_End}, tr("first and last frame"), {}},
        {{Qt::Key_B}, tr("the birth: where values first went non-finite"), {}},
        {{Qt::Key_F}, tr("plant a fault: what if this frame had gone bad?"), {}},
        {{Qt::Key_Return, Qt::Key_Enter}, tr("look at the frame in the large view"), {}},
        {{Qt::Key_Backspace, Qt::SHIFT | Qt::Key_Backspace}, tr("previous and next part of the large view"), {}},
        {{}, tr("select a frame, look at it in the large view"), tr("click, double click")}};
}

void FilmStrip::keyPressEvent(QKeyEvent* event)
{
    if (!m_film || m_current < 0) {
        QWidget::keyPressEvent(event);
        return;
    }
    const auto [column, row] = m_grid.places[static_cast<std::size_t>(m_current)];
    const auto go = [this](int frame) { setCurrent(frame >= 0 ? frame : m_current); };
    switch (event->key()) {
    case Qt::Key_Left:
        return go(m_grid.frameNear(column - 1, row));
    case Qt::Key_Right:
        return go(m_grid.frameNear(column + 1, row));
    case Qt::Key_Up:
        return go(m_current - 1);
    case Qt::Key_Down:
        return setCurrent(m_current + 1);
    case Qt::Key_Home:
        return setCurrent(0);
    case Qt::Key_End:
        return setCurrent(static_cast<int>(m_film->frames.size()) - 1);
    case Qt::Key_B:
        return go(m_film->birth);
    case Qt::Key_F:
        Q_EMIT plantRequested();
        return;
    case Qt::Key_Backspace:
        event->modifiers().testFlag(Qt::ShiftModifier) ? m_view->goForward() : m_view->goBack();
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        Q_EMIT activated(m_current);
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

bool FilmStrip::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip) {
        return QWidget::event(event);
    }
    const auto* help = static_cast<QHelpEvent*>(event);
    const int frame = frameAt(help->pos());
    if (frame < 0) {
        QToolTip::hideText();
        return true;
    }
    const FilmFrame& shown = m_film->frames[static_cast<std::size_t>(frame)];
    const Scan& scan = shown.picture->scan;
    const LogScale scale = scaleOfFrame(frame);
    const QString range = tr("colours of log10|x| from %1 to %2").arg(scale.low, 0, 'f', 1).arg(scale.high, 0, 'f', 1);
    QToolTip::showText(help->globalPos(),
        tr("%1: %2\n%3 × %4, |x| ≤ %5, %6 NaN, %7 ±Inf, %8 zero\n%9")
            .arg(frameLabel(shown), opFormula(shown.name))
            .arg(shown.picture->tiles.rows)
            .arg(shown.picture->tiles.cols)
            .arg(roundNumber(scan.absmax), countLabel(scan.nan), countLabel(scan.posInf + scan.negInf),
                countLabel(scan.zero), isShared() ? tr("%1, one scale for both").arg(range) : range),
        this, frameRect(frame));
    return true;
}

} // namespace nanscope
