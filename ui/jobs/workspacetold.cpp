// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Files in which the user says what they know of the open run.
#include "ui/jobs/workspace.h"

#include <algorithm>
#include <utility>

#include "ui/jobs/readtold.h"
#include "ui/text.h"

namespace nanscope {

namespace {

bool canBeJudged(const RunData& run)
{
    return !run.captures.empty() || !run.series.empty() || !run.events.empty();
}

} // namespace

/// Who names one file while another is still read names both.
KnownFiles Workspace::toldSoon() const
{
    return m_telling > 0 ? m_asked : m_loaded.told;
}

void Workspace::addTold(KnownKind kind, const QStringList& paths)
{
    KnownFiles told = toldSoon();
    for (const QString& path : paths) {
        told = withFile(std::move(told), kind, path.toStdString());
    }
    tell(told, true);
}

void Workspace::removeTold(KnownKind kind, const QString& path)
{
    tell(withoutFile(toldSoon(), kind, path.toStdString()), false);
}

/// `strict`: what is new must be of use. What was so once is kept, and says why it no longer is.
void Workspace::tell(const KnownFiles& told, bool strict)
{
    if (!hasRun()) {
        return;
    }
    m_asked = told;
    ++m_telling;
    background(
        m_teller, this, [told, place = m_loaded.place()] { return knownBeside(place, told); },
        [this, told, strict, job = m_tellings.begin()](KnownFacts known) {
            --m_telling;
            if (m_tellings.isCurrent(job)) {
                onTold(told, std::move(known), strict);
            }
        });
}

void Workspace::onTold(const KnownFiles& told, KnownFacts known, bool strict)
{
    const auto isNew = [this](const KnownFile& file) {
        return std::ranges::none_of(m_loaded.toldFiles,
            [&](const KnownFile& before) { return before.kind == file.kind && before.path == file.path; });
    };
    const auto bad =
        std::ranges::find_if(known.files, [&](const KnownFile& file) { return strict && file.problem && isNew(file); });
    if (bad != known.files.end()) {
        Q_EMIT toldRefused(qstr(sentence(*bad->problem)));
        // Reading them has made their variants known.
        ++m_telling;
        m_asked = m_loaded.told;
        background(
            m_teller, this, [before = m_loaded.told, place = m_loaded.place()] { return knownBeside(place, before); },
            [this](const KnownFacts& /*known*/) { --m_telling; });
        return;
    }
    m_loaded.toldFiles = std::move(known.files);
    const bool news = std::exchange(m_loaded.told, told) != told || strict;
    if (news && canBeJudged(*m_loaded.run)) {
        judgeAgain();
    }
    Q_EMIT toldChanged();
}

QStringList Workspace::toldProblems() const
{
    QStringList sentences;
    for (const KnownFile& file : m_loaded.toldFiles) {
        if (file.problem) {
            sentences << qstr(sentence(*file.problem));
        }
    }
    return sentences;
}

} // namespace nanscope
