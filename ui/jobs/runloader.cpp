// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/runloader.h"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>

#include <QElapsedTimer>

#include "core/diagnose/judgingplan.h"
#include "core/model/verdict.h"
#include "core/session/session.h"
#include "ui/jobs/readrun.h"

namespace nanscope {

namespace {

constexpr int arrivalsMs = 100;
// Of the window's time, the share that showing verdicts one by one may take: of 100,000 captures each showing is long.
constexpr int timesTheirShowing = 20;

} // namespace

bool LoadedRun::canBeJudged() const
{
    return !run->captures.empty() || !run->series.empty() || !run->events.empty();
}

bool LoadedRun::holdsNothing() const
{
    return !canBeJudged() && run->checkpoints.empty();
}

std::string LoadedRun::key() const
{
    return session::hashText(run->root);
}

rpc::KeptIn LoadedRun::place() const
{
    return session.empty() ? rpc::KeptIn() : rpc::KeptIn {session.string(), key()};
}

struct RunLoader::Wanted
{
    void set(const Capture& capture)
    {
        const std::scoped_lock lock(mutex);
        id = capture.id;
        file = capture.file;
    }

    bool is(const CaptureVerdict& verdict)
    {
        const std::scoped_lock lock(mutex);
        return verdict.captureId == id && verdict.capture == file;
    }

    std::mutex mutex;
    std::int64_t id = 0;
    std::string file;
};

void RunLoader::judgeFirst(const Capture& capture)
{
    m_wanted->set(capture);
}

RunLoader::RunLoader(QObject* parent)
    : QObject(parent)
    , m_wanted(std::make_shared<Wanted>())
    , m_open(std::make_shared<OpenDevice>())
{
    m_pool.setMaxThreadCount(1);
    m_arrivals.setSingleShot(true);
    m_arrivals.setInterval(arrivalsMs);
    connect(&m_arrivals, &QTimer::timeout, this, &RunLoader::passOnArrived);
}

RunLoader::~RunLoader()
{
    m_cancel.cancel();
    m_pool.waitForDone();
}

JobContext RunLoader::begin()
{
    m_cancel.cancel();
    m_cancel = CancelToken();
    m_job = m_jobs.begin();
    m_busy = true;
    m_judging = false;
    m_arrivals.stop();
    m_arrived.clear();
    return gatedJob(this, m_cancel, [this, job = m_job](const Progress& progress) {
        if (m_jobs.isCurrent(job)) {
            Q_EMIT progressed(progress);
        }
    });
}

void RunLoader::open(const std::filesystem::path& path, const UserContextOf& userContextOf)
{
    const auto how = [this, path, userContextOf](const JobContext& context) {
        const auto early = [this, cancel = context.cancel](const LoadedRun& run) {
            QMetaObject::invokeMethod(this, [this, cancel, run] {
                // Whatever comes after this request cancels it.
                if (!cancel.cancelled()) {
                    Q_EMIT loaded(run, true);
                }
            });
        };
        return loadRun(path, context, userContextOf, early);
    };
    read(how, false);
}

void RunLoader::openAgain(const LoadedRun& run, bool rescan)
{
    read([run](const JobContext& context) { return loadAgain(run, context); }, rescan);
}

void RunLoader::read(const std::function<Result<ReadRun>(const JobContext&)>& how, bool rescan)
{
    const JobContext context = begin();
    background(
        m_pool, this, [how, context] { return how(context); },
        [this, job = m_job, rescan](Result<ReadRun> opened) {
            if (!m_jobs.isCurrent(job)) {
                return;
            }
            if (!opened) {
                finish(job);
                Q_EMIT failed(opened.error());
                return;
            }
            reportLoaded(job, opened->loaded, opened->changed || rescan);
        });
}

void RunLoader::reportLoaded(int job, const LoadedRun& run, bool judging)
{
    judging = judging && !(run.run->captures.empty() && run.run->series.empty() && run.run->events.empty());
    Q_EMIT loaded(run, judging);
    if (judging && m_jobs.isCurrent(job)) {
        judge(run);
    } else {
        finish(job);
    }
}

void RunLoader::judge(const LoadedRun& run, const std::shared_ptr<const Diagnosis>& stopped)
{
    const JobContext context = begin();
    m_judging = true;
    diagnose::DiagnoseOptions options;
    options.ran = run.ran;
    options.stopped = stopped;
    options.timeLimit = m_timeLimit;
    options.arrived = collector(m_job);
    options.first = [wanted = m_wanted](const CaptureVerdict& verdict) { return wanted->is(verdict); };
    options.planned = [context](const diagnose::JudgingPlan& plan, const std::string& device) {
        context.progress(diagnose::progressOf(plan, device));
    };
    background(
        m_pool, this,
        [run, options, place = m_device, open = m_open, context] {
            return judgeRun(run, options, place, *open, context);
        },
        [this, job = m_job](Result<Diagnosis> diagnosis) { reportJudged(job, std::move(diagnosis)); });
}

std::function<void(const CaptureVerdict&)> RunLoader::collector(int job)
{
    return [this, job](const CaptureVerdict& verdict) {
        QMetaObject::invokeMethod(this, [this, job, verdict] {
            if (m_jobs.isCurrent(job) && m_busy) {
                m_arrived.push_back(verdict);
                if (!m_arrivals.isActive()) {
                    m_arrivals.start();
                }
            }
        });
    };
}

void RunLoader::passOnArrived()
{
    QElapsedTimer clock;
    clock.start();
    Q_EMIT arrived(std::exchange(m_arrived, {}));
    m_arrivals.setInterval(std::max(arrivalsMs, timesTheirShowing * static_cast<int>(clock.elapsed())));
}

void RunLoader::reportJudged(int job, Result<Diagnosis> diagnosis)
{
    if (!m_jobs.isCurrent(job)) {
        return;
    }
    finish(job);
    if (diagnosis) {
        Q_EMIT judged(std::make_shared<const Diagnosis>(std::move(*diagnosis)));
    } else {
        Q_EMIT failed(diagnosis.error());
    }
}

void RunLoader::finish(int job)
{
    if (m_jobs.isCurrent(job) && m_busy) {
        m_busy = false;
        m_arrivals.stop();
        Q_EMIT idle();
    }
}

void RunLoader::cancel()
{
    if (!m_busy) {
        return;
    }
    m_cancel.cancel();
    if (!m_judging) {
        m_jobs.drop();
    }
    m_busy = false;
    Q_EMIT cancelled();
    Q_EMIT idle();
}

} // namespace nanscope

#include "moc_runloader.cpp"
