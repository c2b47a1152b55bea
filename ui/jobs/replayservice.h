// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <QObject>
#include <QPointer>
#include <QProcess>
#include <QStringList>
#include <QTimer>

#include "core/rpc/remotedevice.h"
#include "core/rpc/requests.h"
#include "ui/jobs/background.h"

namespace nanscope {

/// A process that can be started as replay service.
struct ServiceProgram
{
    QString program;
    QStringList arguments;
    bool worker = false; ///< nanscope-worker rather than the command line's own CPU device
};

/// Something the service replays on.
struct ReplayDevice
{
    QString name; ///< "cpu", "cuda:0"
    QString hardware; ///< "NVIDIA H100 80GB HBM3"
};

/// The worker (rpc::workerProgram, which the settings may name), where it is there; after it `nanscope serve`.
std::deque<ServiceProgram> servicePrograms();

/// How long the process may take, in milliseconds.
struct ServicePatience
{
    int hello = 60000; ///< torch on a cold network disk takes half a minute
    int cancel = 2000;
};

/// The replay process behind the window, spoken to in JSON lines (core/rpc/server.h). Its death is reported; the
/// next sweep starts it again. cancel() answers at once, the process gets two seconds. A process that does not answer
/// or floods the window with what is no answer is ended, and that is reported as its death is.
class ReplayService : public QObject
{
    Q_OBJECT

public:
    explicit ReplayService(
        std::deque<ServiceProgram> programs, QObject* parent = nullptr, ServicePatience patience = {});
    ~ReplayService() override;

    void start();
    void sweep(const rpc::SweepOrder& order);
    void cancel();

    /// For everything but sweeps: what the service answers to this request (server.h), the last time with "done",
    /// "error" or "cancelled". A process that goes away is an "error", too. Returns the id of the request.
    using Answered = std::function<void(int id, const nlohmann::ordered_json& answer)>;
    int ask(nlohmann::ordered_json request, Answered answered);
    /// Asks the service to stop what this id asked for; the answers still come. One that goes on all the same is ended
    /// like one that ignores cancel().
    void stop(int id);

    bool available() const { return !m_programs.empty(); }
    /// A program has said what it replays with.
    bool ready() const { return available() && (!m_engine.isEmpty() || !m_programs.front().worker); }
    bool running() const { return m_job != 0; }
    /// What the running sweep replays; none when there is none.
    const rpc::SweepOrder* order() const { return m_order ? &*m_order : nullptr; }
    bool alive() const { return m_process != nullptr; }
    /// True once the process answered, or when there is none to wait for.
    bool settled() const { return m_ready || !m_process; }
    /// "Worker: torch 2.11.0 · CPU", or that there is none.
    QString description() const;
    /// As it says of itself: why there is no GPU, for example.
    QStringList notes() const { return m_notes; }
    /// Empty until it has answered.
    const std::vector<ReplayDevice>& devices() const { return m_devices; }
    /// The user's choice; none: every GPU, and the CPU where there is none.
    void chooseDevices(const QStringList& names);
    /// What replays run on: of what was chosen that which is there. Never empty.
    QStringList chosenDevices() const;
    /// The first GPU of them; core's own CPU device where there is none, or none is known of yet.
    rpc::DevicePlace firstGpu() const;

    /// Of lines that are no answer, and of one line.
    static constexpr qint64 mostRubbishBytes = qint64 {16} << 20;

Q_SIGNALS:
    void stateChanged();
    void progressed(const nanscope::Progress& progress);
    void cellDone(const nanscope::Cell& cell);
    void finished();
    void cancelled();
    void failed(const QString& sentence, const QStringList& details);

private:
    struct Question
    {
        QByteArray line;
        Answered answered;
        bool sent = false;
        bool stopped = false;
    };

    void connectProcess(QProcess& process);
    void startProcess();
    void dropProcess();
    void giveUpProcess();
    void send(const nlohmann::ordered_json& request);
    void readLines();
    void takeLine(const QByteArray& line);
    bool handle(const nlohmann::ordered_json& answer);
    void handleHello(const nlohmann::ordered_json& hello);
    bool handleJob(const nlohmann::ordered_json& answer);
    void onEnded(const QString& how);
    void sendOrder();
    void endJob();
    void sendQuestions();
    bool answerQuestion(int id, const nlohmann::ordered_json& answer, bool last);
    void loseQuestions(const QString& sentence);

    std::deque<ServiceProgram> m_programs;
    std::unique_ptr<QProcess> m_process;
    QTimer m_helloTimer;
    QTimer m_killTimer;
    ProgressGate m_gate;
    QByteArray m_line; ///< begun by this process
    qint64 m_rubbish = 0; ///< bytes of this process
    bool m_ready = false;
    QString m_engine;
    QStringList m_notes;
    std::vector<ReplayDevice> m_devices;
    QStringList m_wantedDevices;
    QString m_errors; ///< end of the process's stderr
    std::optional<rpc::SweepOrder> m_order; ///< of the running sweep
    bool m_orderSent = false;
    qsizetype m_cellsLeft = 0; ///< that the running sweep may still bring
    std::map<int, Question> m_questions; ///< by id
    int m_lastId = 1;
    int m_job = 0; ///< id of the running sweep, 0 when there is none
    int m_cancelling = 0; ///< id of a sweep whose end is still awaited
};

/// One question at a time to the service: another one, or its end, stops the one before, of which no more is heard.
class ServiceRequest : public QObject
{
public:
    explicit ServiceRequest(ReplayService* service)
        : m_service(service)
    { }
    ~ServiceRequest() override { drop(); }

    struct Heard
    {
        const char* key; ///< that tells the answer from what else the service says
        std::function<Result<void>(const nlohmann::ordered_json& answer)> answered; ///< an error is a failure, too
        std::function<void(const QString& sentence)> failed;
        std::function<void(const Progress& progress)> progressed = {};
    };
    void ask(nlohmann::ordered_json request, const Heard& heard);
    /// False where nothing was asked.
    bool drop();
    bool busy() const { return m_id != 0; }

private:
    void take(const nlohmann::ordered_json& answer, const Heard& heard);

    QPointer<ReplayService> m_service;
    int m_id = 0;
};

} // namespace nanscope
