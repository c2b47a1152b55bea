// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/capture/sidecar.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <simdjson.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/platform/platform.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::tensorfile {

namespace {

using Value = simdjson::simdjson_result<simdjson::dom::element>;

constexpr std::size_t mostName = 200; ///< characters of a name
constexpr std::size_t mostWords = 300; ///< characters of a sentence
constexpr std::int64_t mostDims = 16; ///< of a tensor, and of a mesh
constexpr std::size_t mostNames = 64; ///< of arguments of a function
constexpr std::size_t mostArguments = 4000; ///< characters of all that a call was given: a hundred steps' coefficients

std::string_view wordIn(const Value& value)
{
    std::string_view text;
    return value.get(text) == simdjson::SUCCESS ? text : std::string_view();
}

std::string textIn(const Value& value, std::size_t most)
{
    return clipped(wordIn(value), most);
}

bool isTrue(const Value& value)
{
    bool is = false;
    return value.get(is) == simdjson::SUCCESS && is;
}

template <class Json>
std::optional<std::int64_t> countIn(const Json& value)
{
    std::int64_t count = 0;
    return value.get(count) == simdjson::SUCCESS && count >= 0 ? std::optional(count) : std::nullopt;
}

std::optional<double> magnitudeIn(const Value& value)
{
    double number = 0;
    const bool good = value.get(number) == simdjson::SUCCESS && std::isfinite(number) && number >= 0;
    return good ? std::optional(number) : std::nullopt;
}

OwnState stateOf(const simdjson::dom::object& object)
{
    if (isTrue(object["call"]["random"])) {
        return OwnState::random;
    }
    const auto keeps = wordIn(object["call"]["keeps"]);
    if (keeps.empty() || keeps == "the same") {
        return OwnState::none;
    }
    return keeps == "other values" ? OwnState::otherValues : OwnState::notKnown;
}

/// The calls that the helper made again as they ran. Where the function was given other tensors, too, or that is not
/// said, the first call may have changed them, and nothing follows from another end.
void takeRetries(const simdjson::dom::object& object, Scene& scene)
{
    scene.notCalledAgain = textIn(object["retries_skipped"], mostWords);
    simdjson::dom::array retries;
    const auto others = countIn(object["call"]["other_tensors"]);
    scene.otherTensors = others.value_or(0);
    const bool alone = others == 0;
    if (!alone || scene.state != OwnState::none || object["retries"].get(retries) != simdjson::SUCCESS) {
        return;
    }
    for (const auto retry : retries) {
        const auto how = wordIn(retry["how"]);
        bool finite = false;
        if ((how == "same" || how == "stream") && retry["finite"].get(finite) == simdjson::SUCCESS) {
            ++scene.calledAgain;
            scene.failedAgain += finite ? 0 : 1;
        }
    }
}

/// What has to be given besides input and epsilon to make the call again: numbers, words, and short lists of them.
std::string argumentsIn(const simdjson::dom::object& object)
{
    simdjson::dom::object given;
    simdjson::dom::object defaults;
    const bool any = object["function"]["defaults"].get(defaults) == simdjson::SUCCESS;
    if (object["call"]["arguments"].get(given) != simdjson::SUCCESS || given.size() > mostNames
        || (any && defaults.size() > mostNames)) {
        return {};
    }
    const auto isPlain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    std::vector<std::string> others;
    for (const auto [name, value] : given) {
        simdjson::dom::element usual;
        const bool has = any && defaults[name].get(usual) == simdjson::SUCCESS;
        const auto text = simdjson::minify(value);
        if (!std::ranges::all_of(name, isPlain)) {
            return {};
        }
        if (name != "epsilon" && name != "eps" && !(has && simdjson::minify(usual) == text)) {
            others.push_back(fmt::format("\"{}\":{}", name, text));
        }
    }
    const auto all = fmt::format("{{{}}}", fmt::join(others, ","));
    return others.empty() || all.size() > mostArguments ? std::string() : all;
}

void takeFunction(const simdjson::dom::object& object, Scene& scene)
{
    const auto function = object["function"];
    const auto module = textIn(function["module"], mostName);
    const auto name = textIn(function["qualname"], mostName);
    if (!module.empty() && !name.empty()) {
        scene.function = fmt::format("{}:{}", module, name);
        scene.arguments = argumentsIn(object);
    }
    // Of 64 digits, which a report would take for a key; these tell two sources apart as well.
    constexpr std::size_t digits = 64;
    constexpr std::size_t kept = 16;
    if (const auto hash = wordIn(function["source_sha256"]); hash.size() == digits) {
        scene.sourceHash = std::string(hash.substr(0, kept));
    }
}

/// The whole output, or matrices of it, that the helper knew from an earlier call by their checksums.
std::optional<StaleOutput> staleIn(const simdjson::dom::object& object)
{
    simdjson::dom::array places;
    if (object["stale"].get(places) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    for (const auto place : places) {
        const auto matrix = countIn(place["matrix"]);
        const auto call = countIn(place["call"]);
        if (matrix && call) {
            return StaleOutput {*matrix, *call};
        }
    }
    return std::nullopt;
}

/// Counts a tensor that the helper looked at; false where it was not finite.
bool countFinite(const Value& value, std::int64_t& all, std::int64_t& bad)
{
    bool finite = true;
    if (value.get(finite) == simdjson::SUCCESS) {
        ++all;
        bad += finite ? 0 : 1;
    }
    return finite;
}

std::optional<ParameterCoverage> coverageIn(const Value& value)
{
    const auto all = countIn(value["parameters"]);
    const auto listed = countIn(value["listed"]);
    if (!all || !listed || *listed > *all) {
        return std::nullopt;
    }
    return ParameterCoverage {*all, *listed, isTrue(value["shards"]), isTrue(value["transposes"])};
}

std::optional<WeightsBefore> weightsBeforeIn(const Value& value)
{
    const auto lookedAt = countIn(value["looked_at"]);
    const auto bad = countIn(value["bad"]);
    if (!lookedAt || !bad || *bad > *lookedAt) {
        return std::nullopt;
    }
    return WeightsBefore {*lookedAt, *bad, textIn(value["first"], mostName), isTrue(value["shards"])};
}

std::optional<ParameterState> parametersIn(const simdjson::dom::object& object)
{
    simdjson::dom::array found;
    if (object["state"].get(found) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    ParameterState state;
    for (const auto one : found) {
        const bool gradient = countFinite(one["grad_finite"], state.gradients, state.badGradients);
        const bool noted = one["state_finite_before"].is_bool();
        const auto* moment = noted ? "state_finite_before" : "momentum_finite";
        const bool momentum = countFinite(one[moment], state.momenta, state.badMomenta);
        state.momentaBefore += noted ? 1 : 0;
        countFinite(one["weight_finite_before"], state.weightsBefore, state.badWeightsBefore);
        countFinite(one["weight_finite"], state.weights, state.badWeights);
        if ((!gradient || !momentum) && state.firstBad.empty()) {
            state.firstBad = textIn(one["parameter"], mostName);
        }
    }
    state.coverage = coverageIn(object["state_of"]);
    return state.gradients + state.momenta + state.weights > 0 ? std::optional(state) : std::nullopt;
}

std::string controlIn(const simdjson::dom::object& object)
{
    simdjson::dom::array controls;
    const bool any = object["controls"].get(controls) == simdjson::SUCCESS && controls.size() > 0;
    return any ? textIn(controls.at(0), mostWords) : std::string();
}

/// What the helper saw in this process and did not write.
void takeLimits(const simdjson::dom::object& object, Scene& scene)
{
    const auto limits = object["limits"];
    const auto calls = countIn(limits["calls"]).value_or(0);
    scene.notLookedAt = std::max<std::int64_t>(0, calls - countIn(limits["looked_at"]).value_or(calls));
    simdjson::dom::object suppressed;
    if (limits["suppressed"].get(suppressed) == simdjson::SUCCESS) {
        for (const auto [reason, count] : suppressed) {
            scene.badNotWritten += countIn(count).value_or(0);
        }
    }
}

void takeScene(const simdjson::dom::object& object, Scene& scene)
{
    scene.optimizerStep = countIn(object["optimizer_step"]);
    scene.callIndex = countIn(object["call"]["index"]);
    takeLimits(object, scene);
    takeFunction(object, scene);
    scene.namedLike = textIn(object["named_like"], mostName);
    scene.onCpu = wordIn(object["environment"]["device"]) == "cpu";
    scene.world = countIn(object["environment"]["world"]).value_or(0);
    scene.state = stateOf(object);
    takeRetries(object, scene);
    const auto before = wordIn(object["input"]["checksum_before"]);
    const auto after = wordIn(object["input"]["checksum_after"]);
    scene.inputOverwritten = !before.empty() && !after.empty() && before != after;
    scene.outputBad = wordIn(object["reason"]) == "a non-finite output";
    scene.exception = textIn(object["exception"], mostWords);
    scene.stale = staleIn(object);
    scene.parameters = parametersIn(object);
    scene.weightsBefore = weightsBeforeIn(object["weights_before"]);
    scene.control = controlIn(object);
    scene.rotated = wordIn(object["privacy"]) == "rotate";
}

/// The placements of a DTensor, "Shard(0), Replicate"; empty where they make every rank hold all of it, and nothing
/// where they are not to be understood.
std::optional<std::string> placementsIn(const Value& part)
{
    constexpr std::size_t longest = 64; // of a placement in torch; what is longer is no word of the helper
    simdjson::dom::array placements;
    simdjson::dom::array sizes;
    if (part["placements"].get(placements) != simdjson::SUCCESS || part["mesh"]["shape"].get(sizes) != simdjson::SUCCESS
        || sizes.size() != placements.size() || sizes.size() == 0
        || sizes.size() > static_cast<std::size_t>(mostDims)) {
        return std::nullopt;
    }
    bool whole = true;
    std::vector<std::string> words;
    for (std::size_t i = 0; i < placements.size(); ++i) {
        const auto word = wordIn(placements.at(i));
        if (word.empty() || word.size() > longest) {
            return std::nullopt;
        }
        whole = whole && (word == "Replicate" || countIn(sizes.at(i)) == 1);
        words.emplace_back(word);
    }
    return whole ? std::string() : fmt::format("{}", fmt::join(words, ", "));
}

/// Of a DTensor the helper writes what the rank held, as a plain tensor: "Shard(0)" says that this is no whole. Without
/// a word that it is one, it is taken for a part: a part that is judged as a whole is judged wrongly.
void takePlacements(const simdjson::dom::object& object, Capture& capture)
{
    simdjson::dom::element part;
    if (!capture.part.empty() || object["part"].get(part) != simdjson::SUCCESS || part.is_null()) {
        return;
    }
    const auto placements = placementsIn(object["part"]);
    if (!placements) {
        capture.part = "a part of a DTensor, by a sidecar that does not say which";
    } else if (!placements->empty()) {
        capture.part = "a part of a DTensor, " + *placements;
    }
}

/// Numbers from 0 on; nothing where one of them is none.
std::optional<std::vector<std::int64_t>> countsIn(const Value& value, std::int64_t most)
{
    simdjson::dom::array listed;
    if (value.get(listed) != simdjson::SUCCESS || static_cast<std::int64_t>(listed.size()) > most) {
        return std::nullopt;
    }
    std::vector<std::int64_t> counts;
    for (const auto one : listed) {
        const auto count = countIn(one);
        if (!count) {
            return std::nullopt;
        }
        counts.push_back(*count);
    }
    return counts;
}

/// Empty where it is none that can be.
DeviceMesh meshIn(const Value& part)
{
    const auto sizes = countsIn(part["mesh"]["shape"], mostDims);
    const auto ranks = countsIn(part["mesh"]["ranks"], mostRanks);
    std::int64_t places = 1;
    if (!sizes || !ranks
        || std::ranges::any_of(
            *sizes, [&](std::int64_t size) { return size < 1 || __builtin_mul_overflow(places, size, &places); })
        || places != static_cast<std::int64_t>(ranks->size())) {
        return {};
    }
    DeviceMesh mesh;
    for (const auto size : *sizes) {
        places /= size;
        mesh.dims.push_back({size, {{size, places}}, {}});
        mesh.dims.back().name = textIn(part["mesh"]["names"].at(mesh.dims.size() - 1), mostName);
    }
    mesh.listed = *ranks;
    mesh.rank = countIn(part["rank"]);
    mesh.coordinate = countsIn(part["mesh"]["coordinate"], mostDims);
    mesh.outside = !mesh.coordinate;
    return mesh;
}

bool isInside(const DeviceMesh& mesh)
{
    const auto& at = mesh.coordinate;
    const auto sizes = mesh.shape();
    return !at || (at->size() == sizes.size() && std::ranges::equal(*at, sizes, std::less<>()));
}

/// Null where there is none, or none that can be understood: then the capture is a part, and that is all.
std::shared_ptr<const Sharding> shardingIn(const Value& part)
{
    auto shape = countsIn(part["shape"], mostDims);
    auto strides = countsIn(part["strides"], mostDims);
    simdjson::dom::array placements;
    Sharding sharding;
    sharding.mesh = meshIn(part);
    if (!shape || !strides || part["placements"].get(placements) != simdjson::SUCCESS
        || placements.size() > static_cast<std::size_t>(mostDims) || sharding.mesh.dims.empty()
        || !isInside(sharding.mesh) || !countable(*shape)) {
        return nullptr;
    }
    sharding.shape = std::move(*shape);
    sharding.strides = std::move(*strides);
    for (std::size_t i = 0; i < placements.size(); ++i) {
        const auto placement = parsePlacement(wordIn(placements.at(i)));
        if (!placement) {
            return nullptr;
        }
        sharding.order.push_back(static_cast<std::int64_t>(sharding.placements.size()));
        sharding.placements.push_back(*placement);
    }
    checkPlacements(sharding);
    return sharding.problem.empty() ? std::make_shared<const Sharding>(std::move(sharding)) : nullptr;
}

/// Those that hold parts of one tensor make their calls with it together.
std::string hashOfMesh(const Value& part)
{
    const auto mesh = meshIn(part);
    ContentHash hash;
    for (const auto rank : mesh.listed) {
        hash.add(static_cast<std::uint64_t>(rank));
    }
    for (const auto size : countsIn(part["shape"], mostDims).value_or(std::vector<std::int64_t>())) {
        hash.add(fmt::format("{}", size));
    }
    hash.add(placementsIn(part).value_or(std::string()));
    return mesh.listed.size() > 1 ? hash.hex() : std::string();
}

/// Calls with other tensors may be more on one rank than on another.
void takeMesh(const Value& part, Scene& scene)
{
    scene.mesh = hashOfMesh(part);
    if (const auto call = countIn(part["call"])) {
        scene.callIndex = call;
    }
}

/// A function that was given a process group has the rank's part as a plain tensor, and nobody says of what.
void takePart(const simdjson::dom::object& object, Capture& capture)
{
    takePlacements(object, capture);
    takeMesh(object["part"], capture.scene);
    const auto ranks = countIn(object["call"]["ranks"]).value_or(1);
    if (capture.part.empty() && ranks > 1) {
        capture.part = fmt::format("a part of a call that {} ranks made together", ranks);
    }
}

void takeEpsilon(const simdjson::dom::object& object, Capture& capture)
{
    double epsilon = 0;
    if (object["epsilon"].get(epsilon) != simdjson::SUCCESS) {
        return;
    }
    if (capture.epsilon && *capture.epsilon != epsilon) {
        capture.scene.otherEpsilon = epsilon;
    }
    capture.epsilon = capture.epsilon.value_or(epsilon);
}

/// Takes what the dump does not say itself.
void takeSidecar(const simdjson::dom::object& object, Capture& capture)
{
    std::string_view variant;
    if (object["variant"].get(variant) == simdjson::SUCCESS) {
        capture.variant = std::string(variant);
    }
    std::string_view precision;
    if (capture.variant && object["precision"].get(precision) == simdjson::SUCCESS) {
        *capture.variant += ":" + std::string(precision);
    }
    takeScene(object, capture.scene);
    // The word that nothing else ran is not about numbers that the function keeps.
    capture.nothingElse = isTrue(object["nothing_else"]) && capture.scene.state == OwnState::none;
    takePart(object, capture);
    std::int64_t step = 0;
    if (object["step"].get(step) == simdjson::SUCCESS) {
        capture.step = step;
    }
    takeEpsilon(object, capture);
}

/// Of a sidecar that was written by hand: helpers, whose sidecars name a schema, write false where nothing is known.
bool otherCodeIn(const simdjson::dom::object& object)
{
    bool nothingElse = true;
    const bool said = object["nothing_else"].get(nothingElse) == simdjson::SUCCESS;
    return said && !nothingElse && wordIn(object["schema"]).empty();
}

/// A sidecar that is open and parsed; `object` lives as long as the parser.
struct Parsed
{
    simdjson::dom::parser parser;
    simdjson::dom::object object;
    std::string identity; ///< of the bytes
};

bool repeatsKeys(const simdjson::dom::element& value)
{
    simdjson::dom::array list;
    if (value.get(list) == simdjson::SUCCESS) {
        return std::any_of(list.begin(), list.end(), repeatsKeys);
    }
    simdjson::dom::object object;
    std::set<std::string_view> keys;
    return value.get(object) == simdjson::SUCCESS && std::any_of(object.begin(), object.end(), [&](const auto& field) {
        return !keys.insert(field.key).second || repeatsKeys(field.value);
    });
}

/// Of a key that stands twice Python's json takes the last, and simdjson the first.
bool keepLastOfKeys(std::string_view text, Parsed& parsed)
{
    constexpr int deepest = 100;
    constexpr std::size_t most = std::size_t {1} << 20;
    const auto json = parseBounded(text, deepest, most);
    return !json.is_discarded() && parsed.parser.parse(jsonText(json)).get(parsed.object) == simdjson::SUCCESS;
}

SidecarProblem parse(const platform::FileReader& file, Parsed& parsed)
{
    constexpr std::uint64_t largest = std::uint64_t {1} << 20;
    if (file.size() > largest) {
        return SidecarProblem::tooLong;
    }
    simdjson::padded_string text(file.size());
    const bool read = file.readAt(0, std::as_writable_bytes(std::span(text.data(), text.size()))).has_value();
    simdjson::dom::element root;
    if (!read || parsed.parser.parse(text).get(root) != simdjson::SUCCESS
        || root.get(parsed.object) != simdjson::SUCCESS) {
        return SidecarProblem::notJson;
    }
    if (repeatsKeys(root) && !keepLastOfKeys({text.data(), text.size()}, parsed)) {
        return SidecarProblem::notJson;
    }
    ContentHash hash;
    hash.add(std::string_view(text.data(), text.size()));
    parsed.identity = hash.hex();
    return SidecarProblem::none;
}

constexpr std::string_view schema = "nanscope.sidecar/1";

Withheld reasonIn(const simdjson::dom::object& object, std::string& because)
{
    // What it advises besides is whatKeepsMore()'s to say.
    const auto missing = wordIn(object["input"]["missing"]);
    because = clipped(missing.substr(0, missing.find(". ")), mostWords);
    if (!because.empty()) {
        return Withheld::inputLost;
    }
    if (wordIn(object["privacy"]) == "fingerprint") {
        return Withheld::byPrivacy;
    }
    because = textIn(object["limits"]["no_tensors"], mostWords);
    return because.empty() ? Withheld::nothing : Withheld::byLimit;
}

/// None for a shape that no tensor of a call has; the product of its extents is bounded.
std::optional<Shape> shapeIn(const Value& value)
{
    constexpr std::size_t mostDims = 16;
    constexpr std::int64_t mostElements = std::int64_t {1} << 48;
    simdjson::dom::array extents;
    if (value.get(extents) != simdjson::SUCCESS || extents.size() == 0 || extents.size() > mostDims) {
        return std::nullopt;
    }
    Shape shape;
    std::int64_t elements = 1;
    for (const auto extent : extents) {
        const auto size = countIn(extent).value_or(0);
        if (size == 0 || size > mostElements / elements) {
            return std::nullopt;
        }
        elements *= size;
        shape.push_back(size);
    }
    return shape;
}

std::optional<CaptureTensor> tensorIn(const Value& side)
{
    auto shape = shapeIn(side["shape"]);
    const auto dtype = parseDType(wordIn(side["dtype"]));
    return shape && dtype ? std::optional(CaptureTensor {std::move(*shape), *dtype, {}}) : std::nullopt;
}

/// What a fingerprint counts of one matrix; none where the counts contradict its size.
std::optional<Scan> scanIn(const simdjson::dom::element& print, std::int64_t elements)
{
    const auto nan = countIn(print["nan"]);
    const auto posInf = countIn(print["inf"]);
    const auto negInf = countIn(print["minus_inf"]);
    const auto zero = countIn(print["zero"]);
    const auto frobenius = magnitudeIn(print["frobenius"]);
    if (!nan || !posInf || !negInf || !zero || !frobenius || std::max({*nan, *posInf, *negInf, *zero}) > elements
        || *nan + *posInf + *negInf + *zero > elements) {
        return std::nullopt;
    }
    Scan scan;
    scan.count = elements;
    scan.nan = *nan;
    scan.posInf = *posInf;
    scan.negInf = *negInf;
    scan.zero = *zero;
    scan.absmax = magnitudeIn(print["absmax"]).value_or(0);
    scan.minNonzero = magnitudeIn(print["absmin"]).value_or(0);
    scan.sumSquares = *frobenius * *frobenius;
    return scan;
}

/// The helper counts the first 16 matrices of a batch. A list that is not understood to its end counts nothing.
void takeCounts(const Value& prints, CaptureTensor& tensor)
{
    const auto matrices = matrixShape(tensor.shape);
    simdjson::dom::array list;
    if (prints.get(list) != simdjson::SUCCESS || static_cast<std::int64_t>(list.size()) > matrices.batch) {
        return;
    }
    std::vector<Scan> scans;
    for (const auto print : list) {
        const auto scan = scanIn(print, matrices.elements());
        if (!scan) {
            return;
        }
        scans.push_back(*scan);
    }
    tensor.batches = std::move(scans);
}

std::optional<SingularValues> singularIn(const Value& prints)
{
    constexpr std::size_t quantiles = 11; // 0, 0.1, ... 1
    simdjson::dom::array values;
    if (prints.at(0)["singular_values"].get(values) != simdjson::SUCCESS || values.size() != quantiles) {
        return std::nullopt;
    }
    const auto least = magnitudeIn(values.at(0));
    const auto median = magnitudeIn(values.at(quantiles / 2));
    const auto largest = magnitudeIn(values.at(quantiles - 1));
    return least && median && largest ? std::optional(SingularValues {*least, *median, *largest}) : std::nullopt;
}

/// Where the first value of the output that is not finite lies: the helper says it for the whole tensor.
void takeFirstBad(const Value& place, CaptureTensor& output)
{
    simdjson::dom::array index;
    if (place.get(index) != simdjson::SUCCESS || index.size() != output.shape.size()) {
        return;
    }
    std::int64_t flat = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
        const auto at = countIn(index.at(i));
        if (!at || *at >= output.shape[i]) {
            return;
        }
        flat = flat * output.shape[i] + *at;
    }
    const auto elements = matrixShape(output.shape).elements();
    const auto batch = static_cast<std::size_t>(flat / elements);
    if (batch < output.batches.size() && !output.batches[batch].finite()) {
        auto& scan = output.batches[batch];
        scan.firstNonFinite = flat % elements;
        scan.firstClass = scan.nan > 0 ? ValueClass::nan : scan.posInf > 0 ? ValueClass::posInf : ValueClass::negInf;
    }
}

Result<void> takeFingerprint(const simdjson::dom::object& object, Capture& capture)
{
    auto input = tensorIn(object["input"]);
    if (!input) {
        return failure(ErrorKind::format,
            "The sidecar names no shape and number format of an input, so nothing is known of its capture");
    }
    const auto prints = object["fingerprint"];
    takeCounts(prints["input"], *input);
    capture.input = std::move(*input);
    capture.scene.singular = singularIn(prints["input"]);
    capture.output = tensorIn(object["output"]);
    if (capture.output) {
        takeCounts(prints["output"], *capture.output);
        takeFirstBad(object["output"]["first_nonfinite"], *capture.output);
    }
    return {};
}

Result<Capture> captureIn(const simdjson::dom::object& object)
{
    const auto version = wordIn(object["schema"]);
    if (version != schema) {
        return failure(ErrorKind::format,
            version.empty()
                ? std::string("The file is named like a sidecar and says no schema, so it is none")
                : fmt::format("The sidecar is of the schema \"{}\", and this Nanscope reads {}: a newer one "
                              "may read it",
                    clipped(version, mostName), schema));
    }
    Capture capture;
    capture.scene.withheld = reasonIn(object, capture.scene.withheldBecause);
    if (capture.hasTensors()) {
        return failure(ErrorKind::unsupported,
            "This is the sidecar of a dump, a .pt of the same name, which is read together with it; name the dump");
    }
    takeSidecar(object, capture);
    return takeFingerprint(object, capture).map([&] { return std::move(capture); });
}

} // namespace

SaidBeside readSidecar(const std::filesystem::path& dump, Capture& capture)
{
    const auto file = platform::FileReader::open(std::filesystem::path(dump).replace_extension(".json"));
    if (!file) {
        return {};
    }
    Parsed parsed;
    capture.scene.problem = parse(*file, parsed);
    if (capture.scene.problem != SidecarProblem::none) {
        return {};
    }
    takeSidecar(parsed.object, capture);
    return {shardingIn(parsed.object["part"]), shardingIn(parsed.object["output"]["part"]), otherCodeIn(parsed.object)};
}

Result<Capture> readLoneSidecar(const std::filesystem::path& path)
{
    const auto file = TRY(platform::FileReader::open(path));
    Parsed parsed;
    if (const auto problem = parse(file, parsed); problem != SidecarProblem::none) {
        return failure(ErrorKind::format,
            problem == SidecarProblem::tooLong ? "The sidecar is larger than 1 MiB and was not read"
                                               : "The sidecar is no JSON object, so nothing is known of its capture",
            path.string());
    }
    auto capture = captureIn(parsed.object).map_error([&](Error error) { return withPath(std::move(error), path); });
    if (capture) {
        constexpr std::int64_t nsPerMs = 1'000'000;
        capture->file = path.filename().string();
        capture->path = path.string();
        capture->identity = parsed.identity;
        capture->timestampMs = file.stamp().modifiedNs / nsPerMs;
    }
    return capture;
}

} // namespace nanscope::tensorfile
