// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/reproduce/reproduce.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/reproduce/expectation.h"
#include "core/reproduce/pythonprogram.h"
#include "core/reproduce/reducedcapture.h"
#include "core/reproduce/reprotext.h"
#include "core/reproduce/sha256.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

// Sums in another order move relF by some percent; a wrong coefficient moves it by far more.
constexpr double relativeRoom = 0.25;
constexpr double absoluteRoom = 1e-5;
constexpr std::string_view captureName = "capture_min.pt";

/// Everything the files are written from.
struct Material
{
    const CaptureVerdict& verdict;
    const ReproducerOptions& options;
    ReducedCapture capture;
    std::vector<ExpectedNumbers> numbers;
    std::string captureHash;

    bool reproducedByNumbers() const
    {
        return std::any_of(numbers.begin(), numbers.end(),
            [](const ExpectedNumbers& row) { return row.precision == row.own && row.likeDump; });
    }
};

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

/// Lines of a README, which are indented by two.
std::string_view whyThatStatus(const Material& from)
{
    if (from.reproducedByNumbers()) {
        return from.verdict.blame == Blame::upstream
            ? "the input was not finite already, and every variant passes that on."
            : "a variant that may have run ends like the dump, on any machine.";
    }
    if (from.options.synthetic && from.verdict.blame == Blame::numerics) {
        return "the twin does not show it. What mattered is not in the singular values: ask for the capture.";
    }
    return "no variant that may have run ends like the dump: either something else ran, or the fault is not in\n"
           "  the numbers. python repro.py --impl MODULE:FUNCTION calls your function on a machine like the one that "
           "failed,\n  and ends with 0 where a result is not finite.";
}

std::string captureLine(const Material& from)
{
    if (from.options.synthetic) {
        return fmt::format("A synthetic twin of the captured input: the same singular values, size and format, with "
                           "random directions\n  (seed {}). None of the captured numbers is in it.",
            from.options.seed);
    }
    return fmt::format("Input and output of {} of the {} captured {}, bit for bit. They may be private, and nothing in "
                       "them is redacted.",
        from.capture.elements.size(), from.capture.captured, from.capture.captured == 1 ? "matrix" : "matrices");
}

std::string readmeLines(const Material& from)
{
    return fmt::format(
        "repro.py\n  Runs the call again: python repro.py needs torch and no GPU. It ends with 0 where "
        "the damage is reproduced,\n  1 where it is not, 2 where it cannot run.\n  Expected is {}: {}\n"
        "expected.json\n  What each variant that may have run is expected to give, and the sha256 of {}.\n"
        "{}\n  {}\n",
        from.reproducedByNumbers() ? 0 : 1, whyThatStatus(from), captureName, captureName, captureLine(from));
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
    Reproducer result {
        {{"repro.py", reproText(material.numbers)}, {"expected.json", expectedText(material)}}, readmeLines(material)};
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
