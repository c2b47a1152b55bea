// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the replay service is asked besides sweeps.
#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "ui/jobs/replayservice.h"

namespace nanscope {

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

} // namespace nanscope
