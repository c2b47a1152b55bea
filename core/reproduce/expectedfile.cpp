// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/reproduce/expectedfile.h"

#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/report/report.h"

namespace nanscope::reproduce {

namespace {

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

Json minimisedJson(const Material& from)
{
    if (!from.smaller) {
        return nullptr;
    }
    const auto& smaller = *from.smaller;
    return {{"from", smaller.before}, {"elements_left", smaller.nonZero}, {"calls", smaller.calls},
        {"exhausted", smaller.exhausted}, {"ends_like_dump", smaller.leading}, {"kept", smaller.kept}};
}

Json captureJson(const Material& from)
{
    auto json = tensorsJson(from.capture(), captureName, from.captureHash, from.options.seed);
    json["minimised"] = minimisedJson(from);
    json["not_minimised"] = from.smaller ? Json(nullptr) : Json(from.whyWhole);
    return json;
}

Json numbersJson(const Material& from, const ExpectedNumbers& row)
{
    Json first = nullptr;
    if (row.firstNonFinite) {
        first = {{"op", name(row.firstNonFinite->first)}, {"step", row.firstNonFinite->second}};
    }
    return {{"variant", row.variant->name}, {"precision", name(row.precision)}, {"own_precision", name(row.own)},
        {"outcome", row.outcome}, {"rel_f", row.relF ? Json(*row.relF) : Json(nullptr)}, {"first_nonfinite", first},
        {"like_dump", from.likeDump(row)}};
}

} // namespace

std::string expectedText(const Material& from)
{
    Json rows = Json::array();
    for (const auto& row : from.numbers) {
        rows.push_back(numbersJson(from, row));
    }
    const Json whole =
        from.packsWhole() ? tensorsJson(from.whole, wholeName, from.wholeHash, from.options.seed) : Json(nullptr);
    const Json json {{"schema", "nanscope.reproducer/1"}, {"nanscope", NANSCOPE_VERSION},
        {"verdict", name(from.verdict.blame)}, {"role", name(from.verdict.role)},
        {"healthy", report::isHealthy(from.verdict)}, {"capture", captureJson(from)}, {"whole", whole},
        {"dump", dumpJson(from.whole)}, {"shown", shownJson(from.capture().shown)}, {"numbers", std::move(rows)},
        {"tolerance", {{"relative", relativeRoom}, {"absolute", absoluteRoom}}},
        {"expected_status", from.expectedStatus()}};
    return jsonText(json, 2) + "\n";
}

} // namespace nanscope::reproduce
