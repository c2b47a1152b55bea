// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/readtold.h"

#include <algorithm>
#include <iterator>

#include "core/known/ownvariants.h"
#include "core/replay/sessionvariants.h"
#include "core/report/report.h"

namespace nanscope {

namespace {

std::vector<std::string> useKept(const Session& session, const KnownFiles& told)
{
    auto kept = keptVariants(session);
    if (!kept) {
        return {sentence(kept.error())};
    }
    auto notes = useKeptVariants(kept->variants, told.variants);
    std::ranges::copy(kept->leftOut, std::back_inserter(notes));
    return notes;
}

} // namespace

std::vector<KnownFile> useOwn(const Session* session, const KnownFiles& told, RunData& run)
{
    const auto notes = session ? useKept(*session, told) : useKeptVariants({}, told.variants);
    for (const auto& note : notes) {
        run.rejected.push_back({session ? session->path().string() : run.root, note});
    }
    return knownOf(told).files;
}

KnownFacts knownBeside(const KeptIn& place, const KnownFiles& told)
{
    if (!place.session.empty()) {
        if (const auto session = openSessionOfRun(place.session, OpenMode::readOnly, place.run)) {
            (void)useKept(*session, told);
        }
    }
    return knownOf(told);
}

std::string toldStamp(const KnownFiles& told, const Session& session)
{
    auto stamp = stampOf(told);
    if (const auto kept = session.variants()) {
        for (const StoredVariant& variant : *kept) {
            stamp += variant.definition;
        }
    }
    return stamp.empty() ? stamp : hashText(stamp);
}

std::string toldStamp(const LoadedRun& run)
{
    const auto session = openSessionOfRun(run.session, OpenMode::readOnly, run.key());
    return session ? toldStamp(run.told, *session) : std::string();
}

} // namespace nanscope
