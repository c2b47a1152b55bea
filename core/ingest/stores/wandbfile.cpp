// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// What W&B keeps of a run on disk: every row that was logged, the configuration, the console. A record's place in the
// file stands for its line.
#include <system_error>
#include <unordered_set>

#include <fmt/format.h>
#include <protozero/exception.hpp>

#include "core/ingest/logbuilder.h"
#include "core/ingest/logsource.h"
#include "core/ingest/stores/wandbconsole.h"
#include "core/ingest/stores/wandbrecords.h"
#include "core/ingest/stores/wandbvalues.h"

namespace nanscope::ingest {

namespace {

/// An import goes on by reading from the start without keeping anything up to there: steps, names and half a line of
/// the console are then as they were.
class WandbFile : public LogSource
{
public:
    WandbFile(platform::FileReader file, const std::string& relative, std::int64_t from, bool withConsole)
        : m_file(std::move(file))
        , m_builder(relative, placeOf(relative).rank, placeOf(relative).attempt)
        , m_console(LogBuilder(relative, placeOf(relative).rank, placeOf(relative).attempt))
        , m_withConsole(withConsole)
        , m_from(from)
        , m_known(from > 0)
    {
        m_builder.expectNothing();
    }

    void useColumns(const ColumnMap& columns)
    {
        m_builder.useColumns(columns);
        if (const auto step = columns.columnOf("step"); !step.empty()) {
            m_steps.choose(step);
        }
    }

    bool finished() const override { return m_finished; }
    void leaveTail() override { m_live = true; }

    LogContents next(std::size_t most, const CancelToken& cancel) override
    {
        if (m_file) {
            m_records.emplace(std::move(*m_file), m_live);
            m_file.reset();
        }
        while (!m_finished && (m_known || size() < most) && !cancel.cancelled()) {
            if (!takeRecord()) {
                finish();
            }
            if (m_known && size() >= most) {
                forget();
            }
        }
        return contents();
    }

private:
    std::size_t size() const { return m_builder.size() + m_console.size(); }

    LogContents contents()
    {
        LogContents contents;
        if (!m_known) {
            m_builder.take(contents);
            m_console.take(contents);
        }
        contents.format = "wandb";
        contents.bytes = std::max(m_from, m_offset);
        contents.lines = m_count;
        contents.columns = m_builder.rawNames();
        if (auto step = m_steps.chosen()) {
            contents.columns.push_back(std::move(*step));
        }
        return contents;
    }

    /// What an earlier import stored.
    void forget()
    {
        LogContents dropped;
        m_builder.finish();
        m_builder.take(dropped);
        m_console.take(dropped);
    }

    bool takeRecord()
    {
        const auto record = m_records->next();
        if (m_known && (!record || record->end > m_from)) {
            forget();
            m_known = false;
        }
        sayDamage();
        if (!record) {
            return false;
        }
        ++m_count;
        m_offset = record->end;
        try {
            take(wandbMessage(record->bytes));
        } catch (const protozero::exception&) {
            say(fmt::format("the record at byte {} is none of W&B's and was left out", record->begin),
                EventKind::damaged);
        }
        return true;
    }

    void sayDamage()
    {
        for (const auto& damage : m_records->takeDamage()) {
            if (damage.begin >= m_from) {
                say(fmt::format("bytes {} to {} of the file were left out: {}", damage.begin, damage.end, damage.what),
                    EventKind::damaged);
            }
        }
    }

    /// At rest there is nothing to wait for: the end of the file was taken, whatever is there.
    void finish()
    {
        m_finished = true;
        if (!m_live) {
            if (const auto torn = m_records->torn(); torn && *torn >= m_from) {
                say(fmt::format("the file ends inside a record, at byte {}; what came before was read", *torn),
                    EventKind::damaged);
            }
            m_console.finish(m_count);
            m_offset = m_records->size();
        }
        m_builder.finish();
    }

    void take(const WandbMessage& message)
    {
        if (!message.history.empty()) {
            takeRow(message);
        }
        for (const auto& item : message.config) {
            for (auto& setting : settingsOf(item)) {
                give(std::move(setting));
            }
        }
        for (const auto& [name, value] : message.facts) {
            give({name, std::string(value), {}, {}, 0});
        }
        if (!message.stepMetric.empty()) {
            m_steps.declare(message.stepMetric);
        }
        if (m_withConsole && message.stream != WandbMessage::Stream::none) {
            m_console.take(message.stream, message.text, m_count);
        }
        if (message.exitCode.value_or(0) != 0) {
            say(fmt::format("W&B noted that the program ended with exit code {}", *message.exitCode),
                EventKind::terminated);
        }
    }

    void takeRow(const WandbMessage& message)
    {
        if (const auto step = m_steps.stepOf(message)) {
            m_builder.startRow({}, step->number, m_count, step->inferred);
        } else {
            m_builder.startCountedRow({}, m_count);
        }
        for (const auto& item : message.history) {
            if (!m_steps.counts(item)) {
                giveValue(item, m_builder);
            }
        }
    }

    /// The configuration is written again whenever a part of it changes.
    void give(Setting setting)
    {
        if (!setting.value.empty()
            && m_given.insert(std::hash<std::string> {}(setting.name + '=' + setting.value)).second) {
            setting.rank = m_builder.fileRank();
            setting.line = m_count;
            m_builder.setting(std::move(setting));
        }
    }

    void say(std::string text, EventKind kind)
    {
        Event event;
        event.kind = kind;
        event.rank = m_builder.fileRank();
        event.text = std::move(text);
        event.line = std::max<std::int64_t>(1, m_count);
        m_builder.event(std::move(event));
    }

    std::optional<platform::FileReader> m_file; ///< until the first piece is asked for
    std::optional<WandbRecords> m_records;
    LogBuilder m_builder;
    WandbConsole m_console;
    WandbSteps m_steps;
    std::unordered_set<std::size_t> m_given;
    bool m_withConsole;
    std::int64_t m_from; ///< up to here an earlier import took everything
    bool m_known; ///< not there yet
    bool m_live = false; ///< somebody may still be writing
    bool m_finished = false;
    std::int64_t m_offset = 0;
    std::int64_t m_count = 0;
};

/// Then it is read there, as any other.
bool hasConsoleBeside(const std::filesystem::path& path)
{
    std::error_code error;
    const auto size = std::filesystem::file_size(wandbConsoleBeside(path), error);
    return !error && size > 0;
}

} // namespace

bool isWandbName(const std::string& name)
{
    return name.ends_with(".wandb");
}

std::filesystem::path wandbConsoleBeside(const std::filesystem::path& path)
{
    return path.parent_path() / "files" / "output.log";
}

Result<std::unique_ptr<LogSource>> openWandb(
    const std::filesystem::path& path, const std::string& relative, std::int64_t offset, const ColumnMap& columns)
{
    auto file = platform::FileReader::open(path);
    if (!file) {
        return tl::make_unexpected(file.error());
    }
    if (auto good = requireWandb(*file, path); !good) {
        return tl::make_unexpected(good.error());
    }
    auto opened = std::make_unique<WandbFile>(std::move(*file), relative, offset, !hasConsoleBeside(path));
    opened->useColumns(columns);
    return opened;
}

} // namespace nanscope::ingest
