// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "core/session/chunks.h"
#include "core/session/sessionimpl.h"

namespace nanscope::session {

namespace {

SeriesPiece readPiece(const Statement& row)
{
    SeriesPiece piece {row.integer(0), row.integer(1), row.integer(2), row.integer(3), row.optional<double>(4),
        row.optional<double>(5), row.optional<double>(6), row.optional<double>(7), row.integer(8), row.integer(9),
        row.integer(10), row.integer(11), {}};
    const auto counts = {piece.count, piece.nan, piece.posInf, piece.negInf, piece.missing};
    if (std::min(counts) < 0 || std::max(counts) > static_cast<std::int64_t>(chunkPoints)) {
        throw DatabaseFailure {{ErrorKind::corrupt, "a chunk of the session contradicts itself", {}}};
    }
    return piece;
}

/// The chunk's row begins with these columns, so that the values behind them are not touched.
std::vector<SeriesPiece> piecesOf(sqlite3* db, const SeriesRange& range)
{
    std::vector<SeriesPiece> pieces;
    Statement rows(db,
        "SELECT seq, first_step, last_step, count, min, max, first, last, nan, pos_inf, neg_inf, missing FROM chunks "
        "WHERE series_id = ? AND last_step >= ? AND first_step <= ? ORDER BY seq");
    rows.bind(range.series, range.firstStep, range.lastStep);
    while (rows.step()) {
        pieces.push_back(readPiece(rows));
    }
    return pieces;
}

bool isCut(const SeriesPiece& piece, const SeriesRange& range)
{
    return piece.firstStep < range.firstStep || piece.lastStep > range.lastStep;
}

bool hasNonFinite(const SeriesPiece& piece)
{
    return piece.nan + piece.posInf + piece.negInf > 0;
}

std::vector<bool> choosePieces(const std::vector<SeriesPiece>& pieces, const SeriesRange& range)
{
    const auto total = std::accumulate(pieces.begin(), pieces.end(), std::int64_t {0},
        [](std::int64_t sum, const SeriesPiece& piece) { return sum + piece.count; });
    std::vector<bool> chosen(pieces.size(), total <= range.mostPoints);
    std::int64_t left = range.mostPoints;
    for (std::size_t i = 0; i < pieces.size() && total > range.mostPoints; ++i) {
        chosen[i] = isCut(pieces[i], range) || (hasNonFinite(pieces[i]) && pieces[i].count <= left);
        left -= chosen[i] ? pieces[i].count : 0;
    }
    return chosen;
}

} // namespace

Result<void> Session::visitRange(const SeriesRange& range, const std::function<bool(SeriesPiece)>& visit) const
{
    return m_impl->attempt([&] {
        const Snapshot snapshot(m_impl->raw());
        auto pieces = piecesOf(m_impl->raw(), range);
        const auto chosen = choosePieces(pieces, range);
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            if (chosen[i]) {
                pieces[i].points = readChunk(m_impl->raw(), range.series, pieces[i].seq);
            }
            if (!visit(std::move(pieces[i]))) {
                return;
            }
        }
    });
}

} // namespace nanscope::session
