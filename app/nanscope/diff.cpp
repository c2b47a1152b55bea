// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/columns.h"
#include "app/nanscope/command.h"
#include "app/nanscope/rundiff.h"
#include "app/nanscope/source.h"
#include "app/nanscope/table.h"
#include "core/report/report.h"
#include "core/report/words.h"
#include "core/tensorfile/capturefile.h"
#include "core/tensorfile/tensorfile.h"

namespace nanscope {

namespace {

class Diff : public Command
{
public:
    explicit Diff(CLI::App& root)
        : Command(root, "diff", "Where two captures, or two runs, differ first")
    {
        options().add_option("a", m_a, "A capture, or a run: a folder, a session or a log")->required();
        options().add_option("b", m_b, "Another one of the same kind")->required();
        options().add_option("--shift", m_shift, "Hold step s of run a against step s + SHIFT of run b");
        addColumnOption(options(), m_columns);
    }

    Result<int> run(Terminal& terminal) override;

private:
    std::string m_a;
    std::string m_b;
    std::int64_t m_shift = 0;
    ColumnWords m_columns;
};

struct TensorDiff
{
    std::string name;
    std::string problem; ///< not comparable, and why
    std::int64_t count = 0;
    std::int64_t differing = 0; ///< elements whose bits differ
    std::int64_t classChanges = 0; ///< of these: finite on one side and not on the other, or NaN against Inf
    std::vector<std::int64_t> first;
    double firstA = 0;
    double firstB = 0;
    double largest = 0; ///< largest absolute difference where both are finite
};

int classOf(double value)
{
    return std::isnan(value) ? 1 : std::isinf(value) ? (value > 0 ? 2 : 3) : 0;
}

void compareElement(TensorDiff& diff, const Shape& shape, std::int64_t flat, double a, double b)
{
    if (diff.differing++ == 0) {
        diff.first = indexIn(shape, flat);
        diff.firstA = a;
        diff.firstB = b;
    }
    diff.classChanges += classOf(a) != classOf(b) ? 1 : 0;
    if (classOf(a) == 0 && classOf(b) == 0) {
        diff.largest = std::max(diff.largest, std::abs(a - b));
    }
}

Result<void> compareBatch(TensorDiff& diff, const Tensor& a, const Tensor& b, std::int64_t batch)
{
    const auto bitsA = a.readBits(batch);
    const auto bitsB = b.readBits(batch);
    if (!bitsA || !bitsB) {
        return tl::make_unexpected(bitsA ? bitsB.error() : bitsA.error());
    }
    const auto elements = a.matrices().elements();
    diff.count += elements;
    if (*bitsA == *bitsB) {
        return {};
    }
    std::vector<double> valuesA(static_cast<std::size_t>(elements));
    std::vector<double> valuesB(valuesA.size());
    auto readA = a.read(batch, std::span(valuesA));
    auto readB = b.read(batch, std::span(valuesB));
    if (!readA || !readB) {
        return readA ? readB : readA;
    }
    const auto size = sizeOf(a.dtype());
    for (std::size_t i = 0; i < valuesA.size(); ++i) {
        if (std::memcmp(bitsA->data() + i * size, bitsB->data() + i * size, size) != 0) {
            compareElement(diff, a.shape(), batch * elements + static_cast<std::int64_t>(i), valuesA[i], valuesB[i]);
        }
    }
    return {};
}

Result<TensorDiff> compare(const char* name, const Tensor& a, const Tensor& b)
{
    TensorDiff diff;
    diff.name = name;
    if (a.shape() != b.shape() || a.dtype() != b.dtype()) {
        diff.problem = fmt::format("{} {} against {} {}", shapeText(a.shape()), shortName(a.dtype()),
            shapeText(b.shape()), shortName(b.dtype()));
        return diff;
    }
    for (std::int64_t batch = 0; batch < a.matrices().batch; ++batch) {
        if (auto done = compareBatch(diff, a, b, batch); !done) {
            return tl::make_unexpected(done.error());
        }
    }
    return diff;
}

Result<std::vector<TensorDiff>> compareFiles(const CaptureFile& a, const CaptureFile& b)
{
    std::vector<TensorDiff> diffs;
    auto input = compare("input", a.input, b.input);
    if (!input) {
        return tl::make_unexpected(input.error());
    }
    diffs.push_back(std::move(*input));
    if (a.output.has_value() != b.output.has_value()) {
        diffs.emplace_back().name = "output";
        diffs.back().problem = "only one side has it";
    } else if (a.output) {
        auto output = compare("output", *a.output, *b.output);
        if (!output) {
            return tl::make_unexpected(output.error());
        }
        diffs.push_back(std::move(*output));
    }
    return diffs;
}

nlohmann::ordered_json json(const TensorDiff& diff)
{
    using Json = nlohmann::ordered_json;
    const bool any = diff.differing > 0;
    return {{"tensor", diff.name}, {"problem", diff.problem.empty() ? Json(nullptr) : Json(diff.problem)},
        {"count", diff.count}, {"differing", diff.differing}, {"class_changes", diff.classChanges},
        {"first", any ? Json(diff.first) : Json(nullptr)}, {"first_a", any ? jsonNumber(diff.firstA) : Json(nullptr)},
        {"first_b", any ? jsonNumber(diff.firstB) : Json(nullptr)}, {"largest_difference", jsonNumber(diff.largest)}};
}

std::string text(const std::vector<TensorDiff>& diffs)
{
    constexpr auto right = Table::Align::right;
    Table table({{"tensor"}, {"elements", right}, {"bits differ", right}, {"class differs", right}, {"first"},
        {"a", right}, {"b", right}, {"largest |a-b|", right}});
    for (const auto& diff : diffs) {
        if (!diff.problem.empty()) {
            table.add({diff.name, "-", "-", "-", diff.problem});
            continue;
        }
        const bool any = diff.differing > 0;
        table.add({diff.name, countText(diff.count), countText(diff.differing), countText(diff.classChanges),
            any ? indexText(diff.first) : "-", any ? numberText(diff.firstA) : "-", any ? numberText(diff.firstB) : "-",
            any ? numberText(diff.largest) : "-"});
    }
    return table.text();
}

Result<int> diffCaptures(const std::string& pathA, const std::string& pathB, Terminal& terminal)
{
    const auto a = openCapture(pathA);
    const auto b = openCapture(pathB);
    if (!a || !b) {
        return tl::make_unexpected(a ? b.error() : a.error());
    }
    const auto diffs = compareFiles(*a, *b);
    if (!diffs) {
        return tl::make_unexpected(diffs.error());
    }
    if (terminal.json()) {
        auto tensors = nlohmann::ordered_json::array();
        for (const auto& diff : *diffs) {
            tensors.push_back(json(diff));
        }
        terminal.printJson({{"schema", "nanscope.diff/1"}, {"tensors", std::move(tensors)}});
    } else {
        terminal.print(text(*diffs));
    }
    return exitDone;
}

Result<int> diffRuns(const std::string& pathA, const std::string& pathB, std::int64_t shift, const ColumnWords& words,
    Terminal& terminal)
{
    const auto columns = columnsFor({pathA, pathB}, words, terminal);
    if (!columns) {
        return tl::make_unexpected(columns.error());
    }
    const auto a = openSource(pathA, {}, terminal, *columns);
    if (!a) {
        return tl::make_unexpected(a.error());
    }
    const auto b = openSource(pathB, {}, terminal, *columns);
    if (!b) {
        return tl::make_unexpected(b.error());
    }
    const auto comparison = compareRuns(a->run, b->run, shift);
    if (terminal.json()) {
        terminal.printJson(runDiffJson(comparison));
    } else {
        terminal.print(runDiffText(comparison));
    }
    return std::max(a->status(), b->status());
}

bool isCapture(const std::string& path)
{
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && looksLikeTensorFile(path);
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
    return a || b ? diffCaptures(m_a, m_b, terminal) : diffRuns(m_a, m_b, m_shift, m_columns, terminal);
}

} // namespace

std::unique_ptr<Command> makeDiff(CLI::App& root)
{
    return std::make_unique<Diff>(root);
}

} // namespace nanscope
