// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/reproduce/reproduce.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/base/utf8.h"
#include "core/diagnose/verdict/experiments.h"
#include "core/model/words.h"
#include "core/platform/platform.h"
#include "core/report/input/reportinput.h"
#include "core/reproduce/expectation.h"
#include "core/reproduce/pythonprogram.h"
#include "core/reproduce/reducedcapture.h"
#include "core/reproduce/smaller.h"

namespace nanscope::reproduce {

namespace {

constexpr std::string_view captureName = "capture_min.pt";

constexpr std::string_view wholeName = "capture_whole.pt";

/// Everything the files of a reproducer are written from.
struct ReproducerContents
{
    const CaptureVerdict& verdict;
    const ReproducerOptions& options;
    ReducedCapture whole; ///< matrices
    std::vector<ExpectedNumbers> numbers; ///< of capture()
    std::optional<Smaller> smaller = std::nullopt;
    std::vector<ExpectedNumbers> ofWhole = {}; ///< the same of `whole`, where there is a smaller one
    std::string whyWhole = {}; ///< there is no smaller one
    std::string captureHash = {};
    std::string wholeHash = {};

    const ReducedCapture& capture() const { return smaller ? smaller->capture : whole; }
    /// Where more than the numbers may be at fault, the function under suspicion has to be called with the whole.
    bool packsWhole() const { return smaller && verdict.blame != Blame::numerics; }
    /// Of a healthy capture there is no damage: like the dump is then what ends finite.
    bool likeDump(const ExpectedNumbers& row) const
    {
        return isHealthy(verdict) ? row.outcome == "finite" : row.likeDump;
    }
    int expectedStatus() const
    {
        return std::any_of(numbers.begin(), numbers.end(),
                   [this](const ExpectedNumbers& row) { return row.precision == row.own && likeDump(row); })
            ? 0
            : 1;
    }
};

using Json = nlohmann::ordered_json;

// Sums in another order move relF by some percent; a wrong coefficient moves it by far more.
constexpr double relativeRoom = 0.25;
constexpr double absoluteRoom = 1e-5;

Json shownJson(const std::optional<Shown>& shown)
{
    return shown ? Json {{"outcome", shown->outcome}, {"not_finite", shown->notFinite}, {"of", shown->of},
               {"whole", shown->notFinite == shown->of}}
                 : Json(nullptr);
}

Json dumpJson(const ReducedCapture& whole)
{
    return whole.outputValues.empty() ? Json(nullptr) : shownJson(shownBy(whole.outputValues, whole.inputValues));
}

Json tensorsJson(const ReducedCapture& capture, std::string_view file, const std::string& hash, std::uint64_t seed)
{
    Json directions = nullptr;
    if (capture.twin) {
        directions = *capture.twin == TwinDirections::random ? "random" : "largest_along_axes";
    }
    return {{"file", file}, {"sha256", hash}, {"synthetic", capture.twin.has_value()}, {"directions", directions},
        {"seed", capture.twin ? Json(seed) : Json(nullptr)}, {"shape", capture.input.shape},
        {"dtype", torchName(capture.input.dtype)}, {"elements", capture.elements}, {"captured", capture.captured},
        {"epsilon", capture.epsilon ? Json(*capture.epsilon) : Json(nullptr)}};
}

Json minimisedJson(const ReproducerContents& from)
{
    if (!from.smaller) {
        return nullptr;
    }
    const auto& smaller = *from.smaller;
    return {{"from", smaller.before}, {"elements_left", smaller.nonZero}, {"calls", smaller.calls},
        {"exhausted", smaller.exhausted}, {"ends_like_dump", smaller.leading}, {"kept", smaller.kept}};
}

Json captureJson(const ReproducerContents& from)
{
    auto json = tensorsJson(from.capture(), captureName, from.captureHash, from.options.seed);
    json["minimised"] = minimisedJson(from);
    json["not_minimised"] = from.smaller ? Json(nullptr) : Json(from.whyWhole);
    return json;
}

Json numbersJson(const ReproducerContents& from, const ExpectedNumbers& row)
{
    Json first = nullptr;
    if (row.firstNonFinite) {
        first = {{"op", name(row.firstNonFinite->first)}, {"step", row.firstNonFinite->second}};
    }
    return {{"variant", row.variant->name}, {"precision", name(row.precision)}, {"own_precision", name(row.own)},
        {"outcome", row.outcome}, {"rel_f", row.relF ? Json(*row.relF) : Json(nullptr)}, {"first_nonfinite", first},
        {"like_dump", from.likeDump(row)}};
}

/// expected.json: what repro.py holds its results against.
std::string expectedText(const ReproducerContents& from)
{
    auto rows = jsonArray(from.numbers, [&](const ExpectedNumbers& row) { return numbersJson(from, row); });
    const Json whole =
        from.packsWhole() ? tensorsJson(from.whole, wholeName, from.wholeHash, from.options.seed) : Json(nullptr);
    const Json json {{"schema", "nanscope.reproducer/1"}, {"nanscope", NANSCOPE_VERSION},
        {"verdict", name(from.verdict.blame)}, {"role", name(from.verdict.role)}, {"healthy", isHealthy(from.verdict)},
        {"capture", captureJson(from)}, {"whole", whole}, {"dump", dumpJson(from.whole)},
        {"shown", shownJson(from.capture().shown)}, {"numbers", std::move(rows)},
        {"tolerance", {{"relative", relativeRoom}, {"absolute", absoluteRoom}}},
        {"expected_status", from.expectedStatus()}};
    return jsonText(json, 2) + "\n";
}

constexpr std::size_t lineWidth = 110;

/// Below its name, in lines that fit a screen.
std::string entry(std::string_view name, const std::string& text)
{
    std::string result(name);
    std::size_t width = lineWidth;
    std::istringstream words(text);
    for (std::string word; words >> word; width += word.size() + 1) {
        const bool fits = width + 1 + word.size() <= lineWidth;
        result += (fits ? " " : "\n  ") + word;
        width = fits ? width : 1;
    }
    return result + "\n";
}

std::string directionsText(TwinDirections directions, std::uint64_t seed)
{
    return directions == TwinDirections::random
        ? fmt::format("random directions (seed {})", seed)
        : fmt::format("random directions (seed {}) but for the largest, which lies along one row and one column: "
                      "spread over all of them, no entry would leave the format",
            seed);
}

std::string wholeSentence(const ReducedCapture& capture, std::uint64_t seed)
{
    if (capture.twin) {
        return fmt::format(
            "A synthetic twin of the captured input: the same singular values, size and format, with {}.",
            directionsText(*capture.twin, seed));
    }
    return fmt::format("{} of {} of the {} captured {}, bit for bit.", capture.output ? "Input and output" : "Input",
        capture.elements.size(), capture.captured, capture.captured == 1 ? "matrix" : "matrices");
}

std::string secretSentence(const ReducedCapture& capture)
{
    if (!capture.twin) {
        return "It may be private, and nothing in it is redacted.";
    }
    return *capture.twin == TwinDirections::random
        ? "No captured number was put into it."
        : "No captured number was put into it: its largest entry is the largest singular value.";
}

std::string cutSentence(const Smaller& smaller, std::uint64_t seed)
{
    const auto& part = smaller.capture;
    const auto origin = part.twin
        ? fmt::format(
            "a synthetic twin of the captured input (the same singular values, {})", directionsText(*part.twin, seed))
        : std::string("the captured input; its output, which was that of the whole, is left out");
    return fmt::format("Cut from {}: {} of {}, {} of {} elements not zero.", origin, shapeText(part.input.shape),
        shapeText(smaller.before), countText(smaller.nonZero),
        countText(static_cast<std::int64_t>(part.inputValues.size())));
}

std::string leastSentence(const Smaller& smaller)
{
    const auto others =
        smaller.others == 1 ? std::string("the other replay") : fmt::format("the other {} replays", smaller.others);
    return fmt::format("The least found in {} calls on which {} ends like the dump, and {} as on the whole. "
                       "What chooses a kernel is kept: {}.{}",
        smaller.calls, smaller.leading, others, smaller.kept,
        smaller.exhausted ? " The search was ended by its limit, so that less may do." : "");
}

std::string healthySentence(const ReproducerContents& from)
{
    return fmt::format(
        "The capture is healthy: {}. There is no damage to reproduce; repro.py shows {}. python repro.py "
        "--impl MODULE:FUNCTION calls your function with it, and ends with 0 where a result is not finite.",
        from.verdict.summary,
        from.expectedStatus() == 0 ? "that the published numbers end finite as the dump does"
                                   : "that no published numbers end finite here, though the dump does");
}

/// The verdict has more to go by: the captured matrix, and other roundings.
std::string whyNumbersDoNotShow(const ReproducerContents& from)
{
    if (!from.options.synthetic) {
        return "The numbers can do it under some roundings of the verdict, not under the one of repro.py: so near the "
               "edge "
               "the order of sums decides.";
    }
    const auto dumped = outcomeOf(from.whole.outputValues, from.whole.inputValues);
    const bool alike = std::any_of(from.numbers.begin(), from.numbers.end(), [&dumped](const ExpectedNumbers& row) {
        return row.precision == row.own && row.firstNonFinite && row.outcome == dumped;
    });
    return alike
        ? "The twin leaves the finite, too, but the places of the damage hang on the directions, which it does "
          "not share: ask for the capture."
        : "The twin does not show it. What mattered is not in the singular values: ask for the capture.";
}

/// Why repro.py is expected to end as it is: one or two sentences.
std::string whyThatStatus(const ReproducerContents& from)
{
    if (isHealthy(from.verdict)) {
        return healthySentence(from);
    }
    if (from.expectedStatus() == 0) {
        return from.verdict.blame == Blame::upstream
            ? "The input was not finite already, and every variant passes that on."
            : "A variant that may have run ends like the dump, on any machine.";
    }
    if (numbersMayShow(from.verdict)) {
        return whyNumbersDoNotShow(from);
    }
    const bool finite =
        !from.whole.outputValues.empty() && outcomeOf(from.whole.outputValues, from.whole.inputValues) == "finite";
    return fmt::format(
        "No variant that may have run ends like the dump: either something else ran, or the fault is not in the "
        "numbers. python repro.py --impl MODULE:FUNCTION calls your function on a machine like the one that failed, "
        "and {}.",
        finite ? "says how many different results it gives and which published numbers they are nearest to: the dump "
                 "is finite, so no single result shows the fault"
               : "ends with 0 where a result is not finite");
}

/// What capture_min.pt is, and whether it may be private.
std::string captureSentence(const ReproducerContents& from)
{
    const auto& capture = from.capture();
    const std::string secret = secretSentence(capture);
    if (from.smaller) {
        return fmt::format(
            "{} {} {}", cutSentence(*from.smaller, from.options.seed), leastSentence(*from.smaller), secret);
    }
    return fmt::format("{} {} It is whole: {}.", wholeSentence(capture, from.options.seed), secret, from.whyWhole);
}

/// What README.txt says of the files: each name on a line of its own, with what it is below it.
std::string readmeLines(const ReproducerContents& from)
{
    const bool healthy = isHealthy(from.verdict);
    const auto program =
        fmt::format("Runs the call again: python repro.py needs torch and no GPU. It ends with 0 where "
                    "{}, 1 where {}, 2 where it cannot run. Expected is {}. {}",
            healthy ? "the numbers end finite as the dump does" : "the damage is reproduced",
            healthy ? "they do not" : "it is not", from.expectedStatus(), whyThatStatus(from));
    const auto numbers =
        fmt::format("What each variant that may have run is expected to give with {}, where that comes "
                    "from, and its sha256.",
            captureName);
    auto lines =
        entry("repro.py", program) + entry("expected.json", numbers) + entry(captureName, captureSentence(from));
    if (from.packsWhole()) {
        lines += entry(wholeName,
            fmt::format("What --impl and --storm call your function with: that the numbers did it is not certain, and "
                        "what else may have needs the whole. {}",
                wholeSentence(from.whole, from.options.seed)));
    }
    return lines;
}

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

std::string reproText(const ReproducerContents& from)
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
    const auto bytes = TRY(captureBytes(capture));
    hash = sha256(bytes);
    const auto* begin = reinterpret_cast<const char*>(bytes.data());
    return report::ReportFile {std::string(name), std::string(begin, bytes.size())};
}

/// What --impl is given: the function that a sidecar names, as the next step of the verdict has it. A report hides in
/// it what is to be hidden.
std::string functionOf(const CaptureVerdict& verdict)
{
    const auto called = diagnose::functionToCall(verdict.facts.scene);
    const auto word = platform::shellQuoted(called.substr(std::string_view("python:").size()));
    // Quoted in any case: <redacted> may stand in it later, which a shell would redirect to.
    return word.starts_with('\'') ? word : fmt::format("'{}'", word);
}

Result<report::Reproducer> written(ReproducerContents contents)
{
    std::vector<report::ReportFile> tensors;
    const auto pack = [&tensors](const ReducedCapture& capture, std::string_view name, std::string& hash) {
        return packed(capture, name, hash).map([&tensors](report::ReportFile file) {
            tensors.push_back(std::move(file));
        });
    };
    TRY(pack(contents.capture(), captureName, contents.captureHash));
    if (contents.packsWhole()) {
        TRY(pack(contents.whole, wholeName, contents.wholeHash));
    }
    report::Reproducer result {
        {{"repro.py", printableLines(reproText(contents))}, {"expected.json", expectedText(contents)}},
        readmeLines(contents), contents.expectedStatus(), whyThatStatus(contents), captureSentence(contents),
        functionOf(contents.verdict)};
    for (const auto& file : result.files) {
        if (holdsAny(file.bytes, contents.options.hidden)) {
            return failure(ErrorKind::refused, "a text that is to be hidden occurs in it");
        }
    }
    std::move(tensors.begin(), tensors.end(), std::back_inserter(result.files));
    return result;
}

/// With the numbers of every variant that may have run. Of two twins the one that shows what the capture does.
Result<ReproducerContents> replayed(const CaptureVerdict& verdict, const ReproducerOptions& options,
    const ReducedCapture& captured, const CancelToken& cancel)
{
    const auto runs = suspectedRuns(verdict, options.catalogue);
    const auto withNumbers = [&](ReducedCapture capture) {
        return expectedNumbers(runs, capture, cancel).map([&](std::vector<ExpectedNumbers> numbers) {
            return ReproducerContents {verdict, options, std::move(capture), std::move(numbers)};
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
Result<ReproducerContents> withSmaller(ReproducerContents contents, const JobContext& job)
{
    if (!contents.options.minimise) {
        contents.whyWhole = "it was not to be made smaller (--no-minimise)";
        return contents;
    }
    if (isHealthy(contents.verdict)) {
        contents.whyWhole = "it is healthy, so that there is no damage that less of it could show";
        return contents;
    }
    if (contents.verdict.blame == Blame::upstream) {
        contents.whyWhole = "its input was not finite already, so that less of it would show nothing more";
        return contents;
    }
    auto smaller = smallerCapture(contents.whole, contents.numbers, job);
    if (!smaller) {
        contents.whyWhole = smaller.error().what;
        return smaller.error().kind == ErrorKind::cancelled
            ? Result<ReproducerContents>(tl::make_unexpected(smaller.error()))
            : Result<ReproducerContents>(std::move(contents));
    }
    auto numbers =
        TRY(expectedNumbers(suspectedRuns(contents.verdict, contents.options.catalogue), smaller->capture, job.cancel));
    if (firstLikeDump(numbers) == nullptr) {
        contents.whyWhole = "less of it did not end like the dump when it was asked again";
        return contents;
    }
    contents.ofWhole = std::exchange(contents.numbers, std::move(numbers));
    contents.smaller = std::move(*smaller);
    return contents;
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
    const auto file = TRY(tensorfile::openCapture(*capture));
    const auto reduced = TRY(reduceCapture(file, *capture, options.limit));
    return replayed(*verdict, options, reduced, job.cancel)
        .and_then([&job](ReproducerContents contents) { return withSmaller(std::move(contents), job); })
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
