// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the replay service says. It is another program, perhaps of another version or out of its mind: nothing it sends
// is believed to have a shape, an end or a reason.
#include <utility>

#include <nlohmann/json.hpp>

#include "core/json/records.h"
#include "core/rpc/answers.h"
#include "core/rpc/requests.h"
#include "ui/jobs/replayservice.h"
#include "ui/text.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

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
    m_ready = true;
    m_helloTimer.stop();
    QStringList parts {textOf(rpc::member(hello, "engine"))};
    const Json& devices = rpc::member(hello, "devices");
    for (std::size_t i = 0; devices.is_array() && i < std::min<std::size_t>(devices.size(), 20); ++i) {
        parts << textOf(rpc::member(devices[i], "name")).toUpper();
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

} // namespace nanscope
