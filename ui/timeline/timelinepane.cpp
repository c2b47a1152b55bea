// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/timelinepane.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QGridLayout>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QMenu>
#include <QScrollArea>
#include <QVBoxLayout>

#include "ui/shared/saving.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/timeline/linesdialog.h"
#include "ui/timeline/timelinefeed.h"
#include "ui/timeline/timelinetable.h"

namespace nanscope {

namespace {

constexpr int narrowestChart = 380;
constexpr int lowestPane = 120;
constexpr int narrowestPane = 300;

std::optional<Interval> stepsOf(const RunData& run, const std::vector<TimelineLine>& lines)
{
    std::optional<Interval> steps;
    for (const TimelineLine& line : lines) {
        for (const std::size_t part : line.parts) {
            const Series& series = run.series[part];
            if (!series.points.empty()) {
                steps = united(steps,
                    Interval {static_cast<double>(series.points.front().step),
                        static_cast<double>(series.points.back().step)});
            } else if (series.pointCount + series.missing > 0) {
                steps = united(
                    steps, Interval {static_cast<double>(series.firstStep), static_cast<double>(series.lastStep)});
            }
        }
    }
    return steps;
}

std::vector<std::int64_t> idsOf(const RunData& run)
{
    std::vector<std::int64_t> ids;
    std::ranges::transform(run.series, std::back_inserter(ids), &Series::id);
    return ids;
}

constexpr int timelineStateVersion = 1;
constexpr const char* scaleNames[] = {"automatic", "linear", "logarithmic"};
constexpr const char* rankModeNames[] = {"automatic", "lines", "band"};
constexpr const char* choiceNames[] = {"automatic", "all", "one"};

template <class Choice>
QString nameOf(const char* const (&names)[3], Choice choice)
{
    return QLatin1String(names[static_cast<std::size_t>(choice)]);
}

/// A word of another version means the default.
template <class Choice>
Choice choiceOf(const char* const (&names)[3], const QJsonValue& name)
{
    for (std::size_t i = 0; i < std::size(names); ++i) {
        if (name.toString() == QLatin1String(names[i])) {
            return static_cast<Choice>(i);
        }
    }
    return Choice::automatic;
}

QJsonObject asJson(const TimelineLook& look)
{
    return {{QStringLiteral("scale"), nameOf(scaleNames, look.scale)},
        {QStringLiteral("ranks"), nameOf(rankModeNames, look.ranks)}, {QStringLiteral("smooth"), look.smooth}};
}

TimelineLook lookFrom(const QJsonObject& json)
{
    return {choiceOf<ScaleChoice>(scaleNames, json.value(QStringLiteral("scale"))),
        choiceOf<RankChoice>(rankModeNames, json.value(QStringLiteral("ranks"))),
        json.value(QStringLiteral("smooth")).toBool()};
}

QJsonObject asJson(const LineChoice& choice)
{
    QJsonObject json {{QStringLiteral("which"), nameOf(choiceNames, choice.which)}};
    if (choice.which == LineChoice::Which::one) {
        json.insert(QStringLiteral("run"), exactText(choice.run));
        json.insert(QStringLiteral("log"), exactText(choice.one.source));
        json.insert(QStringLiteral("rank"), choice.one.rank ? QJsonValue(*choice.one.rank) : QJsonValue());
    }
    return json;
}

LineChoice lineChoiceFrom(const QJsonObject& json)
{
    const QJsonValue rank = json.value(QStringLiteral("rank"));
    return {choiceOf<LineChoice::Which>(choiceNames, json.value(QStringLiteral("which"))),
        json.value(QStringLiteral("run")).toString().toStdString(),
        {rank.isDouble() ? std::optional<int>(rank.toInt()) : std::nullopt,
            json.value(QStringLiteral("log")).toString().toStdString()}};
}

} // namespace

TimelinePane::TimelinePane(QWidget* parent)
    : QWidget(parent)
    , m_view(new TimelineView(this))
    , m_feed(new TimelineFeed(*m_view, this))
    , m_seriesMenu(new QMenu(tr("Timelines"), this))
    , m_linesMenu(new QMenu(tr("Logs and ranks"), this))
    , m_scroll(new QScrollArea(this))
    , m_grid(new QGridLayout)
{
    auto* contents = new QWidget;
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(grid(2));
    contents->setLayout(m_grid);
    contents->setAutoFillBackground(false);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->viewport()->setAutoFillBackground(false);
    m_scroll->setWidget(contents);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_scroll);
    m_empty = new QLabel(this);
    m_empty->setObjectName(QStringLiteral("muted"));
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->hide();
    layout->addWidget(m_empty);
    setMinimumSize(narrowestPane, lowestPane);
    connect(m_seriesMenu, &QMenu::aboutToShow, this, [this] {
        m_seriesMenu->clear();
        fillSeriesMenu(*m_seriesMenu);
    });
    m_linesMenu->setToolTipsVisible(true);
    connect(m_linesMenu, &QMenu::aboutToShow, this, &TimelinePane::fillLinesMenu);
    chart("loss");
    chart("grad_norm");
}

TimelinePane::~TimelinePane()
{
    // The view is the oldest child and would go first; the feed must not hear what the charts do when they go.
    delete m_feed;
    m_view->blockSignals(true);
    delete m_scroll;
}

QSize TimelinePane::sizeHint() const
{
    return {2 * narrowestChart + grid(30), 2 * lowestPane};
}

TimelineChart* TimelinePane::chart(std::string_view name)
{
    const auto known = m_charts.find(name);
    return known != m_charts.end() ? known->second : makeChart(std::string(name));
}

TimelineChart* TimelinePane::makeChart(const std::string& name)
{
    auto* chart = new TimelineChart(name, m_view, m_scroll->widget());
    chart->hide();
    m_charts[name] = chart;
    if (const auto look = m_looks.find(name); look != m_looks.end()) {
        chart->setLook(look->second);
    }
    connect(chart->plot(), &TimelinePlot::eventActivated, this, &TimelinePane::eventActivated);
    connect(chart->plot(), &TimelinePlot::columnsChanged, this, [this, chart] { m_feed->fit(*chart); });
    connect(chart->plot(), &TimelinePlot::sampleWanted, this,
        [this, chart](double from, int direction) { m_feed->stepCursor(*chart, from, direction); });
    connect(chart, &TimelineChart::readoutChanged, this, [this, chart](const QString& text) {
        // All charts follow the cursor; the window hears of the one in use.
        if (chart->underMouse() || chart->plot()->hasFocus() || text.isEmpty()) {
            Q_EMIT readoutChanged(text);
        }
    });
    connect(chart, &TimelineChart::rowsWanted, this, [this, chart](RowsUse use) { useRows(*chart, use); });
    connect(chart, &TimelineChart::lookChanged, this, [this, chart] {
        m_looks[chart->name()] = chart->plot()->look();
        Q_EMIT stateChanged();
    });
    connect(chart, &TimelineChart::menuFilled, this, [this, chart](QMenu* menu) {
        // The first chart has a button for it.
        if (!chart->hasSeriesMenu()) {
            menu->addSeparator();
            fillSeriesMenu(*menu->addMenu(tr("Series")));
        }
    });
    return chart;
}

void TimelinePane::setRun(const RunData* run, const Diagnosis* diagnosis, const std::filesystem::path& session)
{
    const bool sameRun = run && run == m_run && session == m_session;
    if (!run) {
        m_nextPlace.clear();
    }
    const bool sameFile = run && m_run && !session.empty() && session == m_session;
    m_run = run;
    m_session = session;
    m_stepped = run ? eventsOf(*run, diagnosis) : std::vector<TimelineEvent> {};
    if (!sameRun) {
        m_feed->setStore(makeStore(), !session.empty());
    }
    if (sameRun || sameFile) {
        // A new diagnosis, or more of the same log, is no reason to leave the steps the user looks at.
        showEvents();
        for (TimelineChart* chart : visibleCharts()) {
            if (!sameRun) {
                chart->setLines(linesFor(chart->name()));
            }
        }
    } else {
        forgetRun();
        m_events = m_stepped;
    }
    if (!sameRun) {
        refill();
        placeEvents();
    }
}

/// Between which steps a line stands only the points of its log tell, and these are read for it.
void TimelinePane::placeEvents()
{
    std::vector<SteplessEvents> logs = m_run ? steplessEvents(*m_run) : std::vector<SteplessEvents> {};
    if (logs.empty()) {
        onPlaced({}, {});
        return;
    }
    std::vector<TimelineFeed::LogLines> wanted;
    for (const SteplessEvents& log : logs) {
        TimelineFeed::LogLines& lines = wanted.emplace_back(TimelineFeed::LogLines {log.parts, {}});
        std::ranges::transform(
            log.events, std::back_inserter(lines.lines), [](const Event* event) { return event->line; });
    }
    m_feed->placeLines(
        std::move(wanted), [this, logs = std::move(logs)](const auto& places) { onPlaced(logs, places); });
}

void TimelinePane::onPlaced(const std::vector<SteplessEvents>& logs, const std::vector<std::vector<LineSteps>>& places)
{
    m_placed.clear();
    std::vector<const Event*> unplaced;
    for (std::size_t log = 0; log < logs.size(); ++log) {
        for (std::size_t i = 0; i < logs[log].events.size(); ++i) {
            const Event* event = logs[log].events[i];
            if (auto placed = placedEvent(*event, places[log][i])) {
                m_placed.push_back(std::move(*placed));
            } else {
                unplaced.push_back(event);
            }
        }
    }
    m_unplaced = unplacedNote(unplaced);
    showEvents();
    arrange();
}

void TimelinePane::showEvents()
{
    m_events = m_stepped;
    m_events.insert(m_events.end(), m_placed.begin(), m_placed.end());
    for (TimelineChart* chart : visibleCharts()) {
        chart->plot()->setEvents(m_events);
    }
}

std::shared_ptr<TimelineStore> TimelinePane::makeStore() const
{
    if (!m_run) {
        return nullptr;
    }
    if (m_session.empty()) {
        return std::make_shared<MemoryStore>(*m_run);
    }
    return std::make_shared<SessionStore>(m_session, idsOf(*m_run));
}

void TimelinePane::forgetRun()
{
    m_placed.clear();
    m_unplaced.clear();
    for (const auto& [name, chart] : m_charts) {
        chart->setLines({});
        chart->plot()->setEvents({});
        chart->hide();
    }
    m_view->setExtent(this, std::nullopt);
    m_view->forgetHistory();
    m_view->clearMarkers();
    m_view->setCursor(std::nullopt);
    m_view->show(m_view->whole());
}

std::vector<std::string> TimelinePane::shownNames() const
{
    if (!m_run) {
        return {};
    }
    std::vector<std::string> names = seriesNames(*m_run, m_session.empty());
    const auto chosen = [this](const std::string& name) { return std::ranges::find(m_chosen, name) != m_chosen.end(); };
    if (std::ranges::any_of(names, chosen)) {
        std::erase_if(names, [&](const std::string& name) { return !chosen(name); });
        return names;
    }
    // Nothing of what is usually looked at: better the first ones than an empty pane.
    constexpr std::size_t some = 2;
    names.resize(std::min(names.size(), some));
    return names;
}

std::vector<TimelineLine> TimelinePane::linesFor(const std::string& name) const
{
    return linesOf(*m_run, name, m_lineChoice, m_rankNames);
}

void TimelinePane::refill()
{
    const std::vector<std::string> names = shownNames();
    for (const auto& [name, chart] : m_charts) {
        if (std::ranges::find(names, name) == names.end()) {
            chart->hide();
            m_view->setExtent(chart->plot(), std::nullopt);
        }
    }
    std::optional<Interval> steps;
    for (const std::string& name : names) {
        TimelineChart* chart = this->chart(name);
        if (chart->isHidden()) {
            chart->setLines(linesFor(name));
            chart->plot()->setEvents(m_events);
            chart->show();
        }
        steps = united(steps, stepsOf(*m_run, chart->lines()));
    }
    // Known before the first point is read, so that the first read knows where to look.
    m_view->setExtent(this, steps);
    restorePlace();
    m_origins = m_run ? lineOriginsOf(*m_run, names) : std::vector<LineOrigin> {};
    arrange();
    m_scroll->setVisible(!names.empty());
    m_empty->setVisible(names.empty());
    m_empty->setText(m_run && m_run->series.empty() && m_run->events.empty()
            ? tr("No log of this run was found")
            : tr("No log of this run holds values over steps"));
    setVisible(m_run != nullptr);
    m_feed->setCharts(visibleCharts());
}

std::vector<TimelineChart*> TimelinePane::visibleCharts() const
{
    std::vector<TimelineChart*> charts;
    for (const std::string& name : shownNames()) {
        if (const auto known = m_charts.find(name); known != m_charts.end() && !known->second->isHidden()) {
            charts.push_back(known->second);
        }
    }
    return charts;
}

void TimelinePane::arrange()
{
    const std::vector<TimelineChart*> charts = visibleCharts();
    const int count = static_cast<int>(charts.size());
    const int columns = std::clamp(width() / narrowestChart, 1, std::max(count, 1));
    while (m_grid->count() > 0) {
        delete m_grid->takeAt(0);
    }
    for (int i = 0; i < count; ++i) {
        m_grid->addWidget(charts[static_cast<std::size_t>(i)], i / columns, i % columns);
        charts[static_cast<std::size_t>(i)]->setRemark(i == 0 ? m_unplaced : QString());
        charts[static_cast<std::size_t>(i)]->setSeriesMenu(i == 0 ? m_seriesMenu : nullptr);
        charts[static_cast<std::size_t>(i)]->setLinesMenu(i == 0 && m_origins.size() > 1 ? m_linesMenu : nullptr);
    }
    for (int i = 0; i < m_grid->columnCount(); ++i) {
        m_grid->setColumnStretch(i, i < columns ? 1 : 0);
    }
    // What is scrolled to is seen whole, with its axis, however low the pane is.
    const int rowHeight = std::min(height(), TimelineChart::comfortableHeight);
    for (int i = 0; i < m_grid->rowCount(); ++i) {
        m_grid->setRowMinimumHeight(i, i * columns < count ? rowHeight : 0);
    }
}

void TimelinePane::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    arrange();
}

void TimelinePane::showSeries(std::vector<std::string> names)
{
    m_chosen = std::move(names);
    refill();
    Q_EMIT stateChanged();
}

void TimelinePane::toggleSeries(const std::string& name, bool on)
{
    const std::vector<std::string> shown = shownNames();
    const bool chosen = std::ranges::find_first_of(shown, m_chosen) != shown.end();
    std::vector<std::string> names = chosen ? m_chosen : shown;
    if (on) {
        names.push_back(name);
    } else if (shown.size() > 1) {
        std::erase(names, name);
    }
    showSeries(std::move(names));
}

void TimelinePane::fillSeriesMenu(QMenu& menu)
{
    const std::vector<std::string> shown = shownNames();
    for (const std::string& name : m_run ? seriesNames(*m_run, m_session.empty()) : std::vector<std::string> {}) {
        QAction* action = menu.addAction(menuText(seriesTitle(name)));
        action->setCheckable(true);
        action->setChecked(std::ranges::find(shown, name) != shown.end());
        connect(action, &QAction::triggered, this, [this, name](bool on) { toggleSeries(name, on); });
    }
}

void TimelinePane::chooseLines(const LineChoice& choice)
{
    m_lineChoice = choice;
    showChosenLines();
    Q_EMIT stateChanged();
}

void TimelinePane::showChosenLines()
{
    // What is still being read is of other logs.
    m_feed->setStore(makeStore(), !m_session.empty());
    for (TimelineChart* chart : visibleCharts()) {
        chart->setLines(linesFor(chart->name()));
    }
    refill();
    placeEvents();
}

void TimelinePane::fillLinesMenu()
{
    using Which = LineChoice::Which;
    constexpr std::size_t mostEntries = 40;
    m_linesMenu->clear();
    delete m_linesMenu->findChild<QActionGroup*>();
    auto* group = new QActionGroup(m_linesMenu);
    const bool ofRanks =
        std::ranges::any_of(m_origins, [](const LineOrigin& origin) { return origin.rank.has_value(); });
    addLinesEntry(*group,
        ofRanks ? tr("One log per rank: the one that failed, else the longest")
                : tr("The log that failed, else the longest"),
        {});
    addLinesEntry(*group, tr("All of them"), {Which::all});
    m_linesMenu->addSeparator();
    if (m_origins.size() > mostEntries) {
        const auto unlisted = static_cast<std::int64_t>(m_origins.size() - mostEntries);
        QAction* all = m_linesMenu->addAction(tr("Choose among all %1, of which %2 are not listed here…")
                                                  .arg(countLabel(std::ssize(m_origins)), countLabel(unlisted)),
            this, &TimelinePane::chooseAmongAll);
        all->setToolTip(tr("A list with a filter"));
    }
    const bool namesLog = namesLogs();
    for (std::size_t i = 0; i < m_origins.size(); ++i) {
        // What is drawn stands there in any case.
        if (const LineChoice choice = choiceOfLine(m_origins[i]); i < mostEntries || choice == m_lineChoice) {
            addLinesEntry(*group, originLabel(m_origins[i], namesLog, m_rankNames), choice);
        }
    }
    if (!group->checkedAction()) {
        group->actions().constFirst()->setChecked(true);
    }
}

bool TimelinePane::namesLogs() const
{
    return std::ranges::any_of(
        m_origins, [&](const LineOrigin& origin) { return origin.source != m_origins.front().source; });
}

LineChoice TimelinePane::choiceOfLine(const LineOrigin& origin) const
{
    return {LineChoice::Which::one, m_run ? m_run->root : std::string(), origin};
}

LinesDialog* TimelinePane::chooseAmongAll()
{
    QStringList labels;
    int current = -1;
    const bool namesLog = namesLogs();
    for (const LineOrigin& origin : m_origins) {
        current = choiceOfLine(origin) == m_lineChoice ? static_cast<int>(labels.size()) : current;
        labels << originLabel(origin, namesLog, m_rankNames);
    }
    auto* dialog = new LinesDialog(labels, current, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    // The run may be another by the time that one is chosen.
    connect(dialog, &LinesDialog::chosen, this, [this, origins = m_origins](int index) {
        chooseLines(choiceOfLine(origins[static_cast<std::size_t>(index)]));
    });
    dialog->open();
    return dialog;
}

void TimelinePane::addLinesEntry(QActionGroup& group, const QString& text, const LineChoice& choice)
{
    QAction* action = m_linesMenu->addAction(menuText(fontMetrics().elidedText(text, Qt::ElideMiddle, grid(100))));
    action->setToolTip(plainTip(text));
    action->setCheckable(true);
    action->setChecked(choice == m_lineChoice);
    group.addAction(action);
    connect(action, &QAction::triggered, this, [this, choice] { chooseLines(choice); });
}

/// What is in sight now, whatever is by the time that a file is named: a store of its own reads it.
void TimelinePane::saveRows(const TimelineChart& chart)
{
    if (!m_run || chart.plot()->counts().all == 0) {
        Q_EMIT readoutChanged(tr("No value lies in the steps shown"));
        return;
    }
    std::shared_ptr<TimelineStore> store = makeStore();
    if (m_session.empty()) {
        auto kept = std::make_shared<RunData>();
        kept->series = m_run->series;
        store = std::make_shared<MemoryStore>(std::move(kept));
    }
    const auto start = [this, store = std::move(store), lines = chart.lines(), steps = m_view->steps()](
                           const QString& path, const std::function<void(const Result<QString>&)>& done) {
        m_feed->saveRows(store, lines, steps, path, [done](const Result<std::int64_t>& count) {
            done(count.map([](std::int64_t rows) { return tr("%1 values").arg(countLabel(rows)); }));
        });
    };
    askAndSave(*this, {tr("Save values"), fileStem({chart.title().toLower()}), tableKinds(), {}, start});
}

void TimelinePane::useRows(TimelineChart& chart, RowsUse use)
{
    if (use == RowsUse::file) {
        saveRows(chart);
        return;
    }
    m_feed->collectRows(chart, [this, title = chart.title(), use](TimelineFeed::Rows rows) {
        if (!rows.problem.isEmpty()) {
            Q_EMIT problem(rows.problem);
            return;
        }
        const QString note = rows.cut
            ? tr("The first %1 values of the steps shown; zoom in for the others.")
                  .arg(countLabel(TimelineFeed::mostRows))
            : tr("%1 values, those of the steps shown.").arg(countLabel(std::ssize(rows.rows)));
        if (use == RowsUse::table) {
            (new TimelineTable(title, note, std::move(rows.rows), this))->show();
            return;
        }
        QApplication::clipboard()->setText(use == RowsUse::tsv ? rowsAsTsv(rows.rows) : rowsAsJson(rows.rows));
        Q_EMIT readoutChanged(tr("Copied: %1").arg(note));
    });
}

bool TimelinePane::settled() const
{
    return m_feed->settled();
}

// What the timelines remember from one start to the next, and from one visit of a run to the next.

QByteArray TimelinePane::savePlace() const
{
    QJsonObject place;
    if (!m_view->showsAll()) {
        place.insert(QStringLiteral("low"), m_view->steps().low);
        place.insert(QStringLiteral("high"), m_view->steps().high);
    }
    if (const auto cursor = m_view->placed()) {
        place.insert(QStringLiteral("cursor"), *cursor);
    }
    return m_run && !place.isEmpty() ? QJsonDocument(place).toJson(QJsonDocument::Compact) : QByteArray();
}

void TimelinePane::restorePlace()
{
    const QJsonObject place = QJsonDocument::fromJson(std::exchange(m_nextPlace, {})).object();
    const auto numberOf = [&place](const char* name) {
        return place.value(QLatin1String(name)).toDouble(std::numeric_limits<double>::quiet_NaN());
    };
    m_view->showAgain({numberOf("low"), numberOf("high")});
    const Interval whole = m_view->whole();
    if (const double cursor = numberOf("cursor"); cursor >= whole.low && cursor <= whole.high) {
        m_view->setCursor(cursor);
    }
}

QByteArray TimelinePane::saveState() const
{
    QJsonArray series;
    for (const std::string& name : m_chosen) {
        series.append(exactText(name));
    }
    QJsonObject looks;
    for (const auto& [name, look] : m_looks) {
        looks.insert(exactText(name), asJson(look));
    }
    const QJsonObject state {{QStringLiteral("version"), timelineStateVersion}, {QStringLiteral("series"), series},
        {QStringLiteral("looks"), looks}, {QStringLiteral("lines"), asJson(m_lineChoice)}};
    return QJsonDocument(state).toJson(QJsonDocument::Compact);
}

void TimelinePane::restoreState(const QByteArray& state)
{
    const QJsonObject json = QJsonDocument::fromJson(state).object();
    if (json.value(QStringLiteral("version")).toInt() != timelineStateVersion) {
        return;
    }
    const QJsonObject looks = json.value(QStringLiteral("looks")).toObject();
    for (auto look = looks.begin(); look != looks.end(); ++look) {
        const std::string name = look.key().toStdString();
        m_looks[name] = lookFrom(look.value().toObject());
        if (const auto known = m_charts.find(name); known != m_charts.end()) {
            known->second->setLook(m_looks[name]);
        }
    }
    m_lineChoice = lineChoiceFrom(json.value(QStringLiteral("lines")).toObject());
    std::vector<std::string> series;
    const QJsonArray names = json.value(QStringLiteral("series")).toArray();
    for (const auto& name : names) {
        series.push_back(name.toString().toStdString());
    }
    if (!series.empty()) {
        m_chosen = std::move(series);
        showChosenLines();
    }
}

} // namespace nanscope
