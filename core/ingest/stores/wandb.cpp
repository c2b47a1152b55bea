// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/stores/wandb.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>
#include <protozero/exception.hpp>
#include <simdjson.h>

#include "core/base/try.h"
#include "core/ingest/events/eventreader.h"
#include "core/ingest/formats/formats.h"
#include "core/ingest/log/logbuilder.h"
#include "core/ingest/log/logformat.h"
#include "core/ingest/settings/settingsink.h"
#include "core/ingest/stores/wandbrecords.h"
#include "core/ingest/text/consoletext.h"
#include "core/ingest/text/launchlabels.h"
#include "core/ingest/text/linereader.h"
#include "core/ingest/text/metricnames.h"
#include "core/ingest/text/pythonjson.h"

namespace nanscope::ingest {

namespace {

/// Of the items of a row, the one to believe when it names the step.
class WandbSteps
{
public:
    /// The trainer says that this value is the step of others.
    void declare(std::string_view name);
    /// The user says so: it goes before all others.
    void choose(std::string_view name) { m_chosen = name; }
    /// What the user chose, once a row had it.
    std::optional<std::string> chosen() const { return m_chosenSeen ? std::optional(m_chosen) : std::nullopt; }
    /// It counts steps and is no value.
    bool counts(const WandbMessage::Item& item) const;

    struct Step
    {
        std::int64_t number = 0;
        bool inferred = false;
    };
    /// None for a row without any.
    std::optional<Step> stepOf(const WandbMessage& row);

private:
    std::optional<int> priorityOf(std::string_view name) const;

    std::vector<std::string> m_declared;
    std::string m_chosen;
    bool m_chosenSeen = false;
    std::string m_key; ///< that the first row of a loss or the like was counted by
    std::optional<std::int64_t> m_last; ///< by that key
};

constexpr int deepestTable = 8;
constexpr std::size_t mostDeclared = 100;
constexpr std::string_view countOfCalls = "_step";

std::string joined(const std::vector<std::string_view>& path, std::string_view separator)
{
    return fmt::format("{}", fmt::join(path, separator));
}

/// W&B itself joins keys with dots; a loss in a table called "train" is the one of training all the same.
std::string nameOf(const std::vector<std::string_view>& path)
{
    if (path.size() == 1) {
        return std::string(path.front());
    }
    auto slashed = joined(path, "/");
    return isCanonical(canonicalName(slashed)) ? slashed : joined(path, ".");
}

/// When it was logged, and notes of W&B's own.
bool isNote(std::string_view name)
{
    return name == countOfCalls || name == "_runtime" || name == "_timestamp" || name == "_wandb";
}

void giveTable(std::vector<std::string_view>& path, const simdjson::dom::object& table, LogBuilder& builder)
{
    if (path.size() > deepestTable || table["_type"].error() == simdjson::SUCCESS) {
        return;
    }
    for (const auto [key, value] : table) {
        path.push_back(key);
        simdjson::dom::object inner;
        std::string_view text;
        if (value.get(inner) == simdjson::SUCCESS) {
            giveTable(path, inner, builder);
        } else if (value.is_null()) {
            builder.absent(nameOf(path));
        } else if (value.get(text) == simdjson::SUCCESS) {
            // Numbers are strings by now.
            if (const auto number = parseNumber(text)) {
                builder.value(nameOf(path), *number);
            }
        }
        path.pop_back();
    }
}

std::optional<std::int64_t> wholeNumber(std::string_view json)
{
    if (const auto integer = parseInteger(json)) {
        return integer;
    }
    constexpr double largest = 9e15;
    const auto value = parseNumber(json);
    return value && *value >= 0 && *value < largest && *value == std::floor(*value)
        ? std::optional(static_cast<std::int64_t>(*value))
        : std::nullopt;
}

/// Numbers go into the builder's row, those in tables under names with dots; null is absence. Pictures and histograms
/// are no values.
void giveValue(const WandbMessage::Item& item, LogBuilder& builder)
{
    if (isNote(item.path.front())) {
        return;
    }
    const auto json = trimmed(item.json);
    if (json == "null") {
        builder.absent(nameOf(item.path));
    } else if (const auto number = parseNumber(json)) {
        builder.value(nameOf(item.path), *number);
    } else if (json.starts_with('{')) {
        simdjson::dom::parser parser;
        simdjson::dom::object table;
        if (parser.parse(strictJson(json)).get(table) == simdjson::SUCCESS) {
            auto path = item.path;
            giveTable(path, table, builder);
        }
    }
}

/// One item of a configuration. W&B's own notes and what is secret are left out.
std::vector<Setting> settingsOf(const WandbMessage::Item& item)
{
    if (isNote(item.path.front()) || item.path.front() == "wandb_version") {
        return {};
    }
    SettingSink sink;
    // A value that is no table is wrapped into one; its key is put back afterwards, whatever characters it has.
    const bool read = readJsonSettings(fmt::format("{{\"v\":{}}}", item.json), sink).has_value();
    auto settings = read ? sink.take() : std::vector<Setting>();
    const auto name = joined(item.path, ".");
    for (auto& setting : settings) {
        setting.name.replace(0, 1, name);
    }
    std::erase_if(settings, [](const Setting& setting) { return isSecret(setting.name); });
    return settings;
}

/// Only what is called a step: "tokens" and "epoch" count something else.
void WandbSteps::declare(std::string_view name)
{
    const auto last = name.substr(name.find_last_of("/.") + 1);
    const bool step = last.ends_with("step") || last.ends_with("steps") || stepPriority(last);
    if (step && name != countOfCalls && m_declared.size() < mostDeclared
        && std::find(m_declared.begin(), m_declared.end(), name) == m_declared.end()) {
        m_declared.emplace_back(name);
    }
}

bool WandbSteps::counts(const WandbMessage::Item& item) const
{
    return priorityOf(nameOf(item.path)).has_value();
}

std::optional<int> WandbSteps::priorityOf(std::string_view name) const
{
    if (!m_chosen.empty() && name == m_chosen) {
        return -1;
    }
    const auto declared = std::find(m_declared.begin(), m_declared.end(), name);
    return declared != m_declared.end() ? std::optional(0) : stepPriority(name);
}

// W&B's own count is of log calls. Where the trainer's steps are logged beside the loss they are what counts, and a row
// that lacks them belongs to the last one that had them.
std::optional<WandbSteps::Step> WandbSteps::stepOf(const WandbMessage& row)
{
    struct Found
    {
        std::int64_t step = 0;
        int priority = 0;
        std::string name;
    };
    std::optional<Found> best;
    std::optional<std::int64_t> chosen;
    bool known = false;
    for (const auto& item : row.history) {
        const auto name = nameOf(item.path);
        known = known || isCanonical(canonicalName(name));
        m_chosenSeen = m_chosenSeen || (!m_chosen.empty() && name == m_chosen);
        const auto priority = priorityOf(name);
        const auto step = priority ? wholeNumber(trimmed(item.json)) : std::nullopt;
        if (step && (!best || *priority < best->priority)) {
            best = Found {*step, *priority, name};
        }
        chosen = step && name == m_key ? step : chosen;
    }
    if (!best && row.step) {
        best = Found {*row.step, 0, std::string(countOfCalls)};
    }
    if (m_key.empty() && best && known) {
        m_key = best->name;
        chosen = best->step;
    }
    if (chosen || m_key.empty()) {
        m_last = chosen ? chosen : m_last;
        return best ? std::optional(Step {chosen.value_or(best->step), false}) : std::nullopt;
    }
    if (m_last && m_key != countOfCalls) {
        return Step {*m_last, true};
    }
    return row.step ? std::optional(Step {*row.step, false}) : std::nullopt;
}

/// The console output that W&B keeps beside the values it was given, in pieces as the program wrote them. Read like any
/// console log, but into records of its own: what is printed there was mostly logged, too.
class WandbConsole
{
public:
    explicit WandbConsole(LogBuilder builder);

    /// `record` stands for the number of the lines that end in it.
    void take(WandbMessage::Stream stream, std::string_view text, std::int64_t record);

    /// Lines without their end are taken as they are.
    void finish(std::int64_t record);

    std::size_t size() const { return m_builder.size(); }
    /// Adds what was read to `contents`; the series say that they come from the console.
    void take(LogContents& contents);

private:
    void line(std::string_view text, std::int64_t record);

    LogBuilder m_builder;
    EventReader m_events;
    std::vector<std::unique_ptr<LogFormat>> m_formats;
    std::array<std::string, 2> m_open; ///< line of each stream that has no end yet
    std::string m_line;
    std::string m_scratch;
};

WandbConsole::WandbConsole(LogBuilder builder)
    : m_builder(std::move(builder))
{
    for (auto& format : allFormats()) {
        if (const int score = format->sniff({}); score > 0 && score < onlyThisFormat) {
            m_formats.push_back(std::move(format));
        }
    }
}

void WandbConsole::take(WandbMessage::Stream stream, std::string_view text, std::int64_t record)
{
    auto& open = m_open[stream == WandbMessage::Stream::output ? 1 : 0];
    while (!text.empty()) {
        const auto end = text.find_first_of("\r\n");
        const auto piece = text.substr(0, end);
        open += piece.substr(0, longestLine - std::min(longestLine, open.size()));
        text.remove_prefix(std::min(piece.size() + 1, text.size()));
        if (end != std::string_view::npos) {
            line(open, record);
            open.clear();
        }
    }
}

void WandbConsole::line(std::string_view text, std::int64_t record)
{
    LogLine line {{}, {}, record, true};
    LineOrigin origin;
    text = peelPrefixes(stripTerminal(text, m_scratch), origin);
    line.rank = origin.rank;
    if (text.empty()) {
        return;
    }
    m_line.assign(text);
    m_line.resize(text.size() + linePadding);
    line.text = std::string_view(m_line).substr(0, text.size());
    const auto takes = [&](const auto& format) { return format->parse(line, m_builder); };
    if (std::any_of(m_formats.begin(), m_formats.end(), takes)) {
        m_events.trainingWentOn(line, m_builder);
    } else {
        m_events.parse(line, m_builder);
    }
}

void WandbConsole::finish(std::int64_t record)
{
    for (auto& open : m_open) {
        line(open, record);
        open.clear();
    }
    for (auto& format : m_formats) {
        format->finish(m_builder);
    }
    m_builder.finish();
}

void WandbConsole::take(LogContents& contents)
{
    LogContents read;
    m_builder.take(read);
    for (auto& series : read.series) {
        series.name += " (console)";
    }
    const auto move = [](auto& from, auto& to) { std::move(from.begin(), from.end(), std::back_inserter(to)); };
    move(read.series, contents.series);
    move(read.events, contents.events);
    move(read.checkpoints, contents.checkpoints);
    move(read.settings, contents.settings);
}

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
    auto file = TRY(platform::FileReader::open(path));
    TRY(requireWandb(file, path));
    auto opened = std::make_unique<WandbFile>(std::move(file), relative, offset, !hasConsoleBeside(path));
    opened->useColumns(columns);
    return opened;
}

} // namespace nanscope::ingest
