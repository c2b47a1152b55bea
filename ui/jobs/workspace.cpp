// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/workspace.h"

#include <algorithm>
#include <utility>

#include "ui/models/capturemodel.h"
#include "ui/text.h"

namespace nanscope {

Workspace::Workspace(std::deque<ServiceProgram> programs, QObject* parent)
    : QObject(parent)
    , m_service(std::move(programs))
{
    m_notes.setMaxThreadCount(1);
    m_adviser.setMaxThreadCount(1);
    m_userFileReader.setMaxThreadCount(1);
    m_finder.setMaxThreadCount(1);
    connectJobs();
    connectReporter();
}

Workspace::~Workspace()
{
    m_leaving.emplace();
    m_notes.waitForDone();
    dropFindings();
    m_finder.waitForDone();
    m_adviser.clear();
    m_adviser.waitForDone();
    m_userFileReader.clear();
    m_userFileReader.waitForDone();
}

void Workspace::connectJobs()
{
    connect(&m_loader, &RunLoader::progressed, this, &Workspace::progressed);
    connect(&m_loader, &RunLoader::loaded, this, &Workspace::onLoaded);
    connect(&m_loader, &RunLoader::arrived, this, &Workspace::onArrived);
    connect(&m_loader, &RunLoader::judged, this, &Workspace::onJudged);
    connect(&m_loader, &RunLoader::idle, this, [this] {
        m_judging = false;
        m_refreshing = false;
        Q_EMIT stateChanged();
        // After the verdicts of the job that has ended.
        QMetaObject::invokeMethod(this, &Workspace::askFindings, Qt::QueuedConnection);
        if (std::exchange(m_folderChanged, false)) {
            onFolderChanged();
        }
    });
    connect(&m_follower, &FolderFollower::changed, this, &Workspace::onFolderChanged);
    connect(&m_loader, &RunLoader::cancelled, this, [this] { Q_EMIT note(tr("Cancelled")); });
    connect(
        &m_loader, &RunLoader::failed, this, [this](const Error& error) { Q_EMIT problem(qstr(sentence(error)), {}); });
    connect(&m_tensors, &TensorLoader::loaded, this, &Workspace::picturesChanged);
    connect(&m_tensors, &TensorLoader::failed, this, &Workspace::picturesMissing);
    connect(&m_film, &CellFilm::changed, this, &Workspace::filmChanged);
    connect(&m_film, &CellFilm::missing, this, &Workspace::filmMissing);
    connect(&m_film, &CellFilm::changed, this, &Workspace::stateChanged);
    connect(&m_film, &CellFilm::missing, this, &Workspace::stateChanged);
    connect(&m_film, &CellFilm::progressed, this, &Workspace::progressed);
    connect(&m_cliff, &CliffLoader::ready, this, &Workspace::onCliff);
    connect(&m_cliff, &CliffLoader::failed, this, &Workspace::cliffFailed);
    connect(&m_deep, &DeepJob::progressed, this, &Workspace::deepProgressed);
    connect(&m_deep, &DeepJob::measured, this, &Workspace::onDeep);
    connect(&m_deep, &DeepJob::ended, this, &Workspace::deepEnded);
    m_beside.setSweeping(false);
    connect(&m_beside, &CellFilm::progressed, this, &Workspace::progressed);
    connect(&m_service, &ReplayService::stateChanged, this, &Workspace::stateChanged);
    connect(&m_service, &ReplayService::progressed, this, &Workspace::progressed);
    connect(&m_service, &ReplayService::cellDone, this, &Workspace::onCell);
    connect(&m_service, &ReplayService::finished, this, [this] {
        Q_EMIT note(tr("Sweep done"));
        if (!m_film.showing()) {
            showDefaultCell();
        }
    });
    connect(&m_service, &ReplayService::cancelled, this, [this] { Q_EMIT note(tr("Cancelled")); });
    connect(&m_service, &ReplayService::failed, this, &Workspace::problem);
}

void Workspace::connectReporter()
{
    connect(this, &Workspace::runChanged, &m_reporter, &Reporter::subjectChanged);
    connect(this, &Workspace::selectionChanged, &m_reporter, &Reporter::subjectChanged);
    connect(this, &Workspace::cellAdded, &m_reporter, &Reporter::subjectChanged);
    connect(&m_reporter, &Reporter::problem, this, &Workspace::problem);
    connect(this, &Workspace::userFilesChanged, &m_reporter, &Reporter::subjectChanged);
    connect(this, &Workspace::findingsChanged, &m_reporter, &Reporter::subjectChanged);
    connect(&m_reporter, &Reporter::progressed, this, &Workspace::progressed);
    connect(&m_reporter, &Reporter::savingChanged, this, &Workspace::stateChanged);
    connect(&m_reporter, &Reporter::cancelled, this, [this] { Q_EMIT note(tr("Cancelled")); });
}

void Workspace::select(int capture)
{
    if (capture == m_selected) {
        return;
    }
    m_selected = capture;
    Q_EMIT selectionChanged();
    const CaptureVerdict* judged = verdict();
    loadPictures(judged ? judged->facts.damage.batch : 0);
    showDefaultCell();
}

void Workspace::showBatch(std::int64_t batch)
{
    loadPictures(batch);
}

void Workspace::loadPictures(std::int64_t batch)
{
    if (const Capture* shown = capture()) {
        m_tensors.load(*shown, batch);
    } else {
        m_tensors.drop();
        Q_EMIT picturesMissing(QString());
    }
}

const Capture* Workspace::capture() const
{
    if (!m_loaded.run || m_selected < 0 || static_cast<std::size_t>(m_selected) >= m_loaded.run->captures.size()) {
        return nullptr;
    }
    return &m_loaded.run->captures[static_cast<std::size_t>(m_selected)];
}

const CaptureVerdict* Workspace::verdict() const
{
    const Capture* shown = capture();
    return shown && m_loaded.known() ? verdictOf(*m_loaded.known(), *shown) : nullptr;
}

int Workspace::causeOf(const CaptureVerdict& verdict) const
{
    const auto& captures = m_loaded.run->captures;
    const auto found = std::ranges::find(captures, verdict.causedBy, &Capture::file);
    return found == captures.end() ? -1 : static_cast<int>(found - captures.begin());
}

void Workspace::cancel()
{
    m_reporter.cancel();
    cancelReplays();
}

void Workspace::cancelReplays()
{
    m_deep.cancel();
    m_measure.cancel();
    m_loader.cancel();
    m_service.cancel();
    m_film.cancelReplay();
    m_beside.cancelReplay();
}

void Workspace::startService()
{
    m_service.start();
}

bool Workspace::busy() const
{
    return m_loader.busy() || m_service.running() || m_reporter.saving();
}

bool Workspace::settled() const
{
    return !busy() && !m_tensors.busy() && !m_film.busy() && !m_beside.busy() && !m_deep.busy() && !m_cliff.busy()
        && m_service.settled() && !m_reporter.busy() && !m_whatIf.busy() && !m_measure.busy() && !m_advising
        && !m_loaded.findingsDue() && m_readingUserFiles == 0;
}

ReportSubject Workspace::reportSubject() const
{
    const CaptureVerdict* judged = verdict();
    return {m_loaded, judged && judged->role == Role::birth ? judged->capture : std::string()};
}

} // namespace nanscope
