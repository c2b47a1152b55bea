// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "core/base/try.h"
#include "core/ingest/ingest.h"
#include "core/ingest/logimport.h"
#include "core/ingest/logscanner.h"

namespace nanscope::ingest {

namespace {

constexpr std::size_t mostSeen = 10'000;

class Survey
{
public:
    Survey(const ColumnMap& columns, const CancelToken& cancel)
        : m_columns(columns)
        , m_cancel(cancel)
    {
        for (const auto& entry : columns.entries) {
            m_missing.insert(entry.column);
        }
    }

    bool done() const { return m_missing.empty() || m_cancel.cancelled(); }

    void look(const FoundFile& file)
    {
        if (const auto table = guessFile(file.path)) {
            for (const auto& column : table->columns) {
                note(column.name);
            }
        }
        auto log = openLog(file.path, file.relative, 0, 0, {}, m_columns);
        while (log && !(*log)->finished() && !done()) {
            for (const auto& column : (*log)->next(pointsPerPiece, m_cancel).columns) {
                note(column);
            }
        }
    }

    ColumnSurvey result() const
    {
        return {{m_missing.begin(), m_missing.end()},
            m_missing.empty() ? std::vector<std::string>() : std::vector<std::string>(m_seen.begin(), m_seen.end())};
    }

private:
    void note(const std::string& column)
    {
        m_missing.erase(column);
        if (m_seen.size() < mostSeen) {
            m_seen.insert(column);
        }
    }

    const ColumnMap& m_columns;
    const CancelToken& m_cancel;
    std::set<std::string> m_missing;
    std::set<std::string> m_seen;
};

} // namespace

Result<ColumnSurvey> surveyColumns(
    const std::vector<std::filesystem::path>& paths, const ColumnMap& columns, const JobContext& job)
{
    Survey survey(columns, job.cancel);
    for (const auto& path : paths) {
        const auto found = TRY(findFiles(path, job));
        for (const auto& file : found.files) {
            if (file.kind == FoundFile::Kind::log && !survey.done()) {
                survey.look(file);
            }
        }
    }
    if (job.cancel.cancelled()) {
        return failure(ErrorKind::cancelled, "cancelled while looking for columns");
    }
    return survey.result();
}

} // namespace nanscope::ingest
