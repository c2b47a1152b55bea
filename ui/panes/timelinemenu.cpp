// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What can be done with a plot, and what leaves it.
#include <QApplication>
#include <QClipboard>
#include <QMenu>

#include "ui/copying.h"
#include "ui/panes/timelinechart.h"

namespace nanscope {

namespace {

/// The keys are told, not taken: they belong to the plot that has the focus.
template <class Slot>
QAction* add(QMenu& menu, const QString& text, const char* keys, Slot slot)
{
    const QString shown = *keys ? text + QLatin1Char('\t') + QLatin1String(keys) : text;
    QAction* action = menu.addAction(shown);
    QObject::connect(action, &QAction::triggered, &menu, slot);
    return action;
}

void addZoom(QMenu& menu, TimelineView& view)
{
    const auto center = [&view] { return view.cursor().value_or(0.5 * (view.steps().low + view.steps().high)); };
    constexpr double zoomStep = 0.5;
    add(menu, TimelineChart::tr("Show all"), "Home", [&view] { view.showAll(); });
    add(menu, TimelineChart::tr("Zoom in"), "+",
        [&view, center] { view.zoomBy(zoomStep, center(), TimelineView::Gesture::fresh); });
    add(menu, TimelineChart::tr("Zoom out"), "-",
        [&view, center] { view.zoomBy(1 / zoomStep, center(), TimelineView::Gesture::fresh); });
    add(menu, TimelineChart::tr("Undo zoom"), "Ctrl+Z", [&view] { view.undo(); })->setEnabled(view.canUndo());
    add(menu, TimelineChart::tr("Redo zoom"), "Ctrl+Shift+Z", [&view] { view.redo(); })->setEnabled(view.canRedo());
}

template <class Change>
QAction* addLook(QMenu& menu, TimelineChart& chart, const QString& text, bool checked, Change change)
{
    QAction* action = add(menu, text, "", [&chart, change](bool on) {
        TimelineLook look = chart.plot()->look();
        change(look, on);
        chart.setLook(look);
        Q_EMIT chart.lookChanged();
    });
    action->setCheckable(true);
    action->setChecked(checked);
    return action;
}

void addLooks(QMenu& menu, TimelineChart& chart)
{
    const TimelineLook look = chart.plot()->look();
    addLook(menu, chart, TimelineChart::tr("Logarithmic axis"), chart.plot()->logarithmic(),
        [](TimelineLook& to, bool on) { to.scale = on ? ScaleChoice::logarithmic : ScaleChoice::linear; });
    addLook(menu, chart, TimelineChart::tr("Choose the axis by the values"), look.scale == ScaleChoice::automatic,
        [](TimelineLook& to, bool) { to.scale = ScaleChoice::automatic; });
    addLook(menu, chart, TimelineChart::tr("Ranks as a band, min to max"), chart.plot()->drawsBand(),
        [](TimelineLook& to, bool on) { to.ranks = on ? RankChoice::band : RankChoice::lines; });
    addLook(menu, chart, TimelineChart::tr("Smooth, values faint behind"), look.smooth, [](TimelineLook& to, bool on) {
        to.smooth = on;
    })->setEnabled(!chart.plot()->drawsBand());
}

void addMarks(QMenu& menu, TimelineView& view)
{
    using Marker = TimelineView::Marker;
    add(menu, TimelineChart::tr("Mark A at the cursor"), "A", [&view] { view.setMarker(Marker::a, view.cursor()); });
    add(menu, TimelineChart::tr("Mark B at the cursor"), "B", [&view] { view.setMarker(Marker::b, view.cursor()); });
    add(menu, TimelineChart::tr("Clear marks and cursor"), "Esc", [&view] {
        view.clearMarkers();
        view.setCursor(std::nullopt);
    });
}

void addCopies(QMenu& menu, TimelineChart& chart)
{
    add(menu, TimelineChart::tr("Copy what is at the cursor"), "Ctrl+C", [&chart] { chart.copyReadout(); });
    add(menu, TimelineChart::tr("Copy file:line"), "", [&chart] { chart.copyPlace(); });
    add(menu, TimelineChart::tr("Copy values as TSV"), "", [&chart] { Q_EMIT chart.rowsWanted(RowsUse::tsv); });
    add(menu, TimelineChart::tr("Copy values as JSON"), "", [&chart] { Q_EMIT chart.rowsWanted(RowsUse::json); });
    add(menu, TimelineChart::tr("Copy picture"), "", [&chart] { chart.copyPicture(); });
    add(menu, TimelineChart::tr("Save values…"), "Ctrl+Shift+S", [&chart] { Q_EMIT chart.rowsWanted(RowsUse::file); });
    add(menu, TimelineChart::tr("Save picture…"), "Ctrl+S", [&chart] { chart.savePicture(); });
    add(menu, TimelineChart::tr("Show as a table…"), "", [&chart] { Q_EMIT chart.rowsWanted(RowsUse::table); });
}

} // namespace

PictureCaption TimelineChart::caption() const
{
    constexpr std::size_t mostLabels = 24;
    return {title(), note(), legendText(mostLabels), {}};
}

void TimelineChart::copyReadout() const
{
    const auto cursor = m_plot->view()->cursor();
    if (cursor) {
        QApplication::clipboard()->setText(samplesTip(m_plot->traces(), m_plot->samplesAt(*cursor)));
    }
}

void TimelineChart::copyPlace() const
{
    const auto cursor = m_plot->view()->cursor();
    if (!cursor) {
        return;
    }
    QStringList places;
    if (const TimelineEvent* event = m_plot->eventNear(*cursor); event && event->line > 0) {
        places << QStringLiteral("%1:%2").arg(event->source).arg(event->line);
    }
    const StepSamples samples = m_plot->samplesAt(*cursor);
    for (std::size_t i = 0; i < samples.points.size(); ++i) {
        if (samples.points[i]) {
            places << placeOf(m_plot->traces()[i], *samples.points[i]);
        }
    }
    QApplication::clipboard()->setText(places.join(QLatin1Char('\n')));
}

Picture TimelineChart::picture() const
{
    return pictureOf(*m_plot->canvas());
}

void TimelineChart::copyPicture() const
{
    QApplication::clipboard()->setImage(imageOf(captioned(picture(), caption())));
}

void TimelineChart::savePicture()
{
    savePictureOf(*this, {title(), {}, [this] { return picture(); }, [this] { return caption(); }});
}

void fillTimelineMenu(QMenu& menu, TimelineChart& chart)
{
    addZoom(menu, *chart.plot()->view());
    menu.addSeparator();
    addLooks(menu, chart);
    menu.addSeparator();
    addMarks(menu, *chart.plot()->view());
    menu.addSeparator();
    addCopies(menu, chart);
}

} // namespace nanscope
