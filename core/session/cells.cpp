// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/cells.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "core/session/codec.h"
#include "core/session/schema.h"

namespace nanscope::session {

namespace {

// Rows of cell_nonfinite that belong to the whole cell rather than to one element of the batch.
constexpr int wholeCell = -1;
constexpr int birthOfCell = -2;

std::string placeText(const std::vector<std::int64_t>& index)
{
    return fmt::format("{}", fmt::join(index, ","));
}

std::vector<std::int64_t> parsePlace(const std::string& text)
{
    std::vector<std::int64_t> index;
    const char* end = text.data() + text.size();
    for (const char* at = text.data(); at < end;) {
        std::int64_t value = 0;
        const auto [next, error] = std::from_chars(at, end, value);
        if (error != std::errc {}) {
            return {};
        }
        index.push_back(value);
        at = next + 1;
    }
    return index;
}

ValueClass parseValueClass(std::string_view text)
{
    for (const auto kind : {ValueClass::nan, ValueClass::posInf, ValueClass::negInf}) {
        if (name(kind) == text) {
            return kind;
        }
    }
    return ValueClass::normal;
}

template <class Enum>
std::string text(Enum value)
{
    return std::string(name(value));
}

void insertNonFinite(
    sqlite3* db, std::int64_t cellId, int batch, std::optional<Outcome> outcome, const std::optional<NonFinite>& where)
{
    Statement insert(db, "INSERT INTO cell_nonfinite VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    const auto outcomeText = outcome ? std::optional(text(*outcome)) : std::nullopt;
    if (!where) {
        insert.bind(cellId, batch, outcomeText, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt)
            .run();
        return;
    }
    insert
        .bind(cellId, batch, outcomeText, where->iteration, text(where->op), placeText(where->index), text(where->kind),
            where->count)
        .run();
}

/// Columns: iteration, op, place, kind, count.
std::optional<NonFinite> readNonFinite(const Statement& row, int column)
{
    if (row.isNull(column)) {
        return std::nullopt;
    }
    NonFinite where;
    where.iteration = static_cast<int>(row.integer(column));
    where.op = parseOpName(row.text(column + 1)).value_or(OpName::input);
    where.index = parsePlace(row.text(column + 2));
    where.kind = parseValueClass(row.text(column + 3));
    where.count = row.integer(column + 4);
    return where;
}

std::int64_t insertCell(sqlite3* db, const Cell& c)
{
    const auto& e = c.environment;
    Statement(db, "INSERT INTO cells VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(c.capture, c.variant, text(c.precision), c.device, text(c.lowering), c.epsilon, c.steps, e.engine,
            e.device, e.hardware, e.cuda, e.threads, e.flags, c.native, text(c.outcome), c.seconds, c.error)
        .run();
    return sqlite3_last_insert_rowid(db);
}

void insertGauges(sqlite3* db, std::int64_t cellId, const std::vector<Gauge>& gauges)
{
    Statement insert(db, "INSERT INTO gauges VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (std::size_t i = 0; i < gauges.size(); ++i) {
        const auto& g = gauges[i];
        insert
            .bind(cellId, static_cast<std::int64_t>(i), g.iteration, g.spectralBound, g.spectralLimit, g.absmaxQ,
                g.orthogonality, g.absmaxX, g.distanceToFp64)
            .run();
    }
}

using PackedTiles = std::vector<std::vector<std::byte>>;

void insertOp(sqlite3* db, std::int64_t cellId, std::int64_t seq, const OpTrace& op, const PackedTiles& packed)
{
    Statement(db, "INSERT INTO ops VALUES (NULL, ?, ?, ?, ?, ?, ?)")
        .bind(cellId, seq, op.iteration, text(op.op), op.rows, op.cols)
        .run();
    const std::int64_t opId = sqlite3_last_insert_rowid(db);
    Statement scan(db, "INSERT INTO op_scans VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (std::size_t batch = 0; batch < op.batches.size(); ++batch) {
        const auto& s = op.batches[batch];
        scan.bind(opId, static_cast<std::int64_t>(batch), s.count, s.nan, s.posInf, s.negInf, s.zero, s.subnormal,
                s.absmax, s.minNonzero, s.sumSquares, s.trace, s.firstNonFinite, static_cast<int>(s.firstClass))
            .run();
    }
    Statement tile(db, "INSERT INTO op_tiles VALUES (?, ?, ?)");
    for (std::size_t batch = 0; batch < packed.size(); ++batch) {
        tile.bind(opId, static_cast<std::int64_t>(batch), Bytes(packed[batch])).run();
    }
}

std::vector<PackedTiles> packAll(const std::vector<OpTrace>& ops)
{
    std::vector<PackedTiles> packed(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
        for (const auto& tiles : ops[i].tiles) {
            packed[i].push_back(packTiles(tiles));
        }
    }
    return packed;
}

Cell readCell(const Statement& row)
{
    Cell c;
    c.id = row.integer(0);
    c.capture = row.text(1);
    c.variant = row.text(2);
    c.precision = parsePrecision(row.text(3)).value_or(Precision::fp32);
    c.device = row.text(4);
    c.lowering = parseLowering(row.text(5)).value_or(Lowering::eager);
    c.epsilon = row.real(6);
    c.environment = {
        row.text(7), row.text(8), row.text(9), row.text(10), static_cast<int>(row.integer(11)), row.text(12)};
    c.native = row.integer(13) != 0;
    c.outcome = parseOutcome(row.text(14)).value_or(Outcome::finite);
    c.seconds = row.real(15);
    c.error = row.text(16);
    c.steps = static_cast<int>(row.integer(17));
    return c;
}

void attachNonFinite(sqlite3* db, Cell& cell)
{
    Statement rows(db,
        "SELECT batch, outcome, iteration, op, place, kind, count FROM cell_nonfinite WHERE cell_id = ? ORDER BY "
        "batch");
    rows.bind(cell.id);
    while (rows.step()) {
        const auto batch = static_cast<int>(rows.integer(0));
        auto where = readNonFinite(rows, 2);
        if (batch == birthOfCell) {
            cell.birth = std::move(where);
        } else if (batch == wholeCell) {
            cell.firstNonFinite = std::move(where);
        } else {
            cell.batches.push_back({batch, parseOutcome(rows.text(1)).value_or(Outcome::finite), std::move(where)});
        }
    }
}

void attachGauges(sqlite3* db, Cell& cell)
{
    Statement rows(db,
        "SELECT iteration, spectral_bound, spectral_limit, absmax_q, orthogonality, absmax_x, distance_to_fp64 "
        "FROM gauges WHERE cell_id = ? ORDER BY seq");
    rows.bind(cell.id);
    while (rows.step()) {
        cell.gauges.push_back({static_cast<int>(rows.integer(0)), rows.optional<double>(1), rows.optional<double>(2),
            rows.optional<double>(3), rows.optional<double>(4), rows.real(5), rows.optional<double>(6)});
    }
}

void attachBatches(sqlite3* db, std::int64_t opId, OpTrace& op)
{
    Statement scans(db,
        "SELECT count, nan, pos_inf, neg_inf, zero, subnormal, absmax, min_nonzero, sum_squares, trace, "
        "first_nonfinite, first_class FROM op_scans WHERE op_id = ? ORDER BY batch");
    scans.bind(opId);
    while (scans.step()) {
        op.batches.push_back(readScan(scans, 0));
    }
    Statement tiles(db, "SELECT tiles FROM op_tiles WHERE op_id = ? ORDER BY batch");
    tiles.bind(opId);
    while (tiles.step()) {
        op.tiles.push_back(unpackTiles(tiles.blob(0)));
    }
}

DeepGauge readStep(const Statement& row, std::size_t directions)
{
    DeepGauge step;
    step.iteration = static_cast<int>(row.integer(0));
    step.iterateDistance = row.optional<double>(1);
    step.lambdaMin = row.optional<double>(2);
    step.symmetryError = row.optional<double>(3);
    step.commutator = row.optional<double>(4);
    if (!row.isNull(5)) {
        step.signalGains = unpackDoubles(row.blob(5), directions);
    }
    return step;
}

void insertStep(Statement& insert, std::int64_t cellId, std::int64_t seq, const DeepGauge& step)
{
    const auto gains = packDoubles(step.signalGains);
    const auto stored = step.signalGains.empty() ? std::nullopt : std::optional<Bytes>(gains);
    insert
        .bind(cellId, seq, step.iteration, step.iterateDistance, step.lambdaMin, step.symmetryError, step.commutator,
            stored)
        .run();
}

void insertDeep(sqlite3* db, std::int64_t cellId, const DeepGauges& deep)
{
    const auto shares = packDoubles(deep.shares);
    Statement(db, "INSERT INTO cells_deep VALUES (?, ?, ?, ?, ?, ?, ?)")
        .bind(cellId, deep.batch, deep.outputRange[0], deep.outputRange[1], deep.seconds,
            static_cast<std::int64_t>(deep.shares.size()), Bytes(shares))
        .run();
    Statement insert(db, "INSERT INTO gauges_deep VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    for (std::size_t i = 0; i < deep.steps.size(); ++i) {
        insertStep(insert, cellId, static_cast<std::int64_t>(i), deep.steps[i]);
    }
}

void attachDeep(sqlite3* db, Cell& cell)
{
    Statement row(
        db, "SELECT batch, range_low, range_high, seconds, directions, shares FROM cells_deep WHERE cell_id = ?");
    if (!row.bind(cell.id).step()) {
        return;
    }
    auto& deep = cell.deep.emplace();
    deep.batch = static_cast<int>(row.integer(0));
    deep.outputRange = {row.real(1), row.real(2)};
    deep.seconds = row.real(3);
    deep.shares = unpackDoubles(row.blob(5), static_cast<std::size_t>(row.integer(4)));
    Statement steps(db,
        "SELECT iteration, iterate_distance, lambda_min, symmetry_error, commutator, signal_gains FROM gauges_deep "
        "WHERE cell_id = ? ORDER BY seq");
    steps.bind(cell.id);
    while (steps.step()) {
        deep.steps.push_back(readStep(steps, deep.shares.size()));
    }
}

void deleteDeep(sqlite3* db, std::int64_t cellId)
{
    Statement(db, "DELETE FROM gauges_deep WHERE cell_id = ?").bind(cellId).run();
    Statement(db, "DELETE FROM cells_deep WHERE cell_id = ?").bind(cellId).run();
}

/// The distance of the outputs is known only where fp64 was swept too.
bool sameNumbers(const Gauge& a, const Gauge& b)
{
    return a.iteration == b.iteration && a.spectralBound == b.spectralBound && a.absmaxQ == b.absmaxQ
        && a.orthogonality == b.orthogonality && a.absmaxX == b.absmaxX;
}

void keepDeep(sqlite3* db, std::int64_t old, Cell& cell)
{
    Cell stored;
    stored.id = old;
    attachGauges(db, stored);
    attachDeep(db, stored);
    if (!cell.deep && std::ranges::equal(stored.gauges, cell.gauges, sameNumbers)) {
        cell.deep = std::move(stored.deep);
    }
}

std::string selectCells(const char* which)
{
    return fmt::format("SELECT id, capture, variant, precision, device, lowering, epsilon, engine, environment_device, "
                       "hardware, cuda, threads, flags, native, outcome, seconds, error, steps FROM cells {}",
        which);
}

Cell readWholeCell(sqlite3* db, const Statement& row)
{
    Cell cell = readCell(row);
    attachNonFinite(db, cell);
    attachGauges(db, cell);
    attachDeep(db, cell);
    return cell;
}

void deleteCell(sqlite3* db, std::int64_t id)
{
    deleteDeep(db, id);
    for (const char* sql : {
             "DELETE FROM op_scans WHERE op_id IN (SELECT id FROM ops WHERE cell_id = ?)",
             "DELETE FROM op_tiles WHERE op_id IN (SELECT id FROM ops WHERE cell_id = ?)",
             "DELETE FROM ops WHERE cell_id = ?",
             "DELETE FROM gauges WHERE cell_id = ?",
             "DELETE FROM cell_nonfinite WHERE cell_id = ?",
             "DELETE FROM cells WHERE id = ?",
         }) {
        Statement(db, sql).bind(id).run();
    }
}

} // namespace

Scan readScan(const Statement& row, int column)
{
    Scan s;
    s.count = row.integer(column);
    s.nan = row.integer(column + 1);
    s.posInf = row.integer(column + 2);
    s.negInf = row.integer(column + 3);
    s.zero = row.integer(column + 4);
    s.subnormal = row.integer(column + 5);
    s.absmax = row.real(column + 6);
    s.minNonzero = row.real(column + 7);
    s.sumSquares = row.real(column + 8);
    s.trace = row.real(column + 9);
    s.firstNonFinite = row.integer(column + 10);
    const auto kind = std::clamp<std::int64_t>(row.integer(column + 11), 0, static_cast<int>(ValueClass::negInf));
    s.firstClass = static_cast<ValueClass>(kind);
    return s;
}

std::optional<std::int64_t> findCell(sqlite3* db, const Cell& c)
{
    const auto& e = c.environment;
    Statement find(db,
        "SELECT id FROM cells WHERE capture = ? AND variant = ? AND precision = ? AND device = ? AND lowering = ? "
        "AND epsilon = ? AND steps = ? AND engine = ? AND environment_device = ? AND hardware = ? AND cuda = ? AND "
        "threads = ? AND flags = ?");
    find.bind(c.capture, c.variant, text(c.precision), c.device, text(c.lowering), c.epsilon, c.steps, e.engine,
        e.device, e.hardware, e.cuda, e.threads, e.flags);
    return find.step() ? std::optional(find.integer(0)) : std::nullopt;
}

std::int64_t deleteCellsWhere(sqlite3* db, const char* column, const std::string& value)
{
    std::vector<std::int64_t> ids;
    Statement cells(db, fmt::format("SELECT id FROM cells WHERE {} = ?", column).c_str());
    cells.bind(value);
    while (cells.step()) {
        ids.push_back(cells.integer(0));
    }
    for (const auto id : ids) {
        deleteCell(db, id);
    }
    return static_cast<std::int64_t>(ids.size());
}

void storeCell(sqlite3* db, Cell& cell)
{
    const auto packed = packAll(cell.ops);
    Transaction transaction(db);
    if (const auto old = findCell(db, cell)) {
        keepDeep(db, *old, cell);
        deleteCell(db, *old);
    }
    const auto id = insertCell(db, cell);
    insertNonFinite(db, id, wholeCell, std::nullopt, cell.firstNonFinite);
    insertNonFinite(db, id, birthOfCell, std::nullopt, cell.birth);
    for (const auto& batch : cell.batches) {
        insertNonFinite(db, id, batch.batch, batch.outcome, batch.firstNonFinite);
    }
    insertGauges(db, id, cell.gauges);
    if (cell.deep) {
        insertDeep(db, id, *cell.deep);
    }
    for (std::size_t i = 0; i < cell.ops.size(); ++i) {
        insertOp(db, id, static_cast<std::int64_t>(i), cell.ops[i], packed[i]);
    }
    transaction.commit();
    cell.id = id;
}

std::vector<Cell> readCells(sqlite3* db)
{
    std::vector<Cell> all;
    Statement rows(db, selectCells("ORDER BY id"));
    while (rows.step()) {
        all.push_back(readWholeCell(db, rows));
    }
    return all;
}

std::optional<Cell> storeDeepGauges(sqlite3* db, const Cell& cell)
{
    Transaction transaction(db);
    const auto id = findCell(db, cell);
    if (!id || !cell.deep) {
        return std::nullopt;
    }
    deleteDeep(db, *id);
    insertDeep(db, *id, *cell.deep);
    transaction.commit();
    Statement row(db, selectCells("WHERE id = ?"));
    row.bind(*id).step();
    return readWholeCell(db, row);
}

std::vector<OpTrace> readOpTraces(sqlite3* db, std::int64_t cellId)
{
    std::vector<OpTrace> ops;
    Statement rows(db, "SELECT id, iteration, op, rows, cols FROM ops WHERE cell_id = ? ORDER BY seq");
    rows.bind(cellId);
    while (rows.step()) {
        OpTrace op;
        op.iteration = static_cast<int>(rows.integer(1));
        op.op = parseOpName(rows.text(2)).value_or(OpName::input);
        op.rows = rows.integer(3);
        op.cols = rows.integer(4);
        attachBatches(db, rows.integer(0), op);
        ops.push_back(std::move(op));
    }
    return ops;
}

} // namespace nanscope::session
