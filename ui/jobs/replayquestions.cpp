// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the replay service is asked besides sweeps.
#include <utility>

#include <nlohmann/json.hpp>

#include "ui/jobs/replayservice.h"

namespace nanscope {

int ReplayService::ask(nlohmann::ordered_json request, Answered answered)
{
    const int id = ++m_lastId;
    request["id"] = id;
    m_questions[id] = {QByteArray::fromStdString(request.dump()) + '\n', std::move(answered), false};
    if (m_programs.empty()) {
        loseQuestions(
            true, tr("There is no program to replay with; build nanscope beside nanscope-gui, or set NANSCOPE_WORKER"));
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
    if (found->second.sent) {
        send({{"id", ++m_lastId}, {"do", "cancel"}, {"job", id}});
        return;
    }
    m_questions.erase(found);
}

void ReplayService::sendQuestions()
{
    for (auto& [id, question] : m_questions) {
        if (!std::exchange(question.sent, true)) {
            m_process->write(question.line);
        }
    }
}

void ReplayService::answerQuestion(int id, const nlohmann::ordered_json& answer, bool last)
{
    const auto found = m_questions.find(id);
    if (found == m_questions.end()) {
        return;
    }
    const Answered answered = found->second.answered;
    if (last) {
        m_questions.erase(found);
    }
    answered(id, answer);
}

void ReplayService::loseQuestions(bool unsentToo, const QString& sentence)
{
    for (auto question = m_questions.begin(); question != m_questions.end();) {
        if (!question->second.sent && !unsentToo) {
            ++question;
            continue;
        }
        // Later, because whoever is told may ask again, and this runs while the process is being let go.
        const auto tell = [id = question->first, answered = std::move(question->second.answered), sentence] {
            answered(id, {{"error", sentence.toStdString()}});
        };
        QMetaObject::invokeMethod(this, tell, Qt::QueuedConnection);
        question = m_questions.erase(question);
    }
}

} // namespace nanscope
