// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/codec.h"
#include "core/session/schema.h"
#include "core/session/sessionimpl.h"

namespace nanscope::session {

namespace {

// A session that is only read keeps the version it was written with.
bool hasDeep(sqlite3* db)
{
    return pragmaValue(db, "user_version") >= deepGaugesVersion;
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

} // namespace

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
    if (!hasDeep(db)) {
        return;
    }
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

} // namespace nanscope::session
