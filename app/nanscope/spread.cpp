// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/source.h"
#include "app/nanscope/shared/words.h"
#include "core/base/json.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/base/utf8.h"
#include "core/diagnose/damage/candidateorigins.h"
#include "core/diagnose/damage/damage.h"
#include "core/diagnose/damage/spreadfilm.h"
#include "core/model/words.h"
#include "core/report/document/commandwords.h"
#include "core/report/input/reportinput.h"
#include "core/report/report.h"
#include "core/rpc/requests.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope {

namespace {

constexpr int mapWidth = 64;
constexpr int mapHeight = 6;

std::string tileWords(const replay::Region& tile)
{
    return fmt::format(
        "rows {}–{} × columns {}–{}", tile.row, tile.row + tile.rows - 1, tile.col, tile.col + tile.cols - 1);
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
        text +=
            ", " + (std::isfinite(*frame.distance) ? offByText(*frame.distance) : "off by more than a number can tell");
    }
    return frame.planted ? text + "  (planted here)" : text;
}

std::string opLine(const diagnose::SpreadFrame& frame)
{
    return fmt::format("step {}  {:<10} {:>11}  {:>7}  {}\n", frame.trace.iteration, name(frame.trace.op),
        fmt::format("{} × {}", frame.trace.rows, frame.trace.cols), shareText(frame), sentenceOf(frame));
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

std::string commandFor(const Capture& capture, const diagnose::CandidateOrigin& ending)
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
        {"share", shareOf(frame)}, {"damage", patternJson(frame.damage)}, {"distance", numberOrNull(frame.distance)},
        {"planted", frame.planted}};
}

/// Only for words: the verdict is not judged here.
CaptureVerdict wordsOf(const DamagePattern& damage, const diagnose::CandidateOrigins& ends)
{
    CaptureVerdict verdict;
    verdict.facts.damage = damage;
    verdict.originsTried = ends.tried;
    verdict.originVariants = ends.variants;
    for (const auto& ending : ends.places) {
        verdict.origins.push_back(ending.place);
    }
    return verdict;
}

/// The film on a terminal: a line per op from the fault on, with a tile map where the damage has a shape.
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

/// "nanscope.spread/1".
Json spreadJson(const diagnose::SpreadFilm& film, const replay::PlantedFault& fault)
{
    const auto& cell = film.cell;
    auto ops = Json::array();
    for (const auto& frame : film.frames) {
        ops.push_back(frameJson(frame));
    }
    return {{"schema", "nanscope.spread/1"}, {"capture", cell.capture}, {"variant", cell.variant},
        {"precision", name(cell.precision)}, {"lowering", name(cell.lowering)}, {"device", cell.device},
        {"arithmetic", arithmetic(cell)}, {"epsilon", jsonNumber(cell.epsilon)}, {"batch", film.batch},
        {"plant", rpc::plantToJson(fault)}, {"ops", std::move(ops)}, {"ends_like_dump", orNull(film.endsLikeDump)}};
}

/// The places that can end like a capture, each with the line that plants one of its tiles.
/// `words` are repeated in the command that it suggests.
std::string likeDumpText(const Capture& capture, const DamagePattern& damage, const diagnose::CandidateOrigins& ends,
    const std::string& words)
{
    auto text = fmt::format("{}, matrix {}: {}\n{}.\n", printable(capture.file), damage.batch,
        damage.count > 0 ? fmt::format("{}: {}", name(damage.shape), damage.text) : "every value is finite",
        originsText(wordsOf(damage, ends)));
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

Json likeDumpJson(const Capture& capture, const DamagePattern& damage, const diagnose::CandidateOrigins& ends)
{
    auto places = Json::array();
    for (const auto& [place, tile] : ends.places) {
        places.push_back({{"variant", place.variant}, {"iteration", place.iteration}, {"op", name(place.op)},
            {"mirrored", place.mirrored}, {"tile", {tile.row, tile.col, tile.rows, tile.cols}}});
    }
    return {{"schema", "nanscope.spread/1"}, {"capture", capture.file}, {"batch", damage.batch},
        {"damage", patternJson(damage)},
        {"ends_like",
            {{"tried", ends.tried}, {"variants", ends.variants}, {"places", std::move(places)},
                {"text", originsText(wordsOf(damage, ends))}}}};
}

class Spread : public Command
{
public:
    explicit Spread(CLI::App& root);
    Result<int> run(Terminal& terminal) override;

private:
    Result<std::int64_t> batchOf(const tensorfile::CaptureFile& file) const;
    Result<int> likeDump(const tensorfile::CaptureFile& file, std::int64_t batch, Terminal& terminal) const;
    Result<int> plant(const tensorfile::CaptureFile& file, std::int64_t batch, Terminal& terminal) const;
    Result<replay::CellRequest> cell(const replay::Variant& variant) const;
    Result<replay::PlantedFault> fault(const replay::Variant& variant, const MatrixShape& shape) const;

    std::string m_path;
    std::string m_session;
    std::string m_variants;
    std::string m_precision;
    std::string m_op;
    int m_iteration = 0;
    std::string m_tile;
    std::string m_value = "nan";
    std::optional<std::int64_t> m_batch;
    bool m_mirrored = false;
    bool m_likeDump = false;
};

Spread::Spread(CLI::App& root)
    : Command(root, "spread", "What would have happened, had one tile of one op gone bad")
{
    options().add("capture", m_path, "A capture (.pt, .safetensors, .npy)").required();
    options().add("--variant", m_variants, "What is replayed; for --like-dump several, or all");
    options().add("--precision", m_precision, "Number format; default: the variant's own");
    addVariantFileOption();
    options().add("--session", m_session, "Know the variants of your own that this session keeps");
    options().add("--op", m_op, "Whose result goes bad: gram, polynomial, update, z, q, r, restart, ...");
    options().add("--iteration", m_iteration, "Step of the op, from 1; 0 is everything before");
    options().add("--tile", m_tile, "ROW,COL or ROW,COL,ROWS,COLS; 64x64 where no size is given");
    options().add("--value", m_value, "nan, inf, -inf, zero, stale (what the memory held) or stale:NUMBER");
    options().add("--batch", m_batch, "Matrix of the batch; default: the first damaged one");
    options().addFlag("--mirrored", m_mirrored, "As kernels that compute one triangle and write it twice");
    options().addFlag("--like-dump", m_likeDump, "List the places a bad tile of which ends like this capture");
}

Result<std::vector<std::int64_t>> numbersOf(const std::string& text)
{
    std::vector<std::int64_t> numbers;
    for (const auto& part : listOf(text)) {
        const auto number = numberIn<std::int64_t>(part);
        if (!number || *number < 0) {
            return failure(ErrorKind::usage, fmt::format("'{}' in --tile is not a whole number from 0 on", part));
        }
        numbers.push_back(*number);
    }
    if (numbers.size() != 2 && numbers.size() != 4) {
        return failure(ErrorKind::usage, "--tile is ROW,COL or ROW,COL,ROWS,COLS");
    }
    return numbers;
}

/// Rows and columns of the result a fault goes into; plantingPoint() refuses what is not there.
std::array<std::int64_t, 2> sizeOfOp(const replay::Program& program, const replay::PlantedFault& fault)
{
    for (const auto& op : replay::opsOf(program)) {
        if (op.op == fault.op && op.iteration == fault.iteration) {
            return {op.rows, op.cols};
        }
    }
    return {1, 1};
}

Result<replay::Region> tileOf(const std::string& text, const std::array<std::int64_t, 2>& size)
{
    return numbersOf(text).map([&](const std::vector<std::int64_t>& numbers) {
        constexpr std::int64_t usual = 64;
        replay::Region tile {numbers[0], numbers[1], 0, 0};
        tile.rows = numbers.size() == 4 ? numbers[2] : std::clamp<std::int64_t>(size[0] - tile.row, 1, usual);
        tile.cols = numbers.size() == 4 ? numbers[3] : std::clamp<std::int64_t>(size[1] - tile.col, 1, usual);
        return tile;
    });
}

Result<std::int64_t> Spread::batchOf(const tensorfile::CaptureFile& file) const
{
    const auto batches = file.input.matrices().batch;
    const auto batch = m_batch.value_or(report::shownBatch(file.capture));
    if (batch < 0 || batch >= batches) {
        return failure(
            ErrorKind::usage, fmt::format("there is no matrix {}, the capture holds {}", batch, batches), m_path);
    }
    return batch;
}

Result<replay::CellRequest> Spread::cell(const replay::Variant& variant) const
{
    replay::CellRequest request;
    request.variant = variant.name;
    request.precision = variant.precision;
    request.lowering = variant.lowering;
    if (m_precision.empty()) {
        return request;
    }
    return precisionsOf({m_precision}).map([&](const std::vector<Precision>& given) {
        request.precision = given.front();
        return request;
    });
}

std::vector<std::string_view> opNames()
{
    std::vector<std::string_view> names;
    for (int op = 0; op <= static_cast<int>(OpName::rescale); ++op) {
        names.push_back(name(static_cast<OpName>(op)));
    }
    return names;
}

Result<replay::PlantedFault> Spread::fault(const replay::Variant& variant, const MatrixShape& shape) const
{
    replay::PlantedFault fault;
    if (m_op.empty()) {
        return failure(ErrorKind::usage, "--op and --iteration say whose result goes bad");
    }
    const auto op = TRY(oneOf("op", m_op, opNames()));
    if (!replay::parseValue(m_value, fault)) {
        return failure(ErrorKind::usage,
            fmt::format("'{}' is no value to plant; use nan, inf, -inf, zero, stale or stale:NUMBER", m_value));
    }
    fault.op = static_cast<OpName>(op);
    fault.iteration = m_iteration;
    fault.mirrored = m_mirrored;
    const auto program = TRY(replay::compileProgram(variant, shape, {}));
    fault.region = TRY(tileOf(m_tile, sizeOfOp(program, fault)));
    return replay::plantingPoint(program, fault).map([&](std::size_t) { return fault; });
}

Result<int> Spread::plant(const tensorfile::CaptureFile& file, std::int64_t batch, Terminal& terminal) const
{
    if (m_variants.empty()) {
        return failure(ErrorKind::usage, "--variant says what is replayed");
    }
    const auto variant = TRY(catalogue().find(m_variants));
    const auto request = TRY(cell(*variant));
    const auto planted = TRY(fault(*variant, file.input.matrices()));
    replay::FilmRequest wanted {m_path, request, batch, {}, planted, catalogue()};
    const auto film = TRY(diagnose::spreadFilm(wanted, replay::makeCoreDevice, terminal.job()));
    terminal.answer([&] { return spreadJson(film, planted); }, [&] { return spreadText(film, planted); });
    return exitDone;
}

Result<int> Spread::likeDump(const tensorfile::CaptureFile& file, std::int64_t batch, Terminal& terminal) const
{
    if (!file.output) {
        return failure(ErrorKind::unsupported, "the capture holds no output to end like", m_path);
    }
    const auto patterns = TRY(diagnose::damagePatterns(file));
    const auto names = TRY(variantsOf(listOf(m_variants), catalogue()));
    const auto ends = TRY(diagnose::candidateOriginsOf(file, batch, names, catalogue()));
    const auto& damage = patterns.at(static_cast<std::size_t>(batch));
    if (damage.count == 0) {
        return failure(ErrorKind::unsupported, "its output is finite: no bad tile ends like this", m_path);
    }
    terminal.answer([&] { return likeDumpJson(file.capture, damage, ends); },
        [&] { return likeDumpText(file.capture, damage, ends, report::variantFileWords(variantFiles(), false)); });
    return exitDone;
}

Result<int> Spread::run(Terminal& terminal)
{
    TRY(options().requireRead({{"`nanscope spread` without --like-dump", !m_likeDump,
        {"--precision", "--op", "--iteration", "--tile", "--value", "--mirrored"}}}));
    TRY(takeVariantsFrom(m_session, catalogue(), terminal));
    const auto file = TRY(tensorfile::readCapture(m_path, {}, terminal.job()));
    const auto batch = TRY(batchOf(file));
    return m_likeDump ? likeDump(file, batch, terminal) : plant(file, batch, terminal);
}

} // namespace

std::unique_ptr<Command> makeSpread(CLI::App& root)
{
    return std::make_unique<Spread>(root);
}

} // namespace nanscope
