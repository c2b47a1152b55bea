// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runcomparison/runcomparison.h"

#include <algorithm>

#include <utility>

#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QProgressBar>
#include <QPushButton>
#include <QScreen>
#include <QSpinBox>
#include <QSplitter>
#include <QTabWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/shared/copying.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/timeline/timelinepane.h"
#include "ui/timeline/timelineseries.h"

namespace nanscope {

namespace {

QString valueWord(const Point& point)
{
    return point.state == PointState::reported ? RunComparisonWindow::tr("no value") : exactNumber(point.value);
}

QString placeOfPoint(const diagnose::Trace& trace, const Point& point)
{
    return qstr(diagnose::placeOf(trace, point));
}

template <class Series>
QString seriesName(const Series& series)
{
    const QString title = seriesTitle(series.name);
    return series.rank ? RunComparisonWindow::tr("%1 of rank %2").arg(title).arg(*series.rank) : title;
}

QString badWords(const diagnose::LoneSeries& series)
{
    const QString others =
        series.otherRanks > 0 ? RunComparisonWindow::tr(" (and %1 more)").arg(series.otherRanks) : QString();
    return RunComparisonWindow::tr("%1 is %2 at step %3")
        .arg(seriesName(series) + others, valueWord(*series.bad))
        .arg(series.bad->step);
}

QString badWords(const ComparedRuns& runs)
{
    const std::optional<diagnose::LoneSeries>& a = runs.comparison.badA;
    const std::optional<diagnose::LoneSeries>& b = runs.comparison.badB;
    if (a && b) {
        return RunComparisonWindow::tr("both become non-finite: %1 in %2, %3 in %4")
            .arg(badWords(*a), qstr(runs.nameA), badWords(*b), qstr(runs.nameB));
    }
    if (!a && !b) {
        return {};
    }
    const diagnose::LoneSeries& first = a ? *a : *b;
    const std::int64_t damaged = a ? runs.comparison.damagedB : runs.comparison.damagedA;
    const QString words = RunComparisonWindow::tr("only %1 logs values that are not finite: %2")
                              .arg(qstr(a ? runs.nameA : runs.nameB), badWords(first));
    const QString other = qstr(a ? runs.nameB : runs.nameA);
    return damaged == 0 ? words
        : damaged == 1  ? RunComparisonWindow::tr("%1; %2 has a damaged capture").arg(words, other)
                        : RunComparisonWindow::tr("%1; %2 has %3 damaged captures").arg(words, other).arg(damaged);
}

/// A log that writes fewer digits differs in each value.
QString roundedWords(const diagnose::SeriesComparison& series)
{
    return !series.equalDecimals ? QString()
        : *series.equalDecimals == 1
        ? RunComparisonWindow::tr(" (all equal when rounded to 1 decimal)")
        : RunComparisonWindow::tr(" (all equal when rounded to %1 decimals)").arg(*series.equalDecimals);
}

QString differenceWords(const ComparedRuns& runs)
{
    if (runs.same) {
        return RunComparisonWindow::tr("Both are the same folder: there is nothing to compare");
    }
    const diagnose::SeriesComparison* first = runs.comparison.first();
    if (first) {
        const std::int64_t step = first->first->first.step;
        const QString shifted = runs.shift == 0
            ? QString()
            : RunComparisonWindow::tr(" (step %1 of %2)").arg(step + runs.shift).arg(qstr(runs.nameB));
        return RunComparisonWindow::tr("%1 first differs at step %2: %3 in %4, %5 in %6")
                   .arg(seriesName(*first), QString::number(step) + shifted)
                   .arg(valueWord(first->first->first), qstr(runs.nameA), valueWord(first->first->second),
                       qstr(runs.nameB))
            + roundedWords(*first);
    }
    const bool any = std::ranges::any_of(
        runs.comparison.series, [](const diagnose::SeriesComparison& series) { return series.common > 0; });
    return any ? RunComparisonWindow::tr("No value differs at the steps that both logs have")
               : RunComparisonWindow::tr("The runs have no step of any series in common; shift one of them");
}

QString headlineOf(const ComparedRuns& runs)
{
    const QString bad = runs.same ? QString() : badWords(runs);
    const QString difference = differenceWords(runs);
    return bad.isEmpty() ? difference : QStringLiteral("%1; %2").arg(difference, bad);
}

/// The first value that is not finite.
QString badWord(const std::vector<Point>& points)
{
    const auto bad = std::ranges::find_if(points, diagnose::isNonFinite, &Point::state);
    return bad == points.end() ? QString()
                               : RunComparisonWindow::tr("%1 at step %2").arg(valueWord(*bad)).arg(bad->step);
}

QStringList comparedRow(const diagnose::SeriesComparison& one)
{
    QStringList row {
        seriesName(one), RunComparisonWindow::tr("%1 of %2").arg(countLabel(one.differing), countLabel(one.common))};
    row << (one.first ? QString::number(one.first->first.step) : QString())
        << (one.first ? valueWord(one.first->first) : QString())
        << (one.first ? valueWord(one.first->second) : QString())
        << (one.largest ? RunComparisonWindow::tr("%1 % at step %2")
                              .arg(roundNumber(100 * one.largestRelative))
                              .arg(one.largest->first.step)
                        : QString())
        << badWord(one.a.points) << badWord(one.b.points)
        << (one.first ? placeOfPoint(one.a, one.first->first) : QString())
        << (one.first ? placeOfPoint(one.b, one.first->second) : QString());
    return row;
}

/// What only one run has is not compared; what it shows is where it goes bad.
QStringList loneRow(const diagnose::LoneSeries& one, bool ofA)
{
    const QString missing = RunComparisonWindow::tr("not logged");
    const QString value = one.bad ? RunComparisonWindow::tr("%1 at step %2").arg(valueWord(*one.bad)).arg(one.bad->step)
                                  : RunComparisonWindow::tr("finite");
    const QString place = one.bad ? QStringLiteral("%1:%2").arg(qstr(one.source)).arg(one.bad->line) : QString();
    QStringList row {seriesName(one)};
    row << QString() << QString() << QString() << QString() << QString() << (ofA ? value : missing)
        << (ofA ? missing : value) << (ofA ? place : QString()) << (ofA ? QString() : place);
    return row;
}

TextTable seriesTable(const ComparedRuns& runs)
{
    using W = RunComparisonWindow;
    const QString a = qstr(runs.nameA);
    const QString b = qstr(runs.nameB);
    TextTable table;
    table.columns = {W::tr("Series"), W::tr("Steps that differ"), W::tr("First"), a, b, W::tr("Largest difference"),
        W::tr("NaN, Inf in %1").arg(a), W::tr("NaN, Inf in %1").arg(b), W::tr("Line of %1").arg(a),
        W::tr("Line of %1").arg(b)};
    for (const diagnose::SeriesComparison& one : runs.comparison.series) {
        table.rows.push_back(comparedRow(one));
    }
    for (const diagnose::LoneSeries& one : runs.comparison.onlyA) {
        table.rows.push_back(loneRow(one, true));
    }
    for (const diagnose::LoneSeries& one : runs.comparison.onlyB) {
        table.rows.push_back(loneRow(one, false));
    }
    return table;
}

QString settingWord(const std::optional<Setting>& setting)
{
    return setting ? qstr(setting->value) : QStringLiteral("–");
}

TextTable settingsTable(const ComparedRuns& runs)
{
    TextTable table;
    table.columns = {RunComparisonWindow::tr("Setting"), qstr(runs.nameA), qstr(runs.nameB)};
    for (const diagnose::SettingComparison& one : runs.comparison.settings) {
        table.rows.push_back({qstr(one.name), settingWord(one.a), settingWord(one.b)});
    }
    return table;
}

std::vector<QString> rankNames(const ComparedRuns& runs)
{
    std::vector<QString> names {qstr(runs.nameA), qstr(runs.nameB)};
    for (const DrawnRank& other : runs.others) {
        names.push_back(RunComparisonWindow::tr("%1, rank %2").arg(qstr(other.run)).arg(other.rank));
    }
    return names;
}

} // namespace

RunComparisonWindow::RunComparisonWindow(QWidget* parent)
    : QDialog(parent)
    , m_headline(new QLabel(this))
    , m_shift(new QSpinBox(this))
    , m_progress(new QProgressBar(this))
    , m_timeline(new TimelinePane(this))
    , m_series(makeTableView(this, tr("Series of both runs")))
    , m_settings(makeTableView(this, tr("Settings that differ")))
    , m_settingsSentence(new QLabel(this))
{
    setWindowTitle(tr("Compare runs"));
    setWindowFlag(Qt::WindowMaximizeButtonHint);
    auto* tables = new QTabWidget(this);
    tables->setDocumentMode(true);
    tables->addTab(m_series, tr("Series"));
    tables->addTab(buildSettings(), tr("Settings"));
    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_timeline);
    splitter->addWidget(tables);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    // Return in the shift's box means the shift.
    buttons->button(QDialogButtonBox::Close)->setAutoDefault(false);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(buildHeader());
    layout->addWidget(splitter, 1);
    layout->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(&m_comparer, &RunComparer::compared, this, &RunComparisonWindow::setRuns);
    connect(&m_comparer, &RunComparer::failed, this, [this](const QString& sentence) {
        m_progress->hide();
        m_headline->setText(sentence);
    });
    connect(m_shift, &QSpinBox::valueChanged, this, [this](int steps) { m_comparer.shift(steps); });
    // All that tells the runs apart without scrolling.
    resize(std::min(grid(335), screen()->availableGeometry().width() - grid(10)), grid(170));
}

QWidget* RunComparisonWindow::buildHeader()
{
    auto* header = new QWidget(this);
    auto* layout = new QHBoxLayout(header);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(grid(2));
    m_headline->setObjectName(QStringLiteral("headline"));
    m_headline->setTextFormat(Qt::PlainText);
    m_headline->setWordWrap(true);
    m_headline->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_progress->setRange(0, 0);
    m_progress->setMaximumWidth(grid(40));
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("The other run is being read"));
    m_shift->setRange(-1'000'000'000, 1'000'000'000);
    m_shift->setKeyboardTracking(false);
    m_shift->setEnabled(false);
    m_shift->setToolTip(tr("How many steps the other run is ahead: 1 where it counts from 1 and this one from 0"));
    auto* label = new QLabel(tr("Steps that the other run is &ahead"), header);
    label->setBuddy(m_shift);
    layout->addWidget(m_headline, 1);
    layout->addWidget(m_progress);
    layout->addWidget(label);
    layout->addWidget(m_shift);
    return header;
}

QWidget* RunComparisonWindow::buildSettings()
{
    m_settingsSentence->setTextFormat(Qt::PlainText);
    m_settingsSentence->setWordWrap(true);
    m_settingsSentence->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_settingsSentence->setContentsMargins(grid(3), grid(2), grid(3), grid(2));
    auto* page = new QWidget(this);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_settingsSentence);
    layout->addWidget(m_settings, 1);
    layout->addStretch();
    return page;
}

void RunComparisonWindow::compare(const LoadedRun& open, const std::filesystem::path& other)
{
    m_headline->setText(tr("Reading %1…").arg(shortPath(qstr(other.string()))));
    m_progress->show();
    m_comparer.compare(open, other);
}

void RunComparisonWindow::setRuns(std::shared_ptr<const ComparedRuns> runs)
{
    // The pane draws from the run it was given until it has the next.
    const auto before = std::exchange(m_runs, std::move(runs));
    m_progress->hide();
    m_shift->setEnabled(true);
    setWindowTitle(tr("%1 and %2 – Nanscope").arg(qstr(m_runs->nameA), qstr(m_runs->nameB)));
    m_headline->setText(m_runs->partial
            ? tr("%1 (only the newest points of each series were compared)").arg(headlineOf(*m_runs))
            : headlineOf(*m_runs));
    m_timeline->nameRanks(rankNames(*m_runs));
    if (!before) {
        showDifference();
    }
    m_timeline->setRun(&m_runs->both, nullptr);
    if (const diagnose::SeriesComparison* first = m_runs->comparison.first()) {
        m_timeline->view()->setCursor(static_cast<double>(first->first->first.step));
    }
    fillTables();
}

/// Of the series that differs first, beside what is usually looked at.
void RunComparisonWindow::showDifference()
{
    if (const diagnose::SeriesComparison* first = m_runs->comparison.first()) {
        std::vector<std::string> names = m_timeline->chosenSeries();
        names.push_back(differenceName(first->name));
        m_timeline->showSeries(std::move(names));
    }
}

void RunComparisonWindow::fillTables()
{
    fillTableView(*m_series, seriesTable(*m_runs));
    fillTableView(*m_settings, settingsTable(*m_runs));
    m_settings->setVisible(!m_runs->comparison.settings.empty());
    m_settingsSentence->setText(
        qstr(nanscope::diagnose::settingsSentence(m_runs->comparison, m_runs->nameA, m_runs->nameB)));
}

} // namespace nanscope
