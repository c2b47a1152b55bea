// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Files in which the user says what they know of the open run.
#include "ui/jobs/workspace.h"

#include <algorithm>
#include <utility>

#include "core/workflow/userfiles.h"
#include "ui/text.h"

namespace nanscope {

namespace {

bool canBeJudged(const RunData& run)
{
    return !run.captures.empty() || !run.series.empty() || !run.events.empty();
}

} // namespace

/// Who names one file while another is still read names both.
workflow::UserFiles Workspace::userFilesSoon() const
{
    return m_readingUserFiles > 0 ? m_asked : m_loaded.userFiles;
}

void Workspace::addUserFiles(workflow::UserFileKind kind, const QStringList& paths)
{
    workflow::UserFiles userFiles = userFilesSoon();
    for (const QString& path : paths) {
        userFiles = workflow::withFile(std::move(userFiles), kind, path.toStdString());
    }
    setUserFiles(userFiles, true);
}

void Workspace::removeUserFile(workflow::UserFileKind kind, const QString& path)
{
    setUserFiles(workflow::withoutFile(userFilesSoon(), kind, path.toStdString()), false);
}

/// `strict`: what is new must be of use. What was so once is kept, and says why it no longer is.
void Workspace::setUserFiles(const workflow::UserFiles& userFiles, bool strict)
{
    if (!hasRun()) {
        return;
    }
    m_asked = userFiles;
    ++m_readingUserFiles;
    background(
        m_userFileReader, this,
        [userFiles, place = m_loaded.place()] { return workflow::readUserFilesBeside(place, userFiles); },
        [this, userFiles, strict, job = m_userFileReadings.begin()](workflow::UserFacts known) {
            --m_readingUserFiles;
            if (m_userFileReadings.isCurrent(job)) {
                onUserFilesRead(userFiles, std::move(known), strict);
            }
        });
}

void Workspace::onUserFilesRead(const workflow::UserFiles& userFiles, workflow::UserFacts known, bool strict)
{
    const auto isNew = [this](const workflow::UserFile& file) {
        return std::ranges::none_of(m_loaded.userFilesAsRead,
            [&](const workflow::UserFile& before) { return before.kind == file.kind && before.path == file.path; });
    };
    const auto bad = std::ranges::find_if(
        known.files, [&](const workflow::UserFile& file) { return strict && file.problem && isNew(file); });
    if (bad != known.files.end()) {
        Q_EMIT userFileRefused(qstr(sentence(*bad->problem)));
        return;
    }
    m_loaded.userFilesAsRead = std::move(known.files);
    m_loaded.kept = std::move(known.kept);
    m_loaded.catalogue = std::move(known.catalogue);
    const bool news = std::exchange(m_loaded.userFiles, userFiles) != userFiles || strict;
    if (news && canBeJudged(*m_loaded.run)) {
        judgeAgain();
    }
    Q_EMIT userFilesChanged();
}

QStringList Workspace::userFileProblems() const
{
    QStringList sentences;
    for (const workflow::UserFile& file : m_loaded.userFilesAsRead) {
        if (file.problem) {
            sentences << qstr(sentence(*file.problem));
        }
    }
    return sentences;
}

} // namespace nanscope
