// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/openlog.h"

#include <limits>

#include "core/ingest/ingest.h"
#include "core/ingest/logscanner.h"
#include "core/ingest/settings/configfile.h"
#include "core/ingest/stores/mlflow.h"
#include "core/ingest/stores/tensorboard.h"
#include "core/ingest/stores/wandb.h"

namespace nanscope::ingest {

Result<std::unique_ptr<LogSource>> openLog(const std::filesystem::path& path, const std::string& relative,
    std::int64_t offset, std::int64_t firstLine, const std::vector<Series>& stored, const ColumnMap& columns)
{
    if (isEventFileName(path.filename().string())) {
        return openEventFile(path, relative, offset, firstLine, stored, columns);
    }
    if (isMlflowMetrics(path)) {
        return openMlflow(path, relative, columns);
    }
    if (isWandbName(path.filename().string())) {
        return openWandb(path, relative, offset, columns);
    }
    if (hasConfigName(relative) || isEnvironment(path)) {
        return openConfig(path, relative);
    }
    return LogScanner::open(path, relative, offset, firstLine, stored, columns)
        .map([](LogScanner&& scanner) -> std::unique_ptr<LogSource> {
            return std::make_unique<LogScanner>(std::move(scanner));
        });
}

Result<LogContents> readLog(const std::filesystem::path& path, const std::string& relative, std::int64_t offset,
    std::int64_t firstLine, const JobContext& job, const ColumnMap& columns)
{
    auto log = openLog(path, relative, offset, firstLine, {}, columns);
    if (!log) {
        return tl::make_unexpected(log.error());
    }
    auto contents = (*log)->next(std::numeric_limits<std::size_t>::max(), job.cancel);
    if (!(*log)->finished()) {
        return failure(ErrorKind::cancelled, "cancelled while reading a log", path.string());
    }
    return contents;
}

} // namespace nanscope::ingest
