// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/replayservice.h"

#include <algorithm>
#include <utility>

#include <QFileInfo>
#include <QSettings>
#include <QThreadPool>

#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/json/records.h"
#include "core/platform/platform.h"
#include "core/platform/sharedmemory.h"
#include "core/rpc/answers.h"
#include "core/rpc/client.h"
#include "core/rpc/requests.h"
#include "ui/shared/text.h"

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

QString textOf(const Json& json)
{
    constexpr qsizetype longest = 1000;
    return json.is_string() ? qstr(json.get<std::string>()).left(longest) : QString();
}

QStringList textsOf(const Json& json)
{
    constexpr std::size_t most = 20;
    QStringList texts;
    for (std::size_t i = 0; json.is_array() && i < std::min(json.size(), most); ++i) {
        texts << textOf(json[i]);
    }
    return texts;
}

std::vector<ReplayDevice> devicesOf(const Json& json)
{
    constexpr std::size_t most = 64;
    std::vector<ReplayDevice> devices;
    for (std::size_t i = 0; json.is_array() && i < std::min(json.size(), most); ++i) {
        const QString name = textOf(rpc::member(json[i], "name"));
        if (!name.isEmpty()) {
            devices.push_back({name, textOf(rpc::member(json[i], "hardware"))});
        }
    }
    return devices;
}

int idOf(const Json& answer)
{
    std::int64_t id = 0;
    rpc::readInteger(rpc::member(answer, "id"), id);
    return std::in_range<int>(id) ? static_cast<int>(id) : 0;
}

Progress progressOf(const Json& json)
{
    const auto text = [&](const char* key) { return textOf(rpc::member(json, key)).toStdString(); };
    Progress progress {text("job"), text("phase"), 0, 0, text("unit"), text("message")};
    rpc::readInteger(rpc::member(json, "done"), progress.done);
    rpc::readInteger(rpc::member(json, "total"), progress.total);
    return progress;
}

} // namespace

std::deque<ServiceProgram> servicePrograms()
{
    const QString folder = exactText(platform::programFolder().string());
    const QString fromSettings = QSettings().value(QStringLiteral("worker/path")).toString();
    std::deque<ServiceProgram> programs;
    const bool there = QFileInfo(fromSettings).isExecutable();
    const QString worker = exactText(rpc::workerProgram(there ? fromSettings.toStdString() : std::string()).string());
    if (QFileInfo(worker).isExecutable()) {
        programs.push_back({worker, {QStringLiteral("serve")}, true});
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
            tr("The replay process %1; the cells that it had finished are kept (%2)").arg(how, ended.program), details);
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
    if (!m_process && !m_engine.isEmpty()) {
        return tr("Worker: stopped; starts when needed");
    }
    return m_engine.isEmpty() ? tr("Worker: starting") : tr("Worker: %1").arg(m_engine);
}

void ReplayService::chooseDevices(const QStringList& names)
{
    m_wantedDevices = names;
    Q_EMIT stateChanged();
}

QStringList ReplayService::chosenDevices() const
{
    QStringList wanted;
    QStringList gpus;
    for (const ReplayDevice& device : m_devices) {
        if (m_wantedDevices.contains(device.name)) {
            wanted << device.name;
        }
        if (device.name != QLatin1String("cpu")) {
            gpus << device.name;
        }
    }
    const QStringList chosen = wanted.isEmpty() ? gpus : wanted;
    return chosen.isEmpty() ? QStringList(QStringLiteral("cpu")) : chosen;
}

rpc::DevicePlace ReplayService::firstGpu() const
{
    if (m_programs.empty() || !m_programs.front().worker) {
        return {};
    }
    const QStringList chosen = chosenDevices();
    const auto gpu = std::ranges::find_if(chosen, [](const QString& name) { return name != QLatin1String("cpu"); });
    return gpu == chosen.end() ? rpc::DevicePlace()
                               : rpc::DevicePlace {gpu->toStdString(), m_programs.front().program.toStdString()};
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
        m_cellsLeft = replay::cellCount(m_order->request);
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

// What the replay service is asked besides sweeps.

int ReplayService::ask(nlohmann::ordered_json request, Answered answered)
{
    const int id = ++m_lastId;
    request["id"] = id;
    m_questions[id] = {QByteArray::fromStdString(jsonText(request)) + '\n', std::move(answered), false};
    if (m_programs.empty()) {
        loseQuestions(
            tr("There is no program to replay with; build nanscope beside nanscope-gui, or set NANSCOPE_WORKER"));
    } else if (!m_process) {
        startProcess();
    } else if (m_ready) {
        sendQuestions();
    }
    return id;
}

void ReplayService::stop(int id)
{
    const auto found = m_questions.find(id);
    if (found == m_questions.end()) {
        return;
    }
    if (!found->second.sent) {
        m_questions.erase(found);
        return;
    }
    send({{"id", ++m_lastId}, {"do", "cancel"}, {"job", id}});
    found->second.stopped = true;
    // Behind a sweep its end may be long in coming.
    if (!running() && !m_killTimer.isActive()) {
        m_killTimer.start();
    }
}

void ReplayService::sendQuestions()
{
    for (auto& [id, question] : m_questions) {
        if (!std::exchange(question.sent, true)) {
            m_process->write(question.line);
        }
    }
}

bool ReplayService::answerQuestion(int id, const nlohmann::ordered_json& answer, bool last)
{
    const auto found = m_questions.find(id);
    if (found == m_questions.end()) {
        return false;
    }
    const Answered answered = found->second.answered;
    if (last) {
        m_questions.erase(found);
        const auto stopped = [](const auto& question) { return question.second.stopped; };
        if (m_cancelling == 0 && std::ranges::none_of(m_questions, stopped)) {
            m_killTimer.stop();
        }
    }
    answered(id, answer);
    return true;
}

void ReplayService::loseQuestions(const QString& sentence)
{
    for (auto& [id, question] : m_questions) {
        // Later, because whoever is told may ask again, and this runs while the process is being let go.
        const auto tell = [id = id, answered = std::move(question.answered), sentence] {
            answered(id, {{"error", sentence.toStdString()}});
        };
        QMetaObject::invokeMethod(this, tell, Qt::QueuedConnection);
    }
    m_questions.clear();
}

// What the replay service says. It is another program, perhaps of another version or out of its mind: nothing it sends
// is believed to have a shape, an end or a reason.

void ReplayService::readLines()
{
    const QProcess* process = m_process.get();
    const QByteArray got = m_process->readAllStandardOutput();
    qsizetype from = 0;
    for (qsizetype end = got.indexOf('\n'); end >= 0; end = got.indexOf('\n', from)) {
        takeLine(std::exchange(m_line, {}) + got.mid(from, end - from));
        from = end + 1;
        if (m_process.get() != process) {
            return;
        }
        if (m_rubbish > mostRubbishBytes) {
            onEnded(tr("sent what is no answer and was stopped"));
            return;
        }
    }
    m_line += got.mid(from);
    if (m_line.size() > mostRubbishBytes) {
        onEnded(tr("sent a line without end and was stopped"));
    }
}

void ReplayService::takeLine(const QByteArray& line)
{
    // A library that prints a few words is no fault; short lines cost more than their length.
    constexpr qint64 perLine = 64;
    const Json answer = rpc::parseServiceLine(line.toStdString());
    if (!answer.is_object() || !handle(answer)) {
        m_rubbish += line.size() + perLine;
    }
}

/// False where it is the answer to nothing.
bool ReplayService::handle(const Json& answer)
{
    const int id = idOf(answer);
    if (answer.contains("hello")) {
        const bool awaited = !m_ready;
        handleHello(answer["hello"]);
        return awaited;
    }
    if (answer.contains("progress") && !m_gate.opensFor(progressOf(answer["progress"]))) {
        return id == m_job || m_questions.contains(id);
    }
    const bool ends = answer.contains("done") || answer.contains("error") || answer.contains("cancelled");
    // What a cancelled sweep still sends is stored by the service, and no longer shown.
    bool awaited = m_cancelling != 0 && id == m_cancelling;
    if (ends && awaited) {
        m_killTimer.stop();
        m_cancelling = 0;
    }
    if (id != 0 && id == m_job) {
        awaited = handleJob(answer);
    }
    if (answerQuestion(id, answer, ends)) {
        return true;
    }
    rpc::discardAnswer(answer);
    return awaited;
}

void ReplayService::handleHello(const Json& hello)
{
    if (!rpc::isOfThisVersion(hello)) {
        onEnded(tr("is of another version of Nanscope and has to be built again"));
        return;
    }
    m_ready = true;
    m_helloTimer.stop();
    QStringList parts {textOf(rpc::member(hello, "engine"))};
    m_devices = devicesOf(rpc::member(hello, "devices"));
    for (const ReplayDevice& device : m_devices) {
        parts << device.name.toUpper();
    }
    m_engine = parts.join(QStringLiteral(" · "));
    m_notes = textsOf(rpc::member(hello, "notes"));
    sendOrder();
    sendQuestions();
    Q_EMIT stateChanged();
}

bool ReplayService::handleJob(const Json& answer)
{
    if (answer.contains("progress")) {
        Q_EMIT progressed(progressOf(answer["progress"]));
    } else if (answer.contains("cell")) {
        const auto cell = cellFromJson(answer["cell"]);
        if (!cell || m_cellsLeft-- <= 0) {
            return false;
        }
        Q_EMIT cellDone(*cell);
    } else if (answer.contains("done")) {
        endJob();
        Q_EMIT finished();
    } else if (answer.contains("cancelled")) {
        endJob();
        Q_EMIT cancelled();
    } else if (answer.contains("error")) {
        const QString sentence = textOf(answer["error"]);
        endJob();
        Q_EMIT failed(sentence, {});
    } else {
        return false;
    }
    return true;
}

void ServiceRequest::ask(Json request, const Heard& heard)
{
    drop();
    if (!m_service) {
        return;
    }
    m_id = m_service->ask(std::move(request), [self = QPointer(this), heard](int id, const Json& answer) {
        if (self && id == self->m_id) {
            self->take(answer, heard);
        } else if (answer.contains(heard.key)) {
            // Freeing a large block takes its time.
            QThreadPool::globalInstance()->start([answer] { rpc::discardAnswer(answer); });
        }
    });
}

bool ServiceRequest::drop()
{
    const int id = std::exchange(m_id, 0);
    if (id != 0 && m_service) {
        m_service->stop(id);
    }
    return id != 0;
}

void ServiceRequest::take(const Json& answer, const Heard& heard)
{
    if (answer.contains("progress")) {
        if (heard.progressed) {
            heard.progressed(progressOf(answer["progress"]));
        }
        return;
    }
    m_id = 0;
    if (answer.contains(heard.key)) {
        if (const auto taken = heard.answered(answer); !taken) {
            heard.failed(qstr(sentence(taken.error())));
        }
        return;
    }
    const QString why = textOf(rpc::member(answer, "error"));
    heard.failed(why.isEmpty() ? tr("The replay process ended the request without an answer") : why);
}

} // namespace nanscope
