// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/spreadtext.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/words.h"
#include "core/base/json.h"
#include "core/base/table.h"
#include "core/base/utf8.h"
#include "core/json/endsliketext.h"
#include "core/report/report.h"
#include "core/report/tiletext.h"
#include "core/rpc/requests.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

constexpr int mapWidth = 64;
constexpr int mapHeight = 6;

std::string tileWords(const replay::Region& tile)
{
    return fmt::format(
        "rows {}-{} x columns {}-{}", tile.row, tile.row + tile.rows - 1, tile.col, tile.col + tile.cols - 1);
}

double shareOf(const diagnose::SpreadFrame& frame)
{
    const auto& scan = frame.trace.batches.front();
    return scan.count == 0 ? 0 : static_cast<double>(scan.nonFinite()) / static_cast<double>(scan.count);
}

std::string shareText(const diagnose::SpreadFrame& frame)
{
    const auto share = shareOf(frame);
    return share == 0 ? "-" : fmt::format("{:.3g} %", 100 * share);
}

std::string sentenceOf(const diagnose::SpreadFrame& frame)
{
    const bool damaged = frame.damage.count > 0;
    auto text = damaged ? fmt::format("{}: {}", name(frame.damage.shape), frame.damage.text) : std::string("finite");
    if (frame.distance) {
        text += std::isfinite(*frame.distance) ? fmt::format(", {:.2g} % off", 100 * *frame.distance)
                                               : std::string(", off by more than a number can tell");
    }
    return frame.planted ? text + "  (planted here)" : text;
}

std::string opLine(const diagnose::SpreadFrame& frame)
{
    return fmt::format("step {}  {:<10} {:>11}  {:>7}  {}\n", frame.trace.iteration, name(frame.trace.op),
        fmt::format("{}x{}", frame.trace.rows, frame.trace.cols), shareText(frame), sentenceOf(frame));
}

std::string mapOf(const diagnose::SpreadFrame& frame)
{
    const bool shaped =
        frame.damage.count > 0 && frame.damage.shape != DamageShape::wholeElement && !frame.trace.tiles.empty();
    std::string text;
    if (shaped) {
        for (const auto& line : report::tileText(frame.trace.tiles.front(), mapWidth, mapHeight)) {
            text += "        " + line + "\n";
        }
    }
    return text;
}

std::string endText(const diagnose::SpreadFilm& film)
{
    if (!film.endsLikeDump) {
        return "The capture holds no output to compare the end with.\n";
    }
    const bool finite = film.frames.empty() || film.frames.back().damage.count == 0;
    if (*film.endsLikeDump && finite) {
        return "It ends finite, and so does the capture; whether both hold the same values is not compared.\n";
    }
    return *film.endsLikeDump ? "It ends like the dump: the same elements are not finite.\n"
                              : "It does not end like the dump: other elements are not finite.\n";
}

std::string commandFor(const Capture& capture, const diagnose::EndingPlace& ending)
{
    const auto& [row, col, rows, cols] = ending.tile;
    return fmt::format("nanscope spread {} --variant {} --op {} --iteration {} --tile {},{},{},{}{}", capture.file,
        ending.place.variant, name(ending.place.op), ending.place.iteration, row, col, rows, cols,
        ending.place.mirrored ? " --mirrored" : "");
}

Json patternJson(const DamagePattern& damage)
{
    return {{"name", name(damage.shape)}, {"text", damage.text}, {"count", damage.count},
        {"rows", {damage.rowBegin, damage.rowEnd}}, {"cols", {damage.colBegin, damage.colEnd}}};
}

Json frameJson(const diagnose::SpreadFrame& frame)
{
    const auto& scan = frame.trace.batches.front();
    return {{"iteration", frame.trace.iteration}, {"op", name(frame.trace.op)}, {"rows", frame.trace.rows},
        {"cols", frame.trace.cols}, {"nan", scan.nan}, {"pos_inf", scan.posInf}, {"neg_inf", scan.negInf},
        {"share", shareOf(frame)}, {"damage", patternJson(frame.damage)},
        {"distance", frame.distance ? jsonNumber(*frame.distance) : Json(nullptr)}, {"planted", frame.planted}};
}

/// Only for words: the verdict is not judged here.
CaptureVerdict wordsOf(const DamagePattern& damage, const diagnose::EndsLike& ends)
{
    CaptureVerdict verdict;
    verdict.facts.damage = damage;
    verdict.endsLikeTried = ends.tried;
    for (const auto& ending : ends.places) {
        verdict.endsLike.push_back(ending.place);
    }
    return verdict;
}

} // namespace

std::string spreadText(const diagnose::SpreadFilm& film, const replay::PlantedFault& fault)
{
    const auto& cell = film.cell;
    auto text = fmt::format("{}, matrix {}: {} in {}, {}\nPlanted: {} in {} of step {}, {}{}\n\n",
        printable(cell.capture), film.batch, cell.variant, name(cell.precision), name(cell.lowering),
        replay::valueText(fault), name(fault.op), fault.iteration, tileWords(fault.region),
        fault.mirrored ? "; symmetric products computed as one triangle and mirrored" : "");
    const auto planted = std::find_if(
        film.frames.begin(), film.frames.end(), [](const diagnose::SpreadFrame& frame) { return frame.planted; });
    std::string shown;
    for (auto frame = planted; frame != film.frames.end(); ++frame) {
        text += opLine(*frame) + (frame->damage.text == shown ? "" : mapOf(*frame));
        shown = frame->damage.text;
    }
    return text + "\n" + endText(film);
}

Json spreadJson(const diagnose::SpreadFilm& film, const replay::PlantedFault& fault)
{
    const auto& cell = film.cell;
    auto ops = Json::array();
    for (const auto& frame : film.frames) {
        ops.push_back(frameJson(frame));
    }
    return {{"schema", "nanscope.spread/1"}, {"capture", cell.capture}, {"variant", cell.variant},
        {"precision", name(cell.precision)}, {"lowering", name(cell.lowering)}, {"device", cell.device},
        {"arithmetic", cell.native ? "native" : "emulated"}, {"epsilon", jsonNumber(cell.epsilon)},
        {"batch", film.batch}, {"plant", rpc::plantToJson(fault)}, {"ops", std::move(ops)},
        {"ends_like_dump", film.endsLikeDump ? Json(*film.endsLikeDump) : Json(nullptr)}};
}

std::string likeDumpText(
    const Capture& capture, const DamagePattern& damage, const diagnose::EndsLike& ends, const std::string& words)
{
    auto text = fmt::format("{}, matrix {}: {}\n{}.\n", printable(capture.file), damage.batch,
        damage.count > 0 ? fmt::format("{}: {}", name(damage.shape), damage.text) : "every value is finite",
        endsLikeText(wordsOf(damage, ends)));
    std::string variant;
    for (const auto& ending : ends.places) {
        const auto mirrored = ending.place.mirrored ? ", by a kernel that writes one triangle twice" : "";
        const auto head = ending.place.variant + mirrored;
        if (head != variant) {
            text += fmt::format("\n{}\n", head);
            variant = head;
        }
        text += fmt::format(
            "  {} of step {}, such as {}\n", name(ending.place.op), ending.place.iteration, tileWords(ending.tile));
    }
    if (!ends.places.empty()) {
        text += fmt::format("\nTo see one: {}\n", printable(commandFor(capture, ends.places.front()) + words));
    }
    return text;
}

Json likeDumpJson(const Capture& capture, const DamagePattern& damage, const diagnose::EndsLike& ends)
{
    auto places = Json::array();
    for (const auto& [place, tile] : ends.places) {
        places.push_back({{"variant", place.variant}, {"iteration", place.iteration}, {"op", name(place.op)},
            {"mirrored", place.mirrored}, {"tile", {tile.row, tile.col, tile.rows, tile.cols}}});
    }
    return {{"schema", "nanscope.spread/1"}, {"capture", capture.file}, {"batch", damage.batch},
        {"damage", patternJson(damage)},
        {"ends_like",
            {{"tried", ends.tried}, {"places", std::move(places)}, {"text", endsLikeText(wordsOf(damage, ends))}}}};
}

} // namespace nanscope
