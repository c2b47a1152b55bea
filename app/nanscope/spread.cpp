// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/command.h"
#include "app/nanscope/source.h"
#include "app/nanscope/spreadtext.h"
#include "app/nanscope/words.h"
#include "core/diagnose/damage/damage.h"
#include "core/diagnose/diagnose.h"
#include "core/report/document/commandwords.h"
#include "core/report/report.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope {

namespace {

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
        std::int64_t number = 0;
        const auto read = std::from_chars(part.data(), part.data() + part.size(), number);
        if (read.ec != std::errc() || read.ptr != part.data() + part.size() || number < 0) {
            return failure(ErrorKind::usage, fmt::format("'{}' in --tile is not a whole number from 0 on", part));
        }
        numbers.push_back(number);
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
    const auto op = oneOf("op", m_op, opNames());
    if (!op) {
        return tl::make_unexpected(op.error());
    }
    if (!replay::parseValue(m_value, fault)) {
        return failure(ErrorKind::usage,
            fmt::format("'{}' is no value to plant; use nan, inf, -inf, zero, stale or stale:NUMBER", m_value));
    }
    fault.op = static_cast<OpName>(*op);
    fault.iteration = m_iteration;
    fault.mirrored = m_mirrored;
    const auto program = replay::compileProgram(variant, shape, {});
    if (!program) {
        return tl::make_unexpected(program.error());
    }
    const auto tile = tileOf(m_tile, sizeOfOp(*program, fault));
    if (!tile) {
        return tl::make_unexpected(tile.error());
    }
    fault.region = *tile;
    return replay::plantingPoint(*program, fault).map([&](std::size_t) { return fault; });
}

Result<int> Spread::plant(const tensorfile::CaptureFile& file, std::int64_t batch, Terminal& terminal) const
{
    if (m_variants.empty()) {
        return failure(ErrorKind::usage, "--variant says what is replayed");
    }
    const auto variant = replay::findVariant(m_variants);
    if (!variant) {
        return tl::make_unexpected(variant.error());
    }
    const auto request = cell(**variant);
    const auto planted = fault(**variant, file.input.matrices());
    if (!request || !planted) {
        return tl::make_unexpected(!request ? request.error() : planted.error());
    }
    replay::FilmRequest wanted {m_path, *request, batch, {}, *planted};
    const auto film = diagnose::spreadFilm(wanted, replay::makeCoreDevice, terminal.job());
    if (!film) {
        return tl::make_unexpected(film.error());
    }
    if (terminal.json()) {
        terminal.printJson(spreadJson(*film, *planted));
    } else {
        terminal.print(spreadText(*film, *planted));
    }
    return exitDone;
}

Result<int> Spread::likeDump(const tensorfile::CaptureFile& file, std::int64_t batch, Terminal& terminal) const
{
    if (!file.output) {
        return failure(ErrorKind::unsupported, "the capture holds no output to end like", m_path);
    }
    const auto names = variantsOf(listOf(m_variants));
    auto patterns = diagnose::damagePatterns(file);
    const auto ends = names ? diagnose::endingLike(file, batch, *names)
                            : Result<diagnose::EndsLike>(tl::make_unexpected(names.error()));
    if (!patterns || !ends) {
        return tl::make_unexpected(!patterns ? patterns.error() : ends.error());
    }
    const auto& damage = patterns->at(static_cast<std::size_t>(batch));
    if (damage.count == 0) {
        return failure(ErrorKind::unsupported, "its output is finite: no bad tile ends like this", m_path);
    }
    if (terminal.json()) {
        terminal.printJson(likeDumpJson(file.capture, damage, *ends));
    } else {
        terminal.print(likeDumpText(file.capture, damage, *ends, report::variantFileWords(variantFiles(), false)));
    }
    return exitDone;
}

Result<int> Spread::run(Terminal& terminal)
{
    if (const auto taken = takeVariantsFrom(m_session, terminal); !taken) {
        return tl::make_unexpected(taken.error());
    }
    auto file = tensorfile::openCapture(m_path);
    if (!file) {
        return tl::make_unexpected(file.error());
    }
    if (auto scanned = tensorfile::scanCapture(*file); !scanned) {
        return tl::make_unexpected(scanned.error());
    }
    const auto batch = batchOf(*file);
    if (!batch) {
        return tl::make_unexpected(batch.error());
    }
    return m_likeDump ? likeDump(*file, *batch, terminal) : plant(*file, *batch, terminal);
}

} // namespace

std::unique_ptr<Command> makeSpread(CLI::App& root)
{
    return std::make_unique<Spread>(root);
}

} // namespace nanscope
