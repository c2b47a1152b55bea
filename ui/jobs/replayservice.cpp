// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/replayservice.h"

#include <QFileInfo>
#include <QSettings>

#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/platform/platform.h"
#include "core/platform/sharedmemory.h"
#include "ui/text.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

constexpr int helloId = 1;

Json requestOf(const rpc::SweepOrder& order, int id)
{
    Json json {{"id", id}};
    json.update(rpc::sweepToJson(order));
    return json;
}

} // namespace

std::deque<ServiceProgram> servicePrograms()
{
    const QString folder = exactText(platform::programFolder().string());
    const QString fromEnvironment = qEnvironmentVariable("NANSCOPE_WORKER");
    const QString fromSettings = QSettings().value(QStringLiteral("worker/path")).toString();
    std::deque<ServiceProgram> programs;
    for (const QString& worker :
        QStringList {fromEnvironment, fromSettings, folder + QStringLiteral("/nanscope-worker")}) {
        if (!worker.isEmpty() && QFileInfo(worker).isExecutable()) {
            programs.push_back({worker, {QStringLiteral("serve")}, true});
            break;
        }
    }
    if (const QString own = folder + QStringLiteral("/nanscope"); QFileInfo(own).isExecutable()) {
        programs.push_back({own, {QStringLiteral("serve")}, false});
    }
    return programs;
}

ReplayService::ReplayService(std::deque<ServiceProgram> programs, QObject* parent, ServicePatience patience)
    : QObject(parent)
    , m_programs(std::move(programs))
{
    m_helloTimer.setSingleShot(true);
    m_helloTimer.setInterval(patience.hello);
    m_killTimer.setSingleShot(true);
    m_killTimer.setInterval(patience.cancel);
    connect(&m_helloTimer, &QTimer::timeout, this,
        [this] { onEnded(tr("did not say what it is within %n seconds", nullptr, m_helloTimer.interval() / 1000)); });
    connect(&m_killTimer, &QTimer::timeout, this, &ReplayService::giveUpProcess);
}

ReplayService::~ReplayService()
{
    if (!m_process) {
        return;
    }
    m_process->disconnect(this);
    // End of input makes the service cancel and leave; one that hangs is killed. Nobody reads what it still says.
    m_process->closeReadChannel(QProcess::StandardOutput);
    m_process->closeReadChannel(QProcess::StandardError);
    m_process->closeWriteChannel();
    constexpr int patienceMs = 500;
    if (!m_process->waitForFinished(patienceMs)) {
        m_process->kill();
        m_process->waitForFinished();
    }
    platform::removeAbandonedBlocks();
}

void ReplayService::start()
{
    if (!m_process && !m_programs.empty()) {
        startProcess();
    }
}

void ReplayService::startProcess()
{
    m_ready = false;
    m_errors.clear();
    m_line.clear();
    m_rubbish = 0;
    m_process = std::make_unique<QProcess>();
    QProcess* process = m_process.get();
    connectProcess(*process);
    // Threads of OpenMP that spin while they wait made a sweep 25 times slower on a machine that had other work too.
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("OMP_WAIT_POLICY"), QStringLiteral("passive"));
    process->setProcessEnvironment(environment);
    m_helloTimer.start();
    process->start(m_programs.front().program, m_programs.front().arguments);
    send({{"id", helloId}, {"do", "hello"}});
}

void ReplayService::connectProcess(QProcess& process)
{
    connect(&process, &QProcess::readyReadStandardOutput, this, &ReplayService::readLines);
    connect(&process, &QProcess::readyReadStandardError, this, [this] {
        constexpr int kept = 4000;
        m_errors += qstr(m_process->readAllStandardError().toStdString());
        m_errors = m_errors.right(kept);
    });
    connect(&process, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
        onEnded(status == QProcess::CrashExit ? tr("was ended by signal %1").arg(code)
                                              : tr("ended with status %1").arg(code));
    });
    connect(&process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) {
            onEnded(tr("did not start"));
        }
    });
}

void ReplayService::dropProcess()
{
    if (!m_process) {
        return;
    }
    m_helloTimer.stop();
    m_killTimer.stop();
    m_cancelling = 0;
    m_ready = false;
    m_process->disconnect(this);
    m_process->kill();
    // Later, because this may run inside one of its own signals. What it still says fills no memory.
    QProcess* ended = m_process.release();
    const auto silence = [ended] {
        ended->closeReadChannel(QProcess::StandardOutput);
        ended->closeReadChannel(QProcess::StandardError);
    };
    QMetaObject::invokeMethod(ended, silence, Qt::QueuedConnection);
    connect(ended, &QProcess::finished, ended, &QObject::deleteLater);
    connect(ended, &QObject::destroyed, [] { platform::removeAbandonedBlocks(); });
    if (ended->state() == QProcess::NotRunning) {
        ended->deleteLater();
    }
}

/// It goes on with what it was told to stop. What else it was asked, another one is asked again.
void ReplayService::giveUpProcess()
{
    dropProcess();
    std::erase_if(m_questions, [](const auto& question) { return question.second.stopped; });
    for (auto& [id, question] : m_questions) {
        question.sent = false;
    }
    m_orderSent = false;
    if (running() || !m_questions.empty()) {
        startProcess();
    }
    Q_EMIT stateChanged();
}

void ReplayService::onEnded(const QString& how)
{
    const ServiceProgram ended = m_programs.front();
    const bool neverAnswered = !m_ready;
    const QStringList details = m_errors.split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    const bool wasRunning = running();
    dropProcess();
    if (neverAnswered && m_programs.size() > 1) {
        m_programs.pop_front();
        Q_EMIT failed(
            tr("The worker %1, so replays run on the built-in CPU device: %2").arg(how, ended.program), details);
        startProcess();
        return;
    }
    if (neverAnswered) {
        m_programs.clear();
    }
    loseQuestions(tr("The replay process %1: %2").arg(how, ended.program));
    endJob();
    if (wasRunning || neverAnswered) {
        Q_EMIT failed(
            tr("The replay process %1; the cells it had finished are kept: %2").arg(how, ended.program), details);
    }
}

QString ReplayService::description() const
{
    if (m_programs.empty()) {
        return tr("No replay program found: sweeps are off");
    }
    if (!m_programs.front().worker) {
        return tr("No worker: replays run on the built-in CPU device");
    }
    return m_engine.isEmpty() ? tr("Worker: starting") : tr("Worker: %1").arg(m_engine);
}

void ReplayService::send(const Json& request)
{
    if (m_process) {
        m_process->write(QByteArray::fromStdString(jsonText(request)) + '\n');
    }
}

void ReplayService::sweep(const rpc::SweepOrder& order)
{
    if (m_programs.empty()) {
        Q_EMIT failed(
            tr("There is no program to replay with; build nanscope beside nanscope-gui, or set NANSCOPE_WORKER"), {});
        return;
    }
    m_order = order;
    m_orderSent = false;
    m_job = ++m_lastId;
    if (!m_process) {
        startProcess();
    } else if (m_ready) {
        sendOrder();
    }
    Q_EMIT stateChanged();
}

void ReplayService::sendOrder()
{
    if (m_order && !std::exchange(m_orderSent, true)) {
        const replay::SweepRequest& request = m_order->request;
        m_cellsLeft = std::ssize(request.captures) * std::ssize(request.variants) * std::ssize(request.precisions);
        send(requestOf(*m_order, m_job));
    }
}

void ReplayService::cancel()
{
    if (!running()) {
        return;
    }
    if (m_orderSent) {
        send({{"id", ++m_lastId}, {"do", "cancel"}, {"job", m_job}});
        m_cancelling = m_job;
        m_killTimer.start();
    }
    endJob();
    Q_EMIT cancelled();
}

void ReplayService::endJob()
{
    m_job = 0;
    m_order.reset();
    m_orderSent = false;
    Q_EMIT stateChanged();
}

} // namespace nanscope
