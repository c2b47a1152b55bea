// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/replayservice.h"

#include <QFileInfo>
#include <QSettings>

#include <nlohmann/json.hpp>

#include "core/platform/platform.h"
#include "core/platform/sharedmemory.h"
#include "core/report/report.h"
#include "ui/text.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

constexpr int helloId = 1;

QString textOf(const Json& json, const char* key)
{
    return json.contains(key) && json[key].is_string() ? qstr(json[key].get<std::string>()) : QString();
}

Json namesOf(const QStringList& names)
{
    Json array = Json::array();
    for (const QString& name : names) {
        array.push_back(name.toStdString());
    }
    return array;
}

Json requestOf(const SweepOrder& order, int id)
{
    Json precisions = Json::array();
    for (const Precision precision : order.precisions) {
        precisions.push_back(std::string(name(precision)));
    }
    return {{"id", id}, {"do", "sweep"}, {"captures", namesOf(order.captures)}, {"variants", namesOf(order.variants)},
        {"precisions", precisions}, {"lowerings", Json::array()}, {"devices", {"cpu"}}, {"epsilon", nullptr},
        {"steps", nullptr}, {"session", order.session.toStdString()}};
}

Progress progressOf(const Json& json)
{
    Progress progress;
    progress.job = json.value("job", std::string());
    progress.phase = json.value("phase", std::string());
    progress.message =
        json.contains("message") && json["message"].is_string() ? json["message"].get<std::string>() : "";
    progress.unit = json.value("unit", std::string());
    progress.done = json.contains("done") && json["done"].is_number() ? json["done"].get<std::int64_t>() : 0;
    progress.total = json.contains("total") && json["total"].is_number() ? json["total"].get<std::int64_t>() : 0;
    return progress;
}

} // namespace

std::deque<ServiceProgram> servicePrograms()
{
    const QString folder = qstr(programFolder().string());
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

ReplayService::ReplayService(std::deque<ServiceProgram> programs, QObject* parent)
    : QObject(parent)
    , m_programs(std::move(programs))
{
    m_killTimer.setSingleShot(true);
    m_killTimer.setInterval(killAfterMs);
    connect(&m_killTimer, &QTimer::timeout, this, [this] {
        dropProcess();
        Q_EMIT stateChanged();
    });
}

ReplayService::~ReplayService()
{
    if (!m_process) {
        return;
    }
    m_process->disconnect(this);
    // End of input makes the service cancel and leave; one that hangs is killed.
    m_process->closeWriteChannel();
    constexpr int patienceMs = 500;
    if (!m_process->waitForFinished(patienceMs)) {
        m_process->kill();
        m_process->waitForFinished();
        removeAbandonedBlocks();
    }
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
    m_process = std::make_unique<QProcess>();
    QProcess* process = m_process.get();
    connect(process, &QProcess::readyReadStandardOutput, this, &ReplayService::readLines);
    connect(process, &QProcess::readyReadStandardError, this, [this, process] {
        constexpr int kept = 4000;
        m_errors += QString::fromUtf8(process->readAllStandardError());
        m_errors = m_errors.right(kept);
    });
    connect(process, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
        onEnded(status == QProcess::CrashExit ? tr("was ended by signal %1").arg(code)
                                              : tr("ended with status %1").arg(code));
    });
    connect(process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) {
            onEnded(tr("did not start"));
        }
    });
    // Threads of OpenMP that spin while they wait made a sweep 25 times slower on a machine that had other work too.
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("OMP_WAIT_POLICY"), QStringLiteral("passive"));
    process->setProcessEnvironment(environment);
    process->start(m_programs.front().program, m_programs.front().arguments);
    send({{"id", helloId}, {"do", "hello"}});
}

void ReplayService::dropProcess()
{
    if (!m_process) {
        return;
    }
    m_killTimer.stop();
    m_cancelling = 0;
    m_ready = false;
    m_process->disconnect(this);
    m_process->kill();
    // Deleted later: this may run inside one of its own signals.
    QProcess* ended = m_process.release();
    connect(ended, &QProcess::finished, ended, &QObject::deleteLater);
    connect(ended, &QObject::destroyed, [] { removeAbandonedBlocks(); });
    if (ended->state() == QProcess::NotRunning) {
        ended->deleteLater();
    }
    loseQuestions(false, tr("The replay process ended before it answered"));
}

void ReplayService::onEnded(const QString& how)
{
    const ServiceProgram ended = m_programs.front();
    const bool neverAnswered = !m_ready;
    const QStringList details = m_errors.split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    const bool wasRunning = running() || m_order.has_value();
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
    m_order.reset();
    loseQuestions(true, tr("The replay process %1: %2").arg(how, ended.program));
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
        m_process->write(QByteArray::fromStdString(request.dump()) + '\n');
    }
}

void ReplayService::sweep(const SweepOrder& order)
{
    if (m_programs.empty()) {
        Q_EMIT failed(
            tr("There is no program to replay with; build nanscope beside nanscope-gui, or set NANSCOPE_WORKER"), {});
        return;
    }
    m_order = order;
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
    if (m_order) {
        send(requestOf(*m_order, m_job));
        m_order.reset();
    }
}

void ReplayService::cancel()
{
    if (!running()) {
        return;
    }
    if (!m_order) {
        send({{"id", ++m_lastId}, {"do", "cancel"}, {"job", m_job}});
        m_cancelling = m_job;
        m_killTimer.start();
    }
    m_order.reset();
    endJob();
    Q_EMIT cancelled();
}

void ReplayService::endJob()
{
    m_job = 0;
    Q_EMIT stateChanged();
}

void ReplayService::readLines()
{
    while (m_process && m_process->canReadLine()) {
        const QByteArray line = m_process->readLine();
        const Json answer = Json::parse(line.constData(), line.constData() + line.size(), nullptr, false);
        if (answer.is_object()) {
            handle(answer);
        }
    }
}

void ReplayService::handle(const Json& answer)
{
    const int id = answer.contains("id") && answer["id"].is_number_integer() ? answer["id"].get<int>() : 0;
    if (answer.contains("hello")) {
        handleHello(answer["hello"]);
        return;
    }
    const bool ends = answer.contains("done") || answer.contains("error") || answer.contains("cancelled");
    if (ends && id == m_cancelling) {
        m_killTimer.stop();
        m_cancelling = 0;
    }
    // What a cancelled sweep still sends is stored by the service, and no longer shown.
    if (id != 0 && id == m_job) {
        handleJob(answer);
    }
    answerQuestion(id, answer, ends);
}

void ReplayService::handleHello(const Json& hello)
{
    m_ready = true;
    QStringList parts {textOf(hello, "engine")};
    if (hello.contains("devices") && hello["devices"].is_array()) {
        for (const Json& device : hello["devices"]) {
            parts << textOf(device, "name").toUpper();
        }
    }
    m_engine = parts.join(QStringLiteral(" · "));
    m_notes.clear();
    if (hello.contains("notes") && hello["notes"].is_array()) {
        for (const Json& note : hello["notes"]) {
            m_notes << (note.is_string() ? qstr(note.get<std::string>()) : QString());
        }
    }
    sendOrder();
    sendQuestions();
    Q_EMIT stateChanged();
}

void ReplayService::handleJob(const Json& answer)
{
    if (answer.contains("progress")) {
        Q_EMIT progressed(progressOf(answer["progress"]));
    } else if (answer.contains("cell")) {
        if (const auto cell = cellFromJson(answer["cell"])) {
            Q_EMIT cellDone(*cell);
        }
    } else if (answer.contains("done")) {
        endJob();
        Q_EMIT finished();
    } else if (answer.contains("cancelled")) {
        endJob();
        Q_EMIT cancelled();
    } else if (answer.contains("error")) {
        const QString sentence = textOf(answer, "error");
        endJob();
        Q_EMIT failed(sentence, {});
    }
}

} // namespace nanscope
