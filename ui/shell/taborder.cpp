// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/taborder.h"

#include <algorithm>

#include <QAbstractScrollArea>
#include <QScrollArea>
#include <QWidget>

#include "ui/shared/keys.h"

namespace nanscope {

namespace {

bool isStop(const QWidget& widget)
{
    return widget.isEnabled() && (widget.focusPolicy() & Qt::TabFocus) == Qt::TabFocus && !widget.focusProxy();
}

bool sameRow(const QRect& a, const QRect& b)
{
    const int shared = std::min(a.bottom(), b.bottom()) - std::max(a.top(), b.top());
    return 2 * shared > std::min(a.height(), b.height());
}

/// What is outside its parent is a dock behind a tab: it counts as visible, and nobody sees it.
std::vector<QWidget*> partsOf(const QWidget& parent)
{
    std::vector<QWidget*> parts;
    for (QObject* child : parent.children()) {
        auto* widget = qobject_cast<QWidget*>(child);
        if (widget && !widget->isWindow() && widget->isVisible() && widget->geometry().intersects(parent.rect())) {
            parts.push_back(widget);
        }
    }
    return parts;
}

std::vector<QWidget*> inReadingOrder(std::vector<QWidget*> parts)
{
    std::ranges::stable_sort(parts, {}, [](const QWidget* part) { return part->y(); });
    for (auto row = parts.begin(); row != parts.end();) {
        const QRect first = (*row)->geometry();
        const auto end =
            std::find_if_not(row, parts.end(), [&](const QWidget* part) { return sameRow(first, part->geometry()); });
        // A part without height shares no row with anything, itself included.
        const auto next = std::max(end, row + 1);
        std::stable_sort(row, next, [](const QWidget* a, const QWidget* b) { return a->x() < b->x(); });
        row = next;
    }
    return parts;
}

void collect(QWidget& widget, std::vector<QWidget*>& stops)
{
    if (isStop(widget)) {
        stops.push_back(&widget);
    }
    for (QWidget* part : inReadingOrder(partsOf(widget))) {
        collect(*part, stops);
    }
}

/// Where the focus is, or the stop that it lies in; past the end where it is elsewhere.
std::vector<QWidget*>::const_iterator placeOf(const QWidget* focused, const std::vector<QWidget*>& stops)
{
    auto place = stops.end();
    for (; focused && place == stops.end(); focused = focused->parentWidget()) {
        place = std::ranges::find(stops, focused);
    }
    return place;
}

void scrollTo(QWidget& widget)
{
    for (QWidget* around = widget.parentWidget(); around; around = around->parentWidget()) {
        if (auto* area = qobject_cast<QScrollArea*>(around)) {
            area->ensureWidgetVisible(&widget);
        }
    }
}

} // namespace

std::vector<QWidget*> tabStops(QWidget& parent)
{
    std::vector<QWidget*> stops;
    collect(parent, stops);
    return stops;
}

bool focusNextStop(QWidget& window, bool forward)
{
    std::vector<QWidget*> stops = tabStops(window);
    if (stops.empty()) {
        return false;
    }
    if (!forward) {
        std::ranges::reverse(stops);
    }
    const auto place = placeOf(window.focusWidget(), stops);
    const auto next = place == stops.end() || place + 1 == stops.end() ? stops.begin() : place + 1;
    (*next)->setFocus(forward ? Qt::TabFocusReason : Qt::BacktabFocusReason);
    scrollTo(**next);
    return true;
}

QWidget* workplaceOf(QWidget& pane)
{
    const std::vector<QWidget*> stops = tabStops(pane);
    const auto place = std::ranges::find_if(stops,
        [](QWidget* stop) { return dynamic_cast<const KeyUser*>(stop) || qobject_cast<QAbstractScrollArea*>(stop); });
    if (place != stops.end()) {
        return *place;
    }
    return stops.empty() ? nullptr : stops.front();
}

} // namespace nanscope
