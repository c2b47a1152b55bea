// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/reproduce/reproduce.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/reproduce/material.h"
#include "core/reproduce/pythonprogram.h"
#include "core/reproduce/readme.h"
#include "core/reproduce/reprotext.h"
#include "core/reproduce/sha256.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

// Sums in another order move relF by some percent; a wrong coefficient moves it by far more.
constexpr double relativeRoom = 0.25;
constexpr double absoluteRoom = 1e-5;

Json dumpJson(const ReducedCapture& capture)
{
    if (capture.outputValues.empty()) {
        return nullptr;
    }
    const auto bad = std::count_if(
        capture.outputValues.begin(), capture.outputValues.end(), [](double value) { return !std::isfinite(value); });
    return {{"outcome", outcomeOf(capture.outputValues, capture.inputValues)}, {"not_finite", bad},
        {"of", capture.outputValues.size()}, {"whole", static_cast<std::size_t>(bad) == capture.outputValues.size()}};
}

Json captureJson(const Material& from)
{
    const auto& capture = from.capture;
    const bool twin = from.options.synthetic;
    return {{"file", captureName}, {"sha256", from.captureHash}, {"synthetic", twin},
        {"seed", twin ? Json(from.options.seed) : Json(nullptr)}, {"shape", capture.input.shape},
        {"dtype", torchName(capture.input.dtype)}, {"elements", capture.elements}, {"captured", capture.captured},
        {"epsilon", capture.epsilon ? Json(*capture.epsilon) : Json(nullptr)}};
}

Json numbersJson(const ExpectedNumbers& row)
{
    Json first = nullptr;
    if (row.firstNonFinite) {
        first = {{"op", name(row.firstNonFinite->first)}, {"step", row.firstNonFinite->second}};
    }
    return {{"variant", row.variant->name}, {"precision", name(row.precision)}, {"own_precision", name(row.own)},
        {"outcome", row.outcome}, {"rel_f", row.relF ? Json(*row.relF) : Json(nullptr)}, {"first_nonfinite", first},
        {"like_dump", row.likeDump}};
}

std::string expectedText(const Material& from)
{
    Json rows = Json::array();
    for (const auto& row : from.numbers) {
        rows.push_back(numbersJson(row));
    }
    const Json json {{"schema", "nanscope.reproducer/1"}, {"nanscope", NANSCOPE_VERSION},
        {"verdict", name(from.verdict.blame)}, {"role", name(from.verdict.role)}, {"capture", captureJson(from)},
        {"dump", dumpJson(from.capture)}, {"numbers", std::move(rows)},
        {"tolerance", {{"relative", relativeRoom}, {"absolute", absoluteRoom}}},
        {"expected_status", from.reproducedByNumbers() ? 0 : 1}};
    return json.dump(2) + "\n";
}

std::string programsText(const std::vector<ExpectedNumbers>& rows)
{
    std::string functions;
    std::string table = "PROGRAMS = {\n";
    for (const auto& row : rows) {
        functions += pythonFunction(*row.variant, row.program) + "\n\n";
        table += fmt::format("    ({}, \"{}\"): {},\n", Json(row.variant->name).dump(), name(row.precision),
            pythonName(row.variant->name, row.precision));
    }
    return functions + table + "}\n";
}

std::string reproText(const std::vector<ExpectedNumbers>& rows)
{
    std::string text(reproTemplate());
    return text.replace(text.find(programsMark), programsMark.size(), programsText(rows));
}

bool holdsAny(const std::string& text, const std::vector<Redaction>& hidden)
{
    return std::any_of(hidden.begin(), hidden.end(), [&text](const Redaction& redaction) {
        return !redaction.text.empty() && text.find(redaction.text) != std::string::npos;
    });
}

Result<Reproducer> written(Material material)
{
    const auto bytes = captureBytes(material.capture);
    if (!bytes) {
        return tl::make_unexpected(bytes.error());
    }
    material.captureHash = sha256(*bytes);
    Reproducer result {{{"repro.py", reproText(material.numbers)}, {"expected.json", expectedText(material)}},
        readmeLines(material), material.reproducedByNumbers() ? 0 : 1, whyThatStatus(material),
        captureSentence(material)};
    for (const auto& file : result.files) {
        if (holdsAny(file.bytes, material.options.hidden)) {
            return failure(ErrorKind::refused, "a text that is to be hidden occurs in it");
        }
    }
    const auto* begin = reinterpret_cast<const char*>(bytes->data());
    result.files.push_back({std::string(captureName), std::string(begin, bytes->size())});
    return result;
}

} // namespace

Result<Reproducer> makeReproducer(const ReportInput& input, const ReproducerOptions& options, const CancelToken& cancel)
{
    const auto* capture = mainCapture(input);
    const auto* verdict = mainVerdict(input);
    if (capture == nullptr || verdict == nullptr) {
        return failure(ErrorKind::usage, "there is no capture to run again");
    }
    if (!capture->part.empty()) {
        return failure(ErrorKind::unsupported, "the capture holds a part of its matrices only");
    }
    const auto file = openCapture(capture->path);
    auto reduced = file ? reduceCapture(*file, *capture, options.limit) : tl::make_unexpected(file.error());
    if (!reduced) {
        return tl::make_unexpected(reduced.error());
    }
    if (options.synthetic) {
        if (auto made = makeSynthetic(*reduced, options.seed); !made) {
            return tl::make_unexpected(made.error());
        }
    }
    auto numbers = expectedNumbers(suspectedRuns(*verdict), *reduced, options.synthetic, cancel);
    if (!numbers) {
        return tl::make_unexpected(numbers.error());
    }
    return written({*verdict, options, std::move(*reduced), std::move(*numbers), {}});
}

Result<Reproducer> reproducerOrReason(
    const ReportInput& input, const ReproducerOptions& options, const CancelToken& cancel)
{
    auto made = makeReproducer(input, options, cancel);
    if (made || made.error().kind == ErrorKind::cancelled) {
        return made;
    }
    // Without the path, which may tell a name.
    return Reproducer {{}, fmt::format("There is no repro.py: {}.", made.error().what)};
}

} // namespace nanscope
