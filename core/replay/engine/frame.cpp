// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/frame.h"

#include <utility>

#include "core/replay/engine/outcome.h"
#include "core/replay/engine/replaypair.h"

namespace nanscope::replay {

namespace {

Result<void> addDifference(ReplayedFilm& film, ReplayPair& pair, std::size_t op, const CancelToken& cancel)
{
    return differenceAt(pair, op, cancel).map([&](const Difference& difference) {
        film.distances.push_back(difference.distance);
        if (!difference.values.empty()) {
            describe(film.ops[op], difference.values);
        }
    });
}

Result<void> addTiles(ReplayedFilm& film, ReplayPair& pair, std::size_t op)
{
    return pair.run.tiles().map([&](TileMap tiles) { film.ops[op].tiles = {std::move(tiles)}; });
}

Result<void> addScans(ReplayedFilm& film, ReplayPair& pair)
{
    return pair.run.scans().map([&](const std::vector<Scan>& scans) {
        for (std::size_t op = 0; op < film.ops.size(); ++op) {
            film.ops[op].batches = {scans[op]};
        }
        // Of what was compared the scans are those of differences, which have none.
        film.cell.gauges = gauges(pair.run.program(), film.ops, 0);
    });
}

Result<void> expose(ReplayedFilm& film, ReplayPair& pair, const JobContext& job)
{
    for (std::size_t op = 0; op < film.ops.size(); ++op) {
        reportOp(job, "film", film.ops[op], op, film.ops.size());
        if (auto done = pair.run.runThrough(op, job.cancel); !done) {
            return done;
        }
        if (auto done = pair.other ? addDifference(film, pair, op, job.cancel) : addTiles(film, pair, op); !done) {
            return done;
        }
        if (film.ops[op].op == OpName::norm) {
            film.ops[op].tiles.clear();
        }
    }
    return pair.other ? Result<void>() : addScans(film, pair);
}

} // namespace

Against againstFp64(const CellRequest& request)
{
    Against against {Against::Kind::cell, request};
    against.cell.precision = Precision::fp64;
    return against;
}

Result<ReplayedFilm> replayFilm(const FilmRequest& request, const DeviceFactory& devices, const JobContext& job)
{
    auto pair = beginPair(request, devices);
    if (!pair) {
        return tl::make_unexpected(pair.error());
    }
    ReplayedFilm film {pair->run.cell(), request.batch, pair->batches, pair->run.ops(), {}};
    return expose(film, *pair, job).map([&] { return std::move(film); });
}

} // namespace nanscope::replay
