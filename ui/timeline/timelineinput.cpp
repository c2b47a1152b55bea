// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/timelineinput.h"

#include <algorithm>
#include <cmath>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

#include "ui/shared/qcp.h"
#include "ui/shared/text.h"
#include "ui/timeline/timelineplot.h"

namespace nanscope {

namespace {

constexpr double zoomStep = 0.8;
constexpr double zoomPerNotch = 0.85;

} // namespace

TimelineInput::TimelineInput(TimelinePlot& plot, QCustomPlot& canvas)
    : QObject(&plot)
    , m_plot(plot)
{
    canvas.installEventFilter(this);
    canvas.setMouseTracking(true);
    plot.installEventFilter(this);
}

bool TimelineInput::eventFilter(QObject* watched, QEvent* event)
{
    return watched == &m_plot ? onPlot(event) : onCanvas(event);
}

bool TimelineInput::onCanvas(QEvent* event)
{
    switch (event->type()) {
    case QEvent::MouseButtonPress:
        press(*static_cast<QMouseEvent*>(event));
        return false;
    case QEvent::MouseMove:
        move(*static_cast<QMouseEvent*>(event));
        return false;
    case QEvent::MouseButtonRelease:
        release(*static_cast<QMouseEvent*>(event));
        return false;
    case QEvent::MouseButtonDblClick:
        m_drag.reset();
        m_plot.view()->showAll();
        return true;
    case QEvent::Wheel:
        wheel(*static_cast<QWheelEvent*>(event));
        return true;
    case QEvent::Leave:
        m_plot.view()->setHover(std::nullopt);
        return false;
    case QEvent::ToolTip:
        showTip(static_cast<QHelpEvent*>(event)->pos(), static_cast<QHelpEvent*>(event)->globalPos());
        return true;
    default:
        return false;
    }
}

bool TimelineInput::onPlot(QEvent* event)
{
    // Without this the window's own shortcuts would take Ctrl+Z and its kin away.
    if (event->type() == QEvent::ShortcutOverride) {
        const auto& pressed = *static_cast<QKeyEvent*>(event);
        const bool ours = pressed.matches(QKeySequence::Undo) || pressed.matches(QKeySequence::Redo)
            || pressed.matches(QKeySequence::Copy) || pressed.key() == Qt::Key_Backspace;
        event->setAccepted(ours);
        return ours;
    }
    return event->type() == QEvent::KeyPress && key(*static_cast<QKeyEvent*>(event));
}

void TimelineInput::press(const QMouseEvent& event)
{
    m_plot.setFocus(Qt::MouseFocusReason);
    if (event.button() == Qt::LeftButton) {
        // Where all steps are in sight there is nowhere to move to.
        const bool box = std::exchange(m_boxNext, false) || event.modifiers().testFlag(Qt::ShiftModifier)
            || m_plot.view()->showsAll();
        m_drag = Drag {event.position(), m_plot.stepOfPixel(event.position().x()), box, false};
    }
}

void TimelineInput::move(const QMouseEvent& event)
{
    const double step = m_plot.stepOfPixel(event.position().x());
    if (!m_drag) {
        m_plot.view()->setHover(std::round(step));
        showReach(event.modifiers());
        return;
    }
    const bool began = m_drag->moved;
    m_drag->moved = began || (event.position() - m_drag->from).manhattanLength() > 3;
    if (!m_drag->moved) {
        return;
    }
    if (m_drag->box) {
        m_plot.showBox(Interval {std::min(m_drag->step, step), std::max(m_drag->step, step)});
    } else {
        m_plot.view()->panBy(m_drag->step - step, began ? Gesture::ongoing : Gesture::fresh);
    }
}

void TimelineInput::drawBoxNext()
{
    m_boxNext = true;
    m_plot.setCursor(Qt::CrossCursor);
}

/// What a drag would do.
void TimelineInput::showReach(Qt::KeyboardModifiers modifiers)
{
    const bool box = m_boxNext || modifiers.testFlag(Qt::ShiftModifier);
    if (box && m_plot.cursor().shape() != Qt::CrossCursor) {
        m_plot.setCursor(Qt::CrossCursor);
    } else if (!box && m_plot.cursor().shape() == Qt::CrossCursor) {
        m_plot.unsetCursor();
    }
}

void TimelineInput::release(const QMouseEvent& event)
{
    const std::optional<Drag> drag = std::exchange(m_drag, std::nullopt);
    m_plot.unsetCursor();
    if (!drag) {
        return;
    }
    const double step = m_plot.stepOfPixel(event.position().x());
    m_plot.showBox(std::nullopt);
    if (drag->moved && drag->box) {
        m_plot.view()->zoomTo({std::min(drag->step, step), std::max(drag->step, step)}, Gesture::fresh);
    } else if (!drag->moved) {
        if (event.modifiers().testFlag(Qt::ShiftModifier)) {
            m_plot.view()->compareWith(std::round(step));
        } else if (const TimelineEvent* hit = m_plot.eventAt(event.position())) {
            m_plot.activateEvent(*hit);
        } else {
            m_plot.view()->setCursor(std::round(step));
        }
    }
}

void TimelineInput::wheel(const QWheelEvent& event)
{
    constexpr double notch = 120;
    const double factor = std::pow(zoomPerNotch, event.angleDelta().y() / notch);
    if (m_plot.isOverValueAxis(event.position()) && !m_plot.logarithmic()) {
        const Interval values = m_plot.valueRange();
        const double center = m_plot.valueOfPixel(event.position().y());
        m_plot.view()->zoomValues(&m_plot,
            {center - (center - values.low) * factor, center + (values.high - center) * factor}, Gesture::wheel);
        return;
    }
    if (event.angleDelta().y() != 0) {
        m_plot.view()->zoomBy(factor, m_plot.stepOfPixel(event.position().x()), Gesture::wheel);
    } else {
        const Interval steps = m_plot.stepRange();
        m_plot.view()->panBy(-event.angleDelta().x() / notch * 0.1 * (steps.high - steps.low), Gesture::wheel);
    }
}

void TimelineInput::showTip(const QPointF& at, const QPoint& global)
{
    QStringList lines {m_plot.tipAt(at)};
    lines << TimelinePlot::tr("Click a step and Shift+click another to compare them")
          << TimelinePlot::tr(
                 "Wheel: zoom; drag: zoom to a box while all is shown, else move; Shift+drag: zoom to a box");
    lines.removeAll(QString());
    QToolTip::showText(global, plainTip(lines.join(QLatin1Char('\n'))), &m_plot);
}

void TimelineInput::zoomByKey(double factor)
{
    TimelineView& view = *m_plot.view();
    const Interval steps = view.steps();
    const double middle = 0.5 * (steps.low + steps.high);
    const double cursor = view.cursor().value_or(middle);
    const bool inside = cursor >= steps.low && cursor <= steps.high;
    view.zoomBy(factor, inside ? cursor : middle, Gesture::fresh);
}

bool TimelineInput::navigate(int key, Qt::KeyboardModifiers modifiers)
{
    const int direction = key == Qt::Key_Right || key == Qt::Key_PageDown ? 1 : -1;
    switch (key) {
    case Qt::Key_Left:
    case Qt::Key_Right:
        modifiers.testFlag(Qt::ControlModifier) ? m_plot.jumpCursor(direction) : m_plot.stepCursor(direction);
        return true;
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
        m_plot.view()->panBy(0.5 * direction * (m_plot.stepRange().high - m_plot.stepRange().low), Gesture::fresh);
        return true;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        zoomByKey(zoomStep);
        return true;
    case Qt::Key_Minus:
        zoomByKey(1 / zoomStep);
        return true;
    case Qt::Key_Home:
    case Qt::Key_0:
        m_plot.view()->showAll();
        return true;
    default:
        return false;
    }
}

bool TimelineInput::mark(int key)
{
    TimelineView& view = *m_plot.view();
    switch (key) {
    case Qt::Key_A:
    case Qt::Key_B:
        view.setMarker(key == Qt::Key_A ? TimelineView::Marker::a : TimelineView::Marker::b, view.cursor());
        return true;
    case Qt::Key_Escape:
        m_boxNext = false;
        m_plot.unsetCursor();
        view.clearMarkers();
        view.setCursor(std::nullopt);
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (const TimelineEvent* event = view.cursor() ? m_plot.eventNear(*view.cursor()) : nullptr) {
            m_plot.activateEvent(*event);
        }
        return true;
    default:
        return false;
    }
}

QString TimelinePlot::keysTitle() const
{
    return tr("Timelines");
}

std::vector<KeyHint> TimelinePlot::keyHints() const
{
    return {{{Qt::Key_Left, Qt::Key_Right}, tr("cursor to the sample before or after, with Ctrl to the next mark"), {}},
        {{Qt::Key_PageUp, Qt::Key_PageDown}, tr("half a width to the left or right"), {}},
        {{Qt::Key_Plus, Qt::Key_Equal, Qt::Key_Minus}, tr("zoom in and out at the cursor"), {}},
        {{Qt::Key_Home, Qt::Key_0}, tr("show all steps"), {}},
        {{Qt::Key_A, Qt::Key_B}, tr("mark A or B at the cursor"), {}},
        {{Qt::Key_Return, Qt::Key_Enter}, tr("open the event at the cursor"), {}},
        {{Qt::Key_Escape}, tr("clear marks and cursor"), {}},
        {{QKeySequence::Undo, Qt::Key_Backspace, Qt::ALT | Qt::Key_Left}, tr("undo the last zoom"), {}},
        {{QKeySequence::Redo, Qt::SHIFT | Qt::Key_Backspace, Qt::ALT | Qt::Key_Right}, tr("redo it"), {}},
        {{QKeySequence::Copy}, tr("copy what is at the cursor"), {}},
        {{},
            tr("put the cursor; compare with a second step; zoom at the cursor (over an axis: that axis); move, or "
               "zoom to a box while all is shown; zoom to a box; show all"),
            tr("click; Shift+click; wheel; drag; Shift+drag; double click")}};
}

bool TimelineInput::key(const QKeyEvent& event)
{
    if (const HistoryKey step = historyKeyOf(event); step != HistoryKey::none) {
        step == HistoryKey::forward ? m_plot.view()->redo() : m_plot.view()->undo();
        return true;
    }
    if (event.matches(QKeySequence::Copy)) {
        Q_EMIT m_plot.copyRequested();
        return true;
    }
    const auto modifiers = event.modifiers();
    if (navigate(event.key(), modifiers)) {
        return true;
    }
    return !(modifiers & (Qt::ControlModifier | Qt::AltModifier)) && mark(event.key());
}

} // namespace nanscope
