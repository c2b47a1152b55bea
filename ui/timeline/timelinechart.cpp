// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/timelinechart.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/shared/answerparts.h"
#include "ui/shared/copying.h"
#include "ui/shared/elidedlabel.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

QStringList countNotes(const SampleCounts& counts)
{
    QStringList notes;
    if (counts.nonFinite > 0) {
        notes << (counts.nonFinite == 1
                ? TimelineChart::tr("1 value in view is not finite")
                : TimelineChart::tr("%1 values in view are not finite").arg(roughCount(counts.nonFinite)));
    }
    if (const QString samples = samplesNote(counts); !samples.isEmpty()) {
        notes << samples;
    }
    return notes;
}

QString nonPositiveNote(const SampleCounts& counts)
{
    const QString count = roughCount(counts.nonPositive);
    if (counts.nonPositiveExact && counts.nonPositive == 1) {
        return TimelineChart::tr("1 value ≤ 0 has no place on this axis");
    }
    return counts.nonPositiveExact ? TimelineChart::tr("%1 values ≤ 0 have no place on this axis").arg(count)
                                   : TimelineChart::tr("at least %1 values ≤ 0 have no place on this axis").arg(count);
}

/// The keys are told, not taken: they belong to the plot that has the focus.
template <class Slot>
QAction* add(QMenu& menu, const QString& text, const char* keys, Slot slot)
{
    const QString shown = *keys ? text + QLatin1Char('\t') + QLatin1String(keys) : text;
    QAction* action = menu.addAction(shown);
    QObject::connect(action, &QAction::triggered, &menu, slot);
    return action;
}

void addZoom(QMenu& menu, TimelinePlot& plot)
{
    TimelineView& view = *plot.view();
    const auto center = [&view] { return view.cursor().value_or(0.5 * (view.steps().low + view.steps().high)); };
    constexpr double zoomStep = 0.5;
    add(menu, TimelineChart::tr("Show all"), "Home", [&view] { view.showAll(); });
    add(menu, TimelineChart::tr("Zoom in"), "+",
        [&view, center] { view.zoomBy(zoomStep, center(), TimelineView::Gesture::fresh); });
    add(menu, TimelineChart::tr("Zoom out"), "-",
        [&view, center] { view.zoomBy(1 / zoomStep, center(), TimelineView::Gesture::fresh); });
    add(menu, TimelineChart::tr("Draw a box to zoom to"), "Shift+drag", [&plot] { plot.drawBoxNext(); });
    add(menu, TimelineChart::tr("Undo zoom"), "Ctrl+Z", [&view] { view.undo(); })->setEnabled(view.canUndo());
    add(menu, TimelineChart::tr("Redo zoom"), "Ctrl+Shift+Z", [&view] { view.redo(); })->setEnabled(view.canRedo());
}

/// Several ranks of one log: its name is said once, below them.
bool areOfOneLog(const std::vector<TimelineLine>& lines)
{
    const auto differs = [&](const TimelineLine& line) { return line.source != lines.front().source; };
    const auto isOther = [&](const TimelineLine& line) { return line.style != lines.front().style; };
    return std::ranges::any_of(lines, isOther) && std::ranges::none_of(lines, differs);
}

/// With the name of the log, where the same rank has others.
QString legendLabel(const TimelineLine& line, bool namesLog, const QFontMetrics& metrics)
{
    const bool alone = !namesLog || line.otherLogs == 0 || !line.rank;
    const QString label = alone ? line.label : QStringLiteral("%1 · %2").arg(line.label, line.source);
    return metrics.elidedText(label, Qt::ElideMiddle, grid(48));
}

/// "1 of 12 logs shown", or "1 of 8 ranks shown" of a single log.
QString originsNote(const std::vector<TimelineLine>& lines)
{
    std::set<QString> shown;
    std::map<int, std::size_t> others;
    for (const TimelineLine& line : lines) {
        shown.insert(line.source);
        others[line.style] = line.otherLogs;
    }
    std::size_t all = shown.size();
    for (const auto& [style, count] : others) {
        all += count;
    }
    if (all != shown.size()) {
        const QString count = TimelineChart::tr("%1 of %2 logs shown").arg(shown.size()).arg(all);
        return areOfOneLog(lines) ? QStringLiteral("%1, %2").arg(count, lines.front().source) : count;
    }
    const std::size_t ranks = lines.empty() ? 0 : lines.front().otherRanks;
    return ranks == 0 ? QString() : TimelineChart::tr("1 of %1 ranks shown").arg(ranks + 1);
}

/// One step was chosen, and nothing to hold it against.
bool awaitsSecondMark(const TimelineView& view)
{
    return (view.placed() || view.marker(TimelineView::Marker::a)) && !view.marker(TimelineView::Marker::b);
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
    addLook(menu, chart, TimelineChart::tr("Choose the scale automatically"), look.scale == ScaleChoice::automatic,
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
    // The mouse leaves the plot for the menu.
    const auto here = view.cursor();
    const auto mark = [&](const QString& text, const char* keys, Marker which) {
        add(menu, text, keys, [&view, here, which] { view.setMarker(which, here); })->setEnabled(here.has_value());
    };
    mark(TimelineChart::tr("Set first mark A here"), "A", Marker::a);
    mark(TimelineChart::tr("Set second mark B here, to compare"), "B or Shift+click", Marker::b);
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

TimelineChart::TimelineChart(std::string name, TimelineView* view, QWidget* parent)
    : PaneFrame(seriesTitle(name), parent)
    , m_name(std::move(name))
    , m_plot(new TimelinePlot(this, view))
    , m_legend(new QLabel(this))
    , m_logButton(makeToolButton(this, "chip", tr("log"), tr("Logarithmic axis")))
    , m_menuButton(makeToolButton(this, "quiet", QStringLiteral("⋯"), tr("More for this plot")))
    , m_seriesButton(makeToolButton(this, "quiet", tr("Series"), tr("Choose the series that are shown")))
    , m_linesButton(makeToolButton(this, "quiet", tr("Logs"), tr("Choose the log or the rank that is drawn")))
    , m_readoutLine(new ElidedLabel(this))
    , m_noteLine(new ElidedLabel(this))
{
    buildHeader();
    m_noteLine->setObjectName(QStringLiteral("muted"));
    const QFont small = smallerFont(font(), 1, 7);
    m_noteLine->setFont(small);
    m_readoutLine->setFont(small);
    m_readoutLine->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_noteLine->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_noteLine->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_plot->setAccessibleName(title());
    auto* inner = new QVBoxLayout;
    inner->setContentsMargins(grid(2), 0, grid(2), grid(1));
    inner->setSpacing(0);
    inner->addWidget(m_plot, 1);
    auto* below = new QHBoxLayout;
    below->setSpacing(grid(2));
    below->addWidget(m_readoutLine);
    below->addWidget(m_noteLine, 1);
    inner->addLayout(below);
    body()->addLayout(inner, 1);
    connect(m_plot, &TimelinePlot::redrawn, this, &TimelineChart::updateTexts);
    connect(m_plot, &TimelinePlot::readoutChanged, this, [this](const QString& text) {
        showReadout(text);
        updateTexts();
        Q_EMIT readoutChanged(text);
    });
    connect(m_plot, &TimelinePlot::copyRequested, this, &TimelineChart::copyReadout);
    addCommand(*m_plot, tr("Save values…"), tr("The values of the steps shown as a CSV, TSV or JSON file"),
        saveValuesKeys(), [this] { Q_EMIT rowsWanted(RowsUse::file); });
    addCommand(*m_plot, tr("Save picture…"), tr("The plot as a PNG, SVG or PDF file"), savePictureKeys(),
        [this] { savePicture(); });
    connect(m_plot, &TimelinePlot::menuRequested, this, [this](const QPoint& at) {
        QMenu menu(this);
        fillMenu(menu);
        menu.exec(at);
    });
    onThemeChange(*this, [this] { updateLegend(); });
}

void TimelineChart::buildHeader()
{
    m_legend->setTextFormat(Qt::RichText);
    m_legend->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    header()->insertWidget(1, m_legend, 1);
    showReadout({});
    m_logButton->setCheckable(true);
    m_logButton->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    auto* menu = new QMenu(m_menuButton);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        fillMenu(*menu);
    });
    m_menuButton->setMenu(menu);
    m_menuButton->setPopupMode(QToolButton::InstantPopup);
    for (auto* button : {m_seriesButton, m_linesButton}) {
        button->setPopupMode(QToolButton::InstantPopup);
        button->hide();
    }
    for (auto* button : {m_logButton, m_seriesButton, m_linesButton, m_menuButton}) {
        button->setAccessibleName(button->toolTip());
        button->setFocusPolicy(Qt::TabFocus);
        header()->addWidget(button);
    }
    connect(m_logButton, &QToolButton::clicked, this, [this](bool checked) {
        TimelineLook look = m_plot->look();
        look.scale = checked ? ScaleChoice::logarithmic : ScaleChoice::linear;
        toggleLook(look);
    });
}

/// Beside the legend it would be cut, or take its place: only a low chart has no line below for it.
void TimelineChart::showReadout(const QString& text)
{
    const bool low = height() < comfortableHeight;
    setNote(low ? text : QString());
    m_readoutLine->setFullText(low ? QString() : text);
    m_readoutLine->setVisible(!m_readoutLine->fullText().isEmpty());
    m_legend->setVisible(!low || text.isEmpty());
    findChild<QLabel*>(QStringLiteral("paneNote"))->setVisible(low && !text.isEmpty());
}

QString TimelineChart::title() const
{
    return seriesTitle(m_name);
}

void TimelineChart::setSeriesMenu(QMenu* menu)
{
    m_seriesButton->setMenu(menu);
    m_seriesButton->setVisible(menu != nullptr);
}

bool TimelineChart::hasSeriesMenu() const
{
    return m_seriesButton->menu() != nullptr;
}

void TimelineChart::setLinesMenu(QMenu* menu)
{
    m_linesButton->setMenu(menu);
    m_linesButton->setVisible(menu != nullptr);
}

void TimelineChart::setLines(std::vector<TimelineLine> lines)
{
    m_lines = std::move(lines);
    m_problem.clear();
    std::vector<TimelineTrace> traces;
    for (const TimelineLine& line : m_lines) {
        const auto old = std::ranges::find_if(m_plot->traces(),
            [&](const TimelineTrace& trace) { return trace.label == line.label && trace.source == line.source; });
        auto buckets = old == m_plot->traces().end() ? std::vector<Bucket> {} : old->buckets;
        traces.push_back({line.label, std::move(buckets), line.source, line.style});
    }
    m_plot->setTraces(std::move(traces));
}

void TimelineChart::refine(std::vector<std::vector<Bucket>> lines)
{
    std::vector<TimelineTrace> traces = m_plot->traces();
    for (std::size_t i = 0; i < std::min(traces.size(), lines.size()); ++i) {
        traces[i].buckets = std::move(lines[i]);
    }
    m_problem.clear();
    m_plot->refineTraces(std::move(traces));
}

bool TimelineChart::isComplete() const
{
    return std::ranges::all_of(m_plot->traces(), [](const TimelineTrace& trace) {
        return !trace.buckets.empty()
            && std::ranges::all_of(trace.buckets, [](const Bucket& bucket) { return bucket.count == 1; });
    });
}

void TimelineChart::setProblem(const QString& problem)
{
    m_problem = problem;
    updateTexts();
}

void TimelineChart::setRemark(const QString& remark)
{
    if (std::exchange(m_remark, remark) != remark) {
        updateTexts();
    }
}

void TimelineChart::setLook(const TimelineLook& look)
{
    m_plot->setLook(look);
    updateTexts();
}

void TimelineChart::toggleLook(const TimelineLook& look)
{
    setLook(look);
    Q_EMIT lookChanged();
}

QString TimelineChart::legendText(std::size_t mostLabels) const
{
    constexpr const char16_t* strokes[] = {u"━━", u"╍╍", u"┈┈"};
    const auto entry = [](const QColor& color, const QString& stroke, const QString& label) {
        return QStringLiteral("<span style='color:%1'>%2</span>&nbsp;<span style='color:%3'>%4</span>")
            .arg(color.name(), stroke, theme().muted.name(), label.toHtmlEscaped());
    };
    if (m_plot->drawsBand()) {
        return entry(theme().ranks[0], QString::fromUtf16(strokes[0]), tr("median of %1").arg(m_lines.size()))
            + QStringLiteral("&nbsp;&nbsp;") + entry(theme().ranks[0], QStringLiteral("▒"), tr("min to max"));
    }
    std::map<int, QString> ranks;
    const bool namesLog = !areOfOneLog(m_lines);
    for (const TimelineLine& line : m_lines) {
        ranks.try_emplace(line.style, legendLabel(line, namesLog, fontMetrics()));
    }
    QStringList parts;
    for (const auto& [style, label] : ranks) {
        const auto at = static_cast<std::size_t>(style);
        if (at < mostLabels) {
            parts << entry(
                theme().ranks[at % theme().ranks.size()], QString::fromUtf16(strokes[at % std::size(strokes)]), label);
        }
    }
    if (ranks.size() > mostLabels) {
        parts << QStringLiteral("…");
    }
    return parts.join(QStringLiteral("&nbsp;&nbsp;"));
}

QString TimelineChart::note() const
{
    QStringList notes;
    if (!m_problem.isEmpty()) {
        notes << m_problem;
    }
    if (const QString delta = m_plot->delta(); !delta.isEmpty()) {
        notes << delta;
    }
    if (const QString origins = originsNote(m_lines); !origins.isEmpty()) {
        notes << origins;
    }
    if (!m_remark.isEmpty()) {
        notes << m_remark;
    }
    notes += countNotes(m_plot->counts());
    if (m_plot->logarithmic() && m_plot->counts().nonPositive > 0) {
        notes << nonPositiveNote(m_plot->counts());
    }
    if (m_plot->hiddenLines() > 0) {
        const auto all = static_cast<qlonglong>(m_lines.size());
        notes << tr("showing %1 of %2 lines").arg(all - static_cast<qlonglong>(m_plot->hiddenLines())).arg(all);
    }
    if (m_plot->look().smooth && !m_plot->drawsBand()) {
        notes << tr("smoothed, the values behind");
    }
    return notes.join(QStringLiteral(" · "));
}

/// In a narrow chart the curves' names come before the buttons, whose menus are in the menu of the plot then.
bool TimelineChart::makesRoomForLegend(int wanted)
{
    const int spacing = header()->spacing();
    int room = m_legend->width();
    int taken = 0;
    for (const QToolButton* button : {m_seriesButton, m_linesButton}) {
        if (button->menu() != nullptr) {
            room += button->isHidden() ? 0 : button->width() + spacing;
            taken += button->sizeHint().width() + spacing;
        }
    }
    const bool crowded = wanted > room - taken;
    bool changed = false;
    for (QToolButton* button : {m_seriesButton, m_linesButton}) {
        const bool hidden = crowded || button->menu() == nullptr;
        changed = changed || button->isHidden() != hidden;
        button->setHidden(hidden);
    }
    return changed;
}

void TimelineChart::updateLegend()
{
    constexpr std::size_t most = 8;
    m_legend->setText(legendText(most));
    if (makesRoomForLegend(m_legend->sizeHint().width())) {
        QMetaObject::invokeMethod(this, &TimelineChart::updateLegend, Qt::QueuedConnection);
    }
    for (std::size_t labels = most; labels > 0 && m_legend->sizeHint().width() > m_legend->width(); --labels) {
        m_legend->setText(labels > 1 ? legendText(labels - 1) : QString());
    }
}

void TimelineChart::resizeEvent(QResizeEvent* event)
{
    PaneFrame::resizeEvent(event);
    updateLegend();
    spareRoom();
}

/// Where there is little, the curve and its axis come before margins and the name of the axis.
void TimelineChart::spareRoom()
{
    const bool low = height() < comfortableHeight;
    header()->setContentsMargins(grid(3), low ? grid(1) : grid(2), grid(3), low ? 0 : grid(1));
    m_noteLine->setVisible(!low || !note().isEmpty() || awaitsSecondMark(*m_plot->view()));
    showReadout(m_plot->readout());
}

void TimelineChart::updateTexts()
{
    updateLegend();
    const QString note = this->note();
    QStringList shown {note};
    if (awaitsSecondMark(*m_plot->view())) {
        shown.append(tr("Shift+click another step to compare"));
    }
    shown.removeAll(QString());
    // The difference between two marks is longer than one line of a narrow chart.
    m_noteLine->setLines(1, m_plot->delta().isEmpty() ? 1 : 2);
    m_noteLine->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_noteLine->setFullText(shown.isEmpty() ? tr("step") : shown.join(QStringLiteral(" · ")));
    spareRoom();
    m_plot->setAccessibleDescription(note);
    m_logButton->setChecked(m_plot->logarithmic());
}

void TimelineChart::fillMenu(QMenu& menu)
{
    addZoom(menu, *m_plot);
    menu.addSeparator();
    addLooks(menu, *this);
    menu.addSeparator();
    addMarks(menu, *m_plot->view());
    menu.addSeparator();
    addCopies(menu, *this);
    for (const QToolButton* button : {m_seriesButton, m_linesButton}) {
        if (button->menu() != nullptr) {
            menu.addMenu(button->menu());
        }
    }
    Q_EMIT menuFilled(&menu);
}

// What can be done with a plot, and what leaves it.

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

} // namespace nanscope
