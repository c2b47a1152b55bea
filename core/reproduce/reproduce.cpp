// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/reproduce/reproduce.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/utf8.h"
#include "core/reproduce/pythonprogram.h"
#include "core/reproduce/reproducerfiles.h"
#include "core/reproduce/reprotext.h"
#include "core/reproduce/sha256.h"

namespace nanscope::reproduce {

namespace {

std::string keyOf(const ExpectedNumbers& row)
{
    return fmt::format("({}, \"{}\")", nlohmann::json(row.variant->name).dump(), name(row.precision));
}

std::string programsText(const std::vector<ExpectedNumbers>& rows)
{
    std::string functions;
    std::string table = "PROGRAMS = {\n";
    for (const auto& row : rows) {
        functions += pythonFunction(*row.variant, row.program) + "\n\n";
        table += fmt::format("    {}: {},\n", keyOf(row), pythonName(row.variant->name, row.precision));
    }
    return functions + table + "}\n";
}

/// A few variants have a number that hangs on the size of the matrix, so that there are two functions of them.
std::string wholeProgramsText(const std::vector<ExpectedNumbers>& rows, const std::vector<ExpectedNumbers>& ofWhole)
{
    std::string functions;
    std::string table = "WHOLE_PROGRAMS = {\n    **PROGRAMS,\n";
    for (std::size_t i = 0; i < std::min(rows.size(), ofWhole.size()); ++i) {
        const auto& row = ofWhole[i];
        auto text = pythonFunction(*row.variant, row.program);
        if (text == pythonFunction(*rows[i].variant, rows[i].program)) {
            continue;
        }
        const auto function = pythonName(row.variant->name, row.precision);
        const auto head = fmt::format("def {}(", function);
        functions += text.replace(text.find(head), head.size(), fmt::format("def {}_whole(", function)) + "\n\n";
        table += fmt::format("    {}: {}_whole,\n", keyOf(row), function);
    }
    return functions + table + "}\n";
}

std::string reproText(const Material& from)
{
    std::string text(reproTemplate());
    const auto programs = programsText(from.numbers) + "\n\n"
        + wholeProgramsText(from.numbers, from.packsWhole() ? from.ofWhole : decltype(from.ofWhole) {});
    return text.replace(text.find(programsMark), programsMark.size(), programs);
}

bool holdsAny(const std::string& text, const std::vector<report::Redaction>& hidden)
{
    return std::any_of(hidden.begin(), hidden.end(), [&text](const report::Redaction& redaction) {
        const bool kept = redaction.text == redaction.replacement;
        return !kept && !redaction.text.empty() && text.find(redaction.text) != std::string::npos;
    });
}

Result<report::ReportFile> packed(const ReducedCapture& capture, std::string_view name, std::string& hash)
{
    const auto bytes = captureBytes(capture);
    if (!bytes) {
        return tl::make_unexpected(bytes.error());
    }
    hash = sha256(*bytes);
    const auto* begin = reinterpret_cast<const char*>(bytes->data());
    return report::ReportFile {std::string(name), std::string(begin, bytes->size())};
}

Result<report::Reproducer> written(Material material)
{
    std::vector<report::ReportFile> tensors;
    const auto pack = [&tensors](const ReducedCapture& capture, std::string_view name, std::string& hash) {
        return packed(capture, name, hash).map([&tensors](report::ReportFile file) {
            tensors.push_back(std::move(file));
        });
    };
    auto done = pack(material.capture(), captureName, material.captureHash);
    if (done && material.packsWhole()) {
        done = pack(material.whole, wholeName, material.wholeHash);
    }
    if (!done) {
        return tl::make_unexpected(done.error());
    }
    report::Reproducer result {
        {{"repro.py", printableLines(reproText(material))}, {"expected.json", expectedText(material)}},
        readmeLines(material), material.expectedStatus(), whyThatStatus(material), captureSentence(material)};
    for (const auto& file : result.files) {
        if (holdsAny(file.bytes, material.options.hidden)) {
            return failure(ErrorKind::refused, "a text that is to be hidden occurs in it");
        }
    }
    std::move(tensors.begin(), tensors.end(), std::back_inserter(result.files));
    return result;
}

/// With the numbers of every variant that may have run. Of two twins the one that shows what the capture does.
Result<Material> replayed(const CaptureVerdict& verdict, const ReproducerOptions& options,
    const ReducedCapture& captured, const CancelToken& cancel)
{
    const auto runs = suspectedRuns(verdict, options.catalogue);
    const auto withNumbers = [&](ReducedCapture capture) {
        return expectedNumbers(runs, capture, cancel).map([&](std::vector<ExpectedNumbers> numbers) {
            return Material {verdict, options, std::move(capture), std::move(numbers)};
        });
    };
    if (!options.synthetic) {
        return withNumbers(captured);
    }
    const auto twin = [&](TwinDirections directions) {
        return syntheticCapture(captured, options.seed, directions).and_then(withNumbers);
    };
    auto plain = twin(TwinDirections::random);
    if (!plain || plain->expectedStatus() == 0 || !numbersMayShow(verdict)) {
        return plain;
    }
    auto aligned = twin(TwinDirections::largestAlongAxes);
    return !aligned || aligned->expectedStatus() == 0 ? std::move(aligned) : std::move(plain);
}

/// Takes the place of the whole where one is found; only a cancelled search is a failure.
Result<Material> withSmaller(Material material, const JobContext& job)
{
    if (!material.options.minimise) {
        material.whyWhole = "it was not to be made smaller (--no-minimise)";
        return material;
    }
    if (report::isHealthy(material.verdict)) {
        material.whyWhole = "it is healthy, so that there is no damage that less of it could show";
        return material;
    }
    if (material.verdict.blame == Blame::upstream) {
        material.whyWhole = "its input was not finite already, so that less of it would show nothing more";
        return material;
    }
    auto smaller = smallerCapture(material.whole, material.numbers, job);
    if (!smaller) {
        material.whyWhole = smaller.error().what;
        return smaller.error().kind == ErrorKind::cancelled ? Result<Material>(tl::make_unexpected(smaller.error()))
                                                            : Result<Material>(std::move(material));
    }
    auto numbers =
        expectedNumbers(suspectedRuns(material.verdict, material.options.catalogue), smaller->capture, job.cancel);
    if (!numbers) {
        return tl::make_unexpected(numbers.error());
    }
    if (firstLikeDump(*numbers) == nullptr) {
        material.whyWhole = "less of it did not end like the dump when it was asked again";
        return material;
    }
    material.ofWhole = std::exchange(material.numbers, std::move(*numbers));
    material.smaller = std::move(*smaller);
    return material;
}

} // namespace

Result<report::Reproducer> makeReproducer(
    const report::ReportInput& input, const ReproducerOptions& options, const JobContext& job)
{
    const auto* capture = report::mainCapture(input);
    const auto* verdict = report::mainVerdict(input);
    if (capture == nullptr || verdict == nullptr) {
        return failure(ErrorKind::usage, "there is no capture to run again");
    }
    if (!capture->part.empty()) {
        return failure(ErrorKind::unsupported, "the capture holds a part of its matrices only");
    }
    const auto file = tensorfile::openCapture(*capture);
    const auto reduced = file ? reduceCapture(*file, *capture, options.limit) : tl::make_unexpected(file.error());
    if (!reduced) {
        return tl::make_unexpected(reduced.error());
    }
    return replayed(*verdict, options, *reduced, job.cancel)
        .and_then([&job](Material material) { return withSmaller(std::move(material), job); })
        .and_then(written);
}

Result<report::Reproducer> reproducerOrReason(
    const report::ReportInput& input, const ReproducerOptions& options, const JobContext& job)
{
    auto made = makeReproducer(input, options, job);
    if (made || made.error().kind == ErrorKind::cancelled) {
        return made;
    }
    // Without the path, which may tell a name.
    return report::Reproducer {{}, fmt::format("There is no repro.py: {}.", made.error().what)};
}

} // namespace nanscope::reproduce
