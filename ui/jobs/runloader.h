// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <QObject>
#include <QThreadPool>
#include <QTimer>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "core/rpc/remotedevice.h"
#include "core/rpc/requests.h"
#include "core/workflow/runnews.h"
#include "core/workflow/userfiles.h"
#include "ui/jobs/background.h"

namespace nanscope {

/// A run as the window holds it: points only where no session holds them.
struct LoadedRun
{
    std::shared_ptr<const RunData> run;
    std::shared_ptr<const Diagnosis> triage; ///< what is known before any replay, and the verdicts reached since
    std::shared_ptr<const Diagnosis> diagnosis; ///< of an earlier visit, or none
    std::optional<int> otherRules; ///< of another program, that its diagnosis was judged by: it is judged anew
    std::optional<std::int64_t> newestPoints; ///< of each series that the diagnosis was read from; none for all
    /// The best that is known by now.
    const std::shared_ptr<const Diagnosis>& known() const { return diagnosis ? diagnosis : triage; }
    Observations observed; ///< what the owner of the run said they saw
    std::vector<std::string> ran; ///< of the plausible variants, what they say ran; empty where they do not know
    std::vector<Cell> cells;
    diagnose::FindingChoices choices; ///< what the user chose of findings
    std::string foundBy; ///< the spike rule that the findings of `diagnosis` were drawn by, as in FindingChoices
    /// The findings of `diagnosis` are to be asked anew, of the points.
    bool findingsDue() const { return diagnosis && foundBy != choices.spikeRule; }
    workflow::UserFiles userFiles; ///< what the user knows of it beside what it left
    std::vector<workflow::UserFile> userFilesAsRead; ///< the same as it was read last
    replay::Catalogue kept; ///< the variants that its session keeps
    replay::Catalogue catalogue; ///< with those of the user's files
    std::filesystem::path opened;
    std::filesystem::path session; ///< empty where no session could be written
    std::string sessionProblem;
    std::shared_ptr<const workflow::RunNews> news; ///< what was seen of it so far
    std::vector<std::string> came; ///< since it was read before: births and first values that are not finite
    bool sessionMadeAnew = false; ///< it was gone when the run was read again, and holds now what the window held
    /// There is a capture, or a log that tells of a run.
    bool canBeJudged() const;
    /// Nor is there a checkpoint.
    bool holdsNothing() const;
    /// Tells its session from another run's (openSessionOfRun).
    std::string key() const;
    /// Where what is replayed for this run is kept; nowhere without a session.
    rpc::KeptIn place() const;
};

/// What the user said and chose of a run on an earlier visit.
struct UserContext
{
    workflow::UserFiles userFiles {};
    diagnose::FindingChoices choices {};
    std::vector<std::string> ran {};
    std::shared_ptr<const workflow::RunNews> news {}; ///< none where the run was not open before
};

/// Of the run of this session; asked on the loader's thread.
using UserContextOf = std::function<UserContext(const std::filesystem::path& session)>;

struct OpenDevice;
struct ReadRun;

/// Imports and judges on a thread of its own. A new request cancels the one before; its results never arrive.
class RunLoader : public QObject
{
    Q_OBJECT

public:
    explicit RunLoader(QObject* parent = nullptr);
    ~RunLoader() override;

    /// A folder, a capture, or a session file.
    void open(const std::filesystem::path& path, const UserContextOf& userContextOf = {});
    /// The same run as the window holds it, with what is new. `rescan` judges again even if nothing is.
    void openAgain(const LoadedRun& run, bool rescan);
    /// Goes on where one was stopped (DiagnoseOptions), if any.
    void judge(const LoadedRun& run, const std::shared_ptr<const Diagnosis>& stopped = {});
    /// Seconds after which no other capture is judged; what is known then is the answer.
    void limitJudging(std::optional<double> seconds) { m_timeLimit = seconds; }
    /// From the next run to be judged on; the CPU where the device cannot be opened, or fails.
    void replayOn(rpc::DevicePlace device) { m_device = std::move(device); }
    /// The one that is looked at is judged next, also while others are.
    void judgeFirst(const Capture& capture);
    /// What was judged until then still arrives, unless another request comes first.
    void cancel();
    bool busy() const { return m_busy; }

Q_SIGNALS:
    void progressed(const nanscope::Progress& progress);
    /// Twice where the logs take long: with the captures, then with all there is.
    void loaded(const nanscope::LoadedRun& run, bool judging);
    /// Verdicts on the way to judged(), a few times a second, and what is known of a capture before its replays.
    void arrived(const std::vector<nanscope::CaptureVerdict>& verdicts);
    void judged(std::shared_ptr<const nanscope::Diagnosis> diagnosis);
    void failed(const nanscope::Error& error);
    void cancelled();
    void idle();

private:
    JobContext begin();
    void read(const std::function<Result<ReadRun>(const JobContext&)>& how, bool rescan);
    void finish(int job);
    std::function<void(const CaptureVerdict&)> collector(int job);
    void passOnArrived();
    void reportLoaded(int job, const LoadedRun& run, bool judging);
    void reportJudged(int job, Result<Diagnosis> diagnosis);

    JobTracker m_jobs;
    int m_job = 0;
    CancelToken m_cancel;
    bool m_busy = false;
    bool m_judging = false;
    std::optional<double> m_timeLimit;
    struct Wanted;

    rpc::DevicePlace m_device;
    std::shared_ptr<Wanted> m_wanted; ///< asked by the judging thread
    std::shared_ptr<OpenDevice> m_open; ///< of the pool's thread
    std::vector<CaptureVerdict> m_arrived;
    QTimer m_arrivals;
    QThreadPool m_pool; ///< last member: its threads end before anything they use
};

} // namespace nanscope
