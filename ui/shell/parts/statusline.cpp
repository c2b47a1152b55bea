// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/parts/statusline.h"

#include <algorithm>
#include <utility>

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QStatusBar>
#include <QToolButton>

#include "core/base/job.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

constexpr int mostMessage = grid(120);

/// The phase in which a job says how many seconds it takes, before it does anything else.
constexpr std::string_view planned = "planned";

/// Qt's progress bars count in int, bytes do not fit.
int barValue(std::int64_t count, std::int64_t total)
{
    const std::int64_t unit = 1 + total / (1 << 30);
    return static_cast<int>(std::min(count, total) / unit);
}

} // namespace

std::optional<double> TimeLeft::after(const Progress& progress, std::int64_t nowMs)
{
    constexpr std::int64_t tooEarlyMs = 1000;
    m_jobStartMs.try_emplace(progress.job, nowMs);
    std::string phase = progress.job + '\n' + progress.phase;
    // Fewer done than before: the same job again.
    if (phase != m_phase || progress.done < m_lastDone) {
        m_phase = std::move(phase);
        m_startMs = nowMs;
        m_startDone = progress.done;
    }
    m_lastDone = progress.done;
    const std::int64_t spent = nowMs - m_startMs;
    const std::int64_t done = progress.done - m_startDone;
    if (progress.uneven || spent < tooEarlyMs || done <= 0 || progress.total < progress.done) {
        return std::nullopt;
    }
    const double perUnit = static_cast<double>(spent) / static_cast<double>(done);
    return perUnit * static_cast<double>(progress.total - progress.done) / 1000;
}

std::optional<double> TimeLeft::spent(const std::string& job, std::int64_t nowMs) const
{
    constexpr std::int64_t worthTellingMs = 10'000;
    const auto start = m_jobStartMs.find(job);
    const std::int64_t spent = start == m_jobStartMs.end() ? 0 : nowMs - start->second;
    return spent < worthTellingMs ? std::nullopt : std::optional(static_cast<double>(spent) / 1000);
}

StatusLine::StatusLine(QStatusBar& bar)
    : m_bar(bar)
    , m_worker(new ElidedLabel)
    , m_session(new ElidedLabel)
    , m_known(new ElidedLabel)
    , m_listed(new ElidedLabel)
    , m_phase(new ElidedLabel)
    , m_offer(makeToolButton(nullptr, "quiet"))
    , m_progress(new QProgressBar)
    , m_readout(new ElidedLabel)
{
    m_progress->setTextVisible(false);
    m_progress->setFixedWidth(grid(40));
    m_progress->setAccessibleName(tr("Progress"));
    m_readout->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    bar.setSizeGripEnabled(false);
    m_clock.start();
    QObject::connect(&m_sessionFile, &QFileSystemWatcher::fileChanged, &m_sessionFile,
        [this](const QString& path) { onSessionFileChanged(path); });
    // The bar hides what it holds while it shows a status tip, but not what is shown meanwhile, as by a window that
    // opens under the mouse: that would be painted over the tip. So it holds one thing, which comes and goes with the
    // tip.
    auto* parts = new QWidget;
    QObject::connect(
        &bar, &QStatusBar::messageChanged, parts, [parts](const QString& tip) { parts->setVisible(tip.isEmpty()); });
    auto* row = new QHBoxLayout(parts);
    row->setContentsMargins(0, 0, 0, 0);
    for (ElidedLabel* label : {m_worker, m_session, m_known, m_listed}) {
        label->setTextFormat(Qt::PlainText);
        row->addWidget(label);
    }
    // A layout takes what is missing from all alike: what can be long asks for nothing, and gets what the others leave.
    for (ElidedLabel* label : {m_phase, m_readout}) {
        label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    }
    m_offer->setFocusPolicy(Qt::StrongFocus);
    row->addWidget(m_phase, 2);
    row->addWidget(m_offer);
    row->addWidget(m_progress);
    row->addWidget(m_readout, 1);
    bar.addWidget(parts, 1);
    QObject::connect(m_offer, &QToolButton::clicked, parts, [this] { m_taken(); });
    m_known->hide();
    m_offer->hide();
    m_progress->hide();
}

void StatusLine::setWorker(const QString& text, const QString& details)
{
    m_worker->setFullText(text);
    m_worker->setDetails(details);
}

void StatusLine::setSession(const QString& path)
{
    if (const QStringList watched = m_sessionFile.files(); !watched.isEmpty()) {
        m_sessionFile.removePaths(watched);
    }
    if (!path.isEmpty()) {
        m_sessionFile.addPath(path);
    }
    m_session->setFullText(path.isEmpty() ? tr("No session") : tr("Session saved"));
    m_session->setDetails(path);
}

void StatusLine::onSessionFileChanged(const QString& path)
{
    if (!QFileInfo::exists(path)) {
        m_session->setFullText(tr("Session deleted"));
        m_session->setDetails(tr("Rescan keeps what the window holds of it in a new one. It was %1").arg(path));
    }
}

void StatusLine::setKnown(const QString& text, const QString& details)
{
    m_known->setFullText(text);
    m_known->setDetails(details);
    m_known->setVisible(!text.isEmpty());
}

void StatusLine::setListed(const QString& text)
{
    m_listed->setFullText(text);
}

void StatusLine::setReadout(const QString& text)
{
    m_readout->setFullText(text);
}

/// No wider than it is, so that what is offered stands behind it.
void StatusLine::tell(const QString& text)
{
    m_phase->setFullText(text);
    m_phase->setMaximumWidth(m_phase->sizeHint().width() + grid(1));
    m_offer->hide();
}

void StatusLine::say(const QString& text)
{
    tell(QString(text).replace(QLatin1Char('\n'), QLatin1Char(' ')));
    m_bar.clearMessage();
    m_tellsProgress = false;
}

void StatusLine::offer(const QString& text, const QString& what, std::function<void()> taken)
{
    say(text);
    m_taken = std::move(taken);
    m_offer->setText(what);
    m_offer->show();
}

void StatusLine::showProgress(const Progress& progress, bool busy)
{
    // A last word of a job that has ended or was cancelled.
    if (!busy) {
        return;
    }
    // A tip that came before would hide how far it is.
    m_bar.clearMessage();
    takePlan(progress);
    QStringList parts {sentenceCase(qstr(progress.phase.empty() ? progress.job : progress.phase))};
    if (progress.total > 0 && progress.phase != planned) {
        parts[0] += tr(": %1 of %2 %3").arg(countLabel(progress.done), countLabel(progress.total), qstr(progress.unit));
    }
    parts << timesOf(progress);
    if (!progress.message.empty()) {
        parts << m_phase->fontMetrics().elidedText(qstr(progress.message), Qt::ElideRight, mostMessage);
    }
    tell(parts.join(QStringLiteral(" · ")));
    m_tellsProgress = true;
    // One that is all of it has no share that is done: the bar only moves.
    const bool shares = progress.total > 1 && progress.phase != planned;
    m_progress->setRange(0, shares ? barValue(progress.total, progress.total) : 0);
    m_progress->setValue(shares ? barValue(progress.done, progress.total) : 0);
    m_progress->show();
}

/// A job that says beforehand how long it takes is held to that while it runs; how it comes to it is said on asking.
void StatusLine::takePlan(const Progress& progress)
{
    if (progress.phase == planned) {
        m_plannedJob = progress.job;
        m_plannedSeconds = static_cast<double>(progress.total);
        m_phase->setDetails(qstr(progress.message));
    } else if (progress.job != m_plannedJob) {
        m_plannedJob.clear();
        m_phase->setDetails({});
    }
}

QStringList StatusLine::timesOf(const Progress& progress)
{
    QStringList times;
    const auto now = m_clock.elapsed();
    if (const auto left = m_left.after(progress, now)) {
        return {tr("about %1 left").arg(durationLabel(*left))};
    }
    if (const auto spent = m_left.spent(progress.job, now); spent && progress.uneven) {
        times << tr("%1 so far").arg(durationLabel(*spent));
    }
    if (!m_plannedJob.empty() && m_plannedSeconds > 0) {
        times << tr("about %1 as a rule").arg(durationLabel(m_plannedSeconds));
    }
    return times;
}

void StatusLine::setBusy(bool running, bool awaited)
{
    const bool busy = running || awaited;
    if (!busy && std::exchange(m_tellsProgress, false)) {
        tell({});
    }
    if (!busy) {
        m_left = {}; // the next job may have the same name, and time passes until it begins
        m_plannedJob.clear();
        m_phase->setDetails({});
    }
    // A film is mostly there at once: a bar that only flashes tells nothing.
    if (running || !awaited) {
        m_progress->setVisible(running);
    }
}

} // namespace nanscope
