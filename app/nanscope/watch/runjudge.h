// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "core/model/verdict.h"
#include "core/workflow/judgement.h"
#include "core/workflow/openrun.h"

namespace nanscope {

/// Judges a watched run on a thread of its own, births of which nothing was said first. Of calls that came in damaged
/// in one step, and follow from none before, the first is told once all are judged. A judging that has said all it was
/// begun for makes way for a newer state of the run; one that has not goes on, however fast the run grows. A whole one
/// is kept in the session; where it cannot be stored, it waits for that and is not judged again.
class RunJudge
{
public:
    struct Subject
    {
        std::shared_ptr<const RunData> run;
        std::filesystem::path session; ///< empty where the run was read without one
        bool onlyToStore = false; ///< nothing is new: it is for the session that it is judged, if it has to be
    };

    /// What is called on the judging thread.
    struct Listener
    {
        std::function<void(const CaptureVerdict&, const RunData&)> verdict; ///< and again where it changed
        std::function<void(const std::string&)> failure; ///< a sentence
        std::function<void(const std::string&)> unkept; ///< why a diagnosis could not be stored, as a sentence
    };
    explicit RunJudge(Listener listener);
    ~RunJudge();
    RunJudge(const RunJudge&) = delete;
    RunJudge& operator=(const RunJudge&) = delete;

    /// Of this capture nothing is to be said, unless its verdict comes to be another than `blame`.
    void passOver(const Capture& capture, const std::string& blame = {});
    /// A capture that was written again: what was said of it, or is being judged now, is not said twice.
    void goOnAs(const std::string& before, const std::string& identity);
    /// The newest state takes the place of one that still waits.
    void judge(Subject subject);
    /// The last diagnosis is in no session: a subject with one that can be written stores it.
    bool owesDiagnosis() const { return m_owes; }

private:
    void work();
    std::optional<Subject> next();
    void judgeOne(const Subject& subject);
    workflow::OpenedRun opened(const Subject& subject) const;
    void keep(std::optional<session::Session>& session, workflow::StoredDiagnosis judged);
    void storeAgain(const Subject& subject);
    void store(session::Session& session);
    void begin(const RunData& run);
    void end();
    std::string newestOf(const std::string& identity) const;
    std::optional<std::string> identityOf(const CaptureVerdict& verdict) const;
    void take(const CaptureVerdict& verdict, const RunData& run, bool last);
    bool isUntold(const CaptureVerdict& verdict);
    void makeWay();

    const Listener m_listener;
    std::atomic<bool> m_owes = false;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::optional<Subject> m_waiting;
    /// Of the captures of the run, by the names they have now; those whose files were written over are left out.
    std::map<std::string, std::string> m_identities;
    std::map<std::string, std::string> m_goesOnAs; ///< the newest identity of captures that were written again
    std::map<std::string, std::string> m_told; ///< by the newest identity of the capture
    std::set<std::string> m_due; ///< births the judging under way was begun for
    CancelToken m_cancel; ///< of the judging under way
    bool m_judging = false;
    std::optional<workflow::StoredDiagnosis> m_unstored; ///< of a session that took no more; the thread's own
    bool m_over = false;
    std::thread m_thread; ///< last: it uses the others
};

} // namespace nanscope
