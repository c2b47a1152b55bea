// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// The metrics of a run are merged by the time of each value, so that rows and restarts are those of the process that
// logged them, whatever file they went to.
#include "core/ingest/stores/mlflow.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>

#include <fmt/format.h>
#include <re2/re2.h>

#include "core/ingest/log/logbuilder.h"
#include "core/ingest/settings/settingsink.h"
#include "core/ingest/text/consoletext.h"
#include "core/ingest/text/fields.h"
#include "core/platform/platform.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::ingest {

namespace fs = std::filesystem;

namespace {

/// The file of one metric, line by line. A run may have a thousand of them, which are read side by side: the file is
/// open only while a piece of it is fetched.
class MlflowMetric
{
public:
    MlflowMetric(std::filesystem::path path, std::string name);

    const std::string& name() const { return m_name; }
    /// To the next line that is one; false at the end.
    bool next();
    const MlflowLine& line() const { return m_line; }
    std::int64_t number() const { return m_number; }
    std::int64_t bytes() const { return m_taken; }
    /// The first line that is none; 0 where all are.
    std::int64_t badLine() const { return m_badLine; }
    /// The file ends without a line break: its last number may be cut off, and is not taken.
    bool torn() const { return m_torn; }

private:
    bool refill();

    std::filesystem::path m_path;
    std::string m_name;
    std::string m_buffer;
    std::size_t m_at = 0;
    std::uint64_t m_read = 0; ///< of the file
    std::int64_t m_taken = 0;
    MlflowLine m_line;
    std::int64_t m_number = 0;
    std::int64_t m_badLine = 0;
    bool m_torn = false;
};

constexpr std::uint64_t pieceBytes = 16 * 1024;
constexpr std::size_t longestMetricLine = 64 * 1024;

MlflowMetric::MlflowMetric(std::filesystem::path path, std::string name)
    : m_path(std::move(path))
    , m_name(std::move(name))
{ }

bool MlflowMetric::refill()
{
    const auto file = platform::FileReader::open(m_path);
    if (!file || file->size() <= m_read) {
        return false;
    }
    m_buffer.erase(0, m_at);
    m_at = 0;
    const auto kept = m_buffer.size();
    const auto size = std::min(pieceBytes, file->size() - m_read);
    m_buffer.resize(kept + size);
    if (!file->readAt(m_read, std::as_writable_bytes(std::span(m_buffer).subspan(kept)))) {
        m_buffer.resize(kept);
        return false;
    }
    m_read += size;
    return true;
}

bool MlflowMetric::next()
{
    for (;;) {
        const auto end = m_buffer.find('\n', m_at);
        if (end == std::string::npos) {
            const bool tooLong = m_buffer.size() - m_at > longestMetricLine;
            if (tooLong || !refill()) {
                m_torn = m_at < m_buffer.size();
                return false;
            }
            continue;
        }
        const auto text = std::string_view(m_buffer).substr(m_at, end - m_at);
        m_taken += static_cast<std::int64_t>(text.size()) + 1;
        m_at = end + 1;
        ++m_number;
        if (const auto line = mlflowLine(text)) {
            m_line = *line;
            return true;
        }
        m_badLine = m_badLine == 0 && !trimmed(text).empty() ? m_number : m_badLine;
    }
}

constexpr std::size_t mostFiles = 2000; ///< of metrics, of parameters, of tags; more metrics than a log may have names
constexpr std::uint64_t largestMeta = 64 * 1024;
constexpr std::size_t longestParameter = 1000;

std::string headOf(const fs::path& path, std::uint64_t most)
{
    const auto file = platform::FileReader::open(path);
    std::string text(file ? std::min(file->size(), most) : 0, '\0');
    return file && file->readAt(0, std::as_writable_bytes(std::span(text))) ? text : std::string();
}

struct Entry
{
    std::string name; ///< with '/', relative to its folder
    fs::path path;
};

/// Links are not followed: a run has none.
std::vector<Entry> filesBelow(const fs::path& folder)
{
    std::error_code error;
    std::vector<Entry> files;
    fs::recursive_directory_iterator entries(folder, error);
    for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
        std::error_code unknown;
        const auto& path = entries->path();
        if (files.size() < mostFiles && !entries->is_symlink(unknown) && entries->is_regular_file(unknown)
            && !path.filename().string().starts_with('.')) {
            files.push_back({path.lexically_relative(folder).generic_string(), path});
        }
    }
    std::sort(files.begin(), files.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
    return files;
}

/// MLflow's own tags tell of people and machines; two of them are of use here.
std::string nameOfTag(const std::string& tag)
{
    if (tag == "mlflow.runName") {
        return "mlflow.run_name";
    }
    if (tag == "mlflow.source.git.commit") {
        return "git.commit";
    }
    return tag.starts_with("mlflow.") ? std::string() : tag;
}

class MlflowRun : public LogSource
{
public:
    MlflowRun(const fs::path& metrics, const std::string& relative, const ColumnMap& columns)
        : m_folder(metrics.parent_path())
        , m_builder(relative, placeOf(relative).rank, placeOf(relative).attempt)
    {
        m_builder.expectNothing();
        m_builder.useColumns(columns);
        for (auto& file : filesBelow(metrics)) {
            m_metrics.emplace_back(std::move(file.path), std::move(file.name));
        }
        for (std::size_t i = 0; i < m_metrics.size(); ++i) {
            queue(i);
        }
        readParameters();
        readMeta();
    }

    bool finished() const override { return m_finished; }
    bool resumable() const override { return false; }
    void leaveTail() override { m_live = true; }

    LogContents next(std::size_t most, const CancelToken& cancel) override
    {
        while (!m_finished && m_builder.size() < most && !cancel.cancelled()) {
            if (m_waiting.empty()) {
                finish();
            } else {
                takeLine();
            }
        }
        LogContents contents;
        m_builder.take(contents);
        contents.format = "mlflow";
        contents.columns = m_builder.rawNames();
        for (const auto& metric : m_metrics) {
            contents.bytes += metric.bytes();
            contents.lines += metric.number();
        }
        return contents;
    }

private:
    /// By time, then by step, then by the place of the metric in the folder.
    using Waiting = std::tuple<std::int64_t, std::int64_t, std::size_t>;

    void queue(std::size_t index)
    {
        auto& metric = m_metrics[index];
        if (metric.next()) {
            m_waiting.emplace(metric.line().time, metric.line().step.value_or(metric.number()), index);
        }
    }

    void takeLine()
    {
        const auto index = std::get<2>(m_waiting.top());
        m_waiting.pop();
        const auto& metric = m_metrics[index];
        const auto& line = metric.line();
        m_builder.startRow({}, line.step.value_or(metric.number() - 1), metric.number(), !line.step);
        m_builder.value(metric.name(), line.value);
        queue(index);
    }

    void readParameters()
    {
        for (const auto& file : filesBelow(m_folder / "params")) {
            give(file.name, file.path);
        }
        for (const auto& file : filesBelow(m_folder / "tags")) {
            give(nameOfTag(file.name), file.path);
        }
    }

    void give(std::string name, const fs::path& path)
    {
        std::replace(name.begin(), name.end(), '/', '.');
        auto value = headOf(path, longestParameter);
        value.erase(value.find_last_not_of(" \t\r\n") + 1);
        if (!name.empty() && !isSecret(name)) {
            m_builder.setting({std::move(name), std::move(value), m_builder.fileRank(), {}, 1});
        }
    }

    /// 4 is failed, 5 killed; some versions write the words.
    void readMeta()
    {
        static const RE2 ended(R"((?m)^status: *['"]?(4|5|FAILED|KILLED)['"]? *$)");
        std::string status;
        if (RE2::PartialMatch(headOf(m_folder / "meta.yaml", largestMeta), ended, &status)) {
            const bool failed = status == "4" || status == "FAILED";
            say(fmt::format("MLflow noted that the run {}", failed ? "failed" : "was killed"), 1,
                EventKind::terminated);
        }
    }

    void finish()
    {
        for (const auto& metric : m_metrics) {
            if (metric.badLine() > 0) {
                say(fmt::format("{}: line {} is none of MLflow's and was left out, as may be others", metric.name(),
                        metric.badLine()),
                    metric.badLine(), EventKind::damaged);
            }
            if (metric.torn() && !m_live) {
                say(fmt::format("{}: the last line is cut off and was left out", metric.name()), metric.number() + 1,
                    EventKind::damaged);
            }
        }
        m_builder.finish();
        m_finished = true;
    }

    void say(std::string text, std::int64_t line, EventKind kind)
    {
        Event event;
        event.kind = kind;
        event.rank = m_builder.fileRank();
        event.text = std::move(text);
        event.line = line;
        m_builder.event(std::move(event));
    }

    fs::path m_folder; ///< of the run
    LogBuilder m_builder;
    std::vector<MlflowMetric> m_metrics;
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> m_waiting;
    bool m_live = false;
    bool m_finished = false;
};

bool isMlflowRun(const fs::path& folder)
{
    static const RE2 id(R"((?m)^run_(?:id|uuid): )");
    return RE2::PartialMatch(headOf(folder / "meta.yaml", largestMeta), id);
}

} // namespace

bool isMlflowMetrics(const fs::path& folder)
{
    return folder.filename() == "metrics" && isMlflowRun(folder.parent_path());
}

bool isReadWithMlflow(const fs::path& folder)
{
    const auto name = folder.filename();
    return (name == "params" || name == "tags") && isMlflowRun(folder.parent_path());
}

MlflowState mlflowState(const fs::path& metrics)
{
    MlflowState state;
    tensorfile::ContentHash hash;
    std::int64_t newest = 0;
    const auto add = [&](const Entry& file) {
        const auto reader = platform::FileReader::open(file.path);
        const auto stamp = reader ? reader->stamp() : platform::FileStamp {};
        newest = std::max(newest, stamp.modifiedNs);
        hash.add(file.name);
        hash.add(stamp.inode);
        hash.add(stamp.size);
        hash.add(static_cast<std::uint64_t>(stamp.modifiedNs));
        return static_cast<std::int64_t>(stamp.size);
    };
    for (const auto& file : filesBelow(metrics)) {
        state.bytes += add(file);
    }
    for (const char* beside : {"params", "tags"}) {
        for (const auto& file : filesBelow(metrics.parent_path() / beside)) {
            add(file);
        }
    }
    add({"meta.yaml", metrics.parent_path() / "meta.yaml"});
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    state.atRest = now - std::chrono::nanoseconds(newest) > restingTime;
    state.identity = hash.hex() + (state.atRest ? ":whole" : ":growing");
    return state;
}

Result<std::unique_ptr<LogSource>> openMlflow(
    const fs::path& metrics, const std::string& relative, const ColumnMap& columns)
{
    std::error_code error;
    fs::directory_iterator readable(metrics, error);
    if (error) {
        return failure(ErrorKind::io, fmt::format("the folder cannot be read ({})", error.message()), metrics.string());
    }
    return std::make_unique<MlflowRun>(metrics, relative, columns);
}

} // namespace nanscope::ingest
