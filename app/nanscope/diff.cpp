// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "app/nanscope/shared/columns.h"
#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/source.h"
#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/base/utf8.h"
#include "core/diagnose/compareruns.h"
#include "core/model/words.h"
#include "core/report/report.h"
#include "core/tensorfile/capture/comparetensors.h"
#include "core/tensorfile/tensorfile.h"

namespace nanscope {

namespace {

std::string pointText(const Point& point)
{
    switch (point.state) {
    case PointState::nan:
        return "NaN";
    case PointState::posInf:
        return "+Inf";
    case PointState::negInf:
        return "-Inf";
    case PointState::reported:
        return "no value";
    default:
        return fmt::format("{}", point.value);
    }
}

std::string placeText(const diagnose::Trace& trace, const Point& point)
{
    return fmt::format("{} at {}", pointText(point), diagnose::placeOf(trace, point));
}

template <class Series>
std::string nameOf(const Series& series)
{
    return series.rank ? fmt::format("{} of rank {}", series.name, *series.rank) : series.name;
}

std::string badText(const diagnose::LoneSeries& series)
{
    const auto others = series.otherRanks > 0 ? fmt::format(" (and {} more)", series.otherRanks) : std::string();
    return fmt::format("{}{} is {} at step {} ({}:{})", nameOf(series), others, pointText(*series.bad),
        series.bad->step, series.source, series.bad->line);
}

std::string badHeadline(const diagnose::RunComparison& comparison)
{
    const auto& a = comparison.badA;
    const auto& b = comparison.badB;
    if (a && b) {
        return fmt::format("; both become non-finite: in a, {}; in b, {}", badText(*a), badText(*b));
    }
    if (!a && !b) {
        return {};
    }
    const auto damaged = a ? comparison.damagedB : comparison.damagedA;
    return fmt::format("; only {} logs values that are not finite: {}{}", a ? "a" : "b", badText(a ? *a : *b),
        damaged > 0 ? fmt::format("; {} has {}", a ? "b" : "a", counted(damaged, "damaged capture")) : "");
}

std::string differenceHeadline(const diagnose::RunComparison& comparison)
{
    if (const auto* first = comparison.first(); first != nullptr) {
        const auto rounded = first->equalDecimals
            ? fmt::format(" (all equal when rounded to {} decimals)", *first->equalDecimals)
            : std::string();
        return fmt::format("{} first differs at step {}: {}, against {}{}", nameOf(*first), first->first->first.step,
            placeText(first->a, first->first->first), placeText(first->b, first->first->second), rounded);
    }
    const bool any = std::any_of(comparison.series.begin(), comparison.series.end(),
        [](const diagnose::SeriesComparison& series) { return series.common > 0; });
    return any ? "No value differs at the steps that both logs have"
               : "The runs have no step of any series in common; --shift moves the second one";
}

std::string headline(const diagnose::RunComparison& comparison)
{
    return printable(differenceHeadline(comparison) + badHeadline(comparison)) + "\n";
}

std::string resolution(const diagnose::SeriesComparison& series)
{
    return series.equalDecimals ? fmt::format("{} decimals", *series.equalDecimals) : "-";
}

std::string seriesTable(const diagnose::RunComparison& comparison)
{
    constexpr auto right = Table::Align::right;
    Table table({{"series"}, {"common steps", right}, {"differ", right}, {"first", right}, {"a"}, {"b"},
        {"largest |a-b|/max", right}, {"equal rounded to"}});
    for (const auto& series : comparison.series) {
        table.add({nameOf(series), countText(series.common), countText(series.differing),
            series.first ? std::to_string(series.first->first.step) : "-",
            series.first ? pointText(series.first->first) : "-", series.first ? pointText(series.first->second) : "-",
            series.largest ? fmt::format("{:.3g} at {}", series.largestRelative, series.largest->first.step) : "-",
            resolution(series)});
    }
    return "\n" + table.text();
}

std::string settingText(const std::optional<Setting>& setting)
{
    return setting ? clipped(setting->value, 60) : "-";
}

std::string settingsTable(const diagnose::RunComparison& comparison)
{
    constexpr std::size_t most = 60;
    const auto sentence = printable(diagnose::settingsSentence(comparison, "run a", "run b"));
    if (comparison.settings.empty()) {
        return "\n" + sentence + "\n";
    }
    Table table({{"setting"}, {"a"}, {"b"}});
    for (std::size_t i = 0; i < std::min(most, comparison.settings.size()); ++i) {
        const auto& one = comparison.settings[i];
        table.add({one.name, settingText(one.a), settingText(one.b)});
    }
    auto text = "\n" + table.text();
    if (comparison.settings.size() > most) {
        text += fmt::format("and {} more (--json has them all)\n", comparison.settings.size() - most);
    }
    return text + sentence + "\n";
}

std::string onlyText(std::string_view side, const std::vector<diagnose::LoneSeries>& series)
{
    std::vector<std::string> names;
    std::transform(series.begin(), series.end(), std::back_inserter(names), [](const diagnose::LoneSeries& one) {
        return one.bad ? fmt::format("{} ({} at step {})", nameOf(one), pointText(*one.bad), one.bad->step)
                       : nameOf(one);
    });
    return names.empty() ? std::string()
                         : printable(fmt::format("only {} has: {}", side, fmt::join(names, ", "))) + "\n";
}

Json namesJson(const std::vector<diagnose::LoneSeries>& series)
{
    return jsonArray(series, [](const diagnose::LoneSeries& one) { return Json(nameOf(one)); });
}

Json pointJson(const diagnose::Trace& trace, const Point& point)
{
    const bool given = point.state != PointState::reported;
    return {{"step", point.step}, {"value", given ? jsonNumber(point.value) : Json(nullptr)}, {"file", trace.source},
        {"line", point.line}};
}

Json badJson(const std::optional<diagnose::LoneSeries>& bad)
{
    if (!bad) {
        return nullptr;
    }
    return {{"name", bad->name}, {"rank", orNull(bad->rank)}, {"step", bad->bad->step},
        {"value", jsonNumber(bad->bad->value)}, {"file", bad->source}, {"line", bad->bad->line}};
}

Json pairJson(const diagnose::SeriesComparison& series, const std::optional<std::pair<Point, Point>>& pair)
{
    return pair ? Json {{"a", pointJson(series.a, pair->first)}, {"b", pointJson(series.b, pair->second)}}
                : Json(nullptr);
}

Json seriesJson(const diagnose::SeriesComparison& series)
{
    return {{"name", series.name}, {"rank", orNull(series.rank)}, {"common", series.common},
        {"differing", series.differing}, {"first", pairJson(series, series.first)},
        {"largest", pairJson(series, series.largest)}, {"largest_relative", jsonNumber(series.largestRelative)},
        {"equal_decimals", orNull(series.equalDecimals)}};
}

Json settingJson(const std::optional<Setting>& setting)
{
    return setting ? Json {{"value", setting->value}, {"file", setting->source}, {"line", setting->line}}
                   : Json(nullptr);
}

/// Two runs side by side, as text for a terminal.
std::string runDiffText(const diagnose::RunComparison& comparison)
{
    auto text = headline(comparison);
    if (!comparison.series.empty()) {
        text += seriesTable(comparison);
    }
    return text + onlyText("a", comparison.onlyA) + onlyText("b", comparison.onlyB) + settingsTable(comparison);
}

/// nanscope.rundiff/1.
Json runDiffJson(const diagnose::RunComparison& comparison)
{
    const auto setting = [](const diagnose::SettingComparison& one) -> Json {
        return {{"name", one.name}, {"a", settingJson(one.a)}, {"b", settingJson(one.b)}};
    };
    const auto* first = comparison.first();
    return {{"schema", "nanscope.rundiff/1"}, {"first", first != nullptr ? seriesJson(*first) : Json(nullptr)},
        {"series", jsonArray(comparison.series, seriesJson)}, {"only_a", namesJson(comparison.onlyA)},
        {"only_b", namesJson(comparison.onlyB)}, {"non_finite_a", badJson(comparison.badA)},
        {"non_finite_b", badJson(comparison.badB)}, {"settings", jsonArray(comparison.settings, setting)},
        {"same_settings", comparison.sameSettings}};
}

class Diff : public Command
{
public:
    explicit Diff(CLI::App& root)
        : Command(root, "diff", "Where two captures, or two runs, differ first")
    {
        options().add("a", m_a, "A capture, or a run: a folder, a session or a log").required();
        options().add("b", m_b, "Another one of the same kind").required();
        options().add("--shift", m_shift, "Hold step s of run a against step s + SHIFT of run b");
        addColumnOption(options(), m_columns);
    }

    Result<int> run(Terminal& terminal) override;

private:
    std::string m_a;
    std::string m_b;
    std::int64_t m_shift = 0;
    ColumnWords m_columns;
};

Json ulpsJson(const std::optional<tensorfile::UlpCounts>& ulps)
{
    if (!ulps) {
        return nullptr;
    }
    return {{"max", ulps->largest}, {"signed_zero", ulps->signedZero}, {"one", ulps->one}, {"two_to_ten", ulps->few},
        {"more", ulps->many}};
}

/// What a matrix and a whole tensor have in common.
Json countsJson(const tensorfile::MatrixDifference& diff, const Shape& shape)
{
    const auto& first = diff.first;
    return {{"count", diff.count}, {"differing", diff.differing}, {"class_changes", diff.classChanges},
        {"nan_bits", diff.nanBits}, {"first", first ? Json(indexIn(shape, first->index)) : Json(nullptr)},
        {"first_a", first ? jsonNumber(first->a) : Json(nullptr)},
        {"first_b", first ? jsonNumber(first->b) : Json(nullptr)}, {"largest_difference", jsonNumber(diff.largest)},
        {"ulps", ulpsJson(diff.ulps)}};
}

Json tensorJson(const tensorfile::TensorDifference& diff, const Shape& shape)
{
    Json json {{"tensor", diff.name}, {"problem", orNull(diff.problem)}};
    json.update(countsJson(diff.total(), shape));
    auto batches = Json::array();
    for (std::size_t i = 0; i < diff.batches.size(); ++i) {
        Json batch {{"batch", i}};
        batch.update(countsJson(diff.batches[i], shape));
        batches.push_back(std::move(batch));
    }
    json["batches"] = std::move(batches);
    return json;
}

std::string distanceText(std::uint64_t ulps)
{
    constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return countText(static_cast<std::int64_t>(std::min(ulps, largest)));
}

std::vector<std::string> row(const std::string& name, const tensorfile::MatrixDifference& diff, const Shape& shape)
{
    const auto& first = diff.first;
    const auto ulps = [&](std::int64_t tensorfile::UlpCounts::*bin) {
        return diff.ulps ? countText(*diff.ulps.*bin) : "-";
    };
    return {name, countText(diff.count), countText(diff.differing), countText(diff.classChanges),
        ulps(&tensorfile::UlpCounts::one), ulps(&tensorfile::UlpCounts::few), ulps(&tensorfile::UlpCounts::many),
        diff.ulps ? distanceText(diff.ulps->largest) : "-", first ? indexText(indexIn(shape, first->index)) : "-",
        first ? numberText(first->a) : "-", first ? numberText(first->b) : "-", first ? numberText(diff.largest) : "-"};
}

/// A stack has a row of its own for each matrix that differs, the first few of them.
void addBatches(Table& table, const tensorfile::TensorDifference& diff, const Shape& shape)
{
    constexpr int most = 16;
    int shown = 0;
    int left = 0;
    for (std::size_t i = 0; diff.batches.size() > 1 && i < diff.batches.size(); ++i) {
        if (diff.batches[i].differing == 0) {
            continue;
        }
        if (shown++ < most) {
            table.add(row(fmt::format("  element {}", i), diff.batches[i], shape));
        } else {
            ++left;
        }
    }
    if (left > 0) {
        table.add({fmt::format("  and {} more", left)});
    }
}

std::string text(const std::vector<tensorfile::TensorDifference>& diffs, const std::vector<Shape>& shapes)
{
    constexpr auto right = Table::Align::right;
    Table table({{"tensor"}, {"elements", right}, {"bits differ", right}, {"class differs", right}, {"1 ulp", right},
        {"2-10", right}, {">10", right}, {"largest ulps", right}, {"first"}, {"a", right}, {"b", right},
        {"largest |a-b|", right}});
    for (std::size_t i = 0; i < diffs.size(); ++i) {
        if (!diffs[i].problem.empty()) {
            table.add({diffs[i].name, "-", "-", "-", "-", "-", "-", "-", diffs[i].problem});
            continue;
        }
        table.add(row(diffs[i].name, diffs[i].total(), shapes[i]));
        addBatches(table, diffs[i], shapes[i]);
    }
    return table.text();
}

/// In the order of compareCaptures().
std::vector<Shape> shapesOf(const tensorfile::CaptureFile& a)
{
    return {a.input.shape(), a.output ? a.output->shape() : Shape {}};
}

Result<int> diffCaptures(const std::string& pathA, const std::string& pathB, Terminal& terminal)
{
    const auto a = TRY(tensorfile::openCapture(pathA));
    const auto b = TRY(tensorfile::openCapture(pathB));
    const auto diffs = TRY(tensorfile::compareCaptures(a, b));
    const auto shapes = shapesOf(a);
    if (terminal.json()) {
        auto tensors = Json::array();
        for (std::size_t i = 0; i < diffs.size(); ++i) {
            tensors.push_back(tensorJson(diffs[i], shapes[i]));
        }
        terminal.printJson({{"schema", "nanscope.diff/1"}, {"tensors", std::move(tensors)}});
    } else {
        terminal.print(text(diffs, shapes));
    }
    return exitDone;
}

Result<int> diffRuns(const std::string& pathA, const std::string& pathB, std::int64_t shift, const ColumnWords& words,
    Terminal& terminal)
{
    const auto columns = TRY(columnsFor({pathA, pathB}, words, terminal));
    const auto a = TRY(openSource(pathA, {}, terminal, columns));
    const auto b = TRY(openSource(pathB, {}, terminal, columns));
    const auto comparison = diagnose::compareRuns(a.run, b.run, shift);
    terminal.answer([&] { return runDiffJson(comparison); }, [&] { return runDiffText(comparison); });
    return std::max(statusOf(a), statusOf(b));
}

bool isCapture(const std::string& path)
{
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && tensorfile::looksLikeTensorFile(path);
}

Result<int> Diff::run(Terminal& terminal)
{
    const bool a = isCapture(m_a);
    const bool b = isCapture(m_b);
    std::error_code ignored;
    const bool bothThere = std::filesystem::exists(m_a, ignored) && std::filesystem::exists(m_b, ignored);
    if (bothThere && a != b) {
        return failure(
            ErrorKind::usage, "one is a capture and the other is a run; name two of the same kind", a ? m_b : m_a);
    }
    TRY(options().requireRead({{"`nanscope diff` of runs", !a && !b, {"--shift", "--map"}}}));
    return a || b ? diffCaptures(m_a, m_b, terminal) : diffRuns(m_a, m_b, m_shift, m_columns, terminal);
}

} // namespace

std::unique_ptr<Command> makeDiff(CLI::App& root)
{
    return std::make_unique<Diff>(root);
}

} // namespace nanscope
