// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/log/logsource.h"

#include <algorithm>
#include <span>

#include <re2/re2.h>

#include "core/base/try.h"
#include "core/platform/platform.h"

namespace nanscope::ingest {

LogPlace placeOf(const std::string& relative)
{
    // torchrun writes <id>/attempt_<n>/<local rank>/stdout.log, mpirun rank.<n>/stdout, submitit <job>_<task>_log.out
    // and Slurm's %j_%t the like; an array of jobs says slurm-<job>_<index>.out. Others put the rank into the name or
    // into the folder.
    static const RE2 torchrun(R"((?:^|/)attempt_(\d{1,6})/(\d{1,6})/std(?:out|err)\.log$)", RE2::Latin1);
    static const RE2 named(R"((?:^|[/_.-])rank[_-]?(\d{1,6})[^/]*$)", RE2::Latin1);
    static const RE2 inFolder(R"((?:^|/)rank[._-]?(\d{1,6})/[^/]*$)", RE2::Latin1);
    static const RE2 slurm(R"((?:^|/)\d{3,12}_(?:\d{1,6}_)?(\d{1,6})(?:_log)?\.(?:out|err)$)", RE2::Latin1);
    LogPlace place;
    int rank = 0;
    if (RE2::PartialMatch(relative, torchrun, &place.attempt, &rank) || RE2::PartialMatch(relative, named, &rank)
        || RE2::PartialMatch(relative, inFolder, &rank) || RE2::PartialMatch(relative, slurm, &rank)) {
        place.rank = rank;
    }
    return place;
}

bool isNamedLikeALog(const std::string& relative)
{
    static const RE2 named(R"(\.(?:log|out|err|jsonl|csv|tsv)(?:\.gz|\.zst|\.xz)?$)", RE2::Latin1);
    return RE2::PartialMatch(relative, named);
}

bool isNamedLikeAConsole(const std::string& relative)
{
    static const RE2 named(R"(\.(?:log|out)(?:\.gz|\.zst|\.xz)?$)", RE2::Latin1);
    static const RE2 ofWandb(R"((?:^|/)debug(?:-\w+)?\.log$)", RE2::Latin1);
    return RE2::PartialMatch(relative, named) && !RE2::PartialMatch(relative, ofWandb);
}

Result<void> refuseLfsPointer(std::string_view head, const std::filesystem::path& path)
{
    if (head.starts_with("version https://git-lfs")) {
        return failure(
            ErrorKind::format, "this is a Git LFS pointer, not the file itself; run git lfs pull", path.string());
    }
    return {};
}

Result<std::string> readHead(const platform::FileReader& file, const std::filesystem::path& path)
{
    std::string head(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 64)), '\0');
    TRY(file.readAt(0, std::as_writable_bytes(std::span(head))));
    TRY(refuseLfsPointer(head, path));
    return head;
}

} // namespace nanscope::ingest
