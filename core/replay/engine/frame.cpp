// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/frame.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/platform/platform.h"
#include "core/replay/engine/cellrun.h"
#include "core/replay/engine/outcome.h"
#include "core/tensorfile/scan/scantensor.h"

namespace nanscope::replay {

Against againstFp64(const CellRequest& request)
{
    Against against {Against::Kind::cell, request};
    against.cell.precision = Precision::fp64;
    return against;
}

namespace {

double difference(double value, double other)
{
    constexpr double largest = std::numeric_limits<double>::max();
    if (std::isfinite(value) && std::isfinite(other)) {
        return std::clamp(value - other, -largest, largest);
    }
    const bool alike = value == other || (std::isnan(value) && std::isnan(other));
    return alike ? 0.0 : value - other;
}

/// What is left of some numbers without others, and how far apart they are.
struct Apart
{
    // Squares of fp64 values may leave the range of a double where the values are about to.
    long double apart = 0;
    long double whole = 0;
    bool any = false;

    void subtract(std::span<double> values, std::span<const double> other)
    {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const bool finite = std::isfinite(values[i]) && std::isfinite(other[i]);
            values[i] = difference(values[i], other[i]);
            if (finite) {
                any = true;
                apart += static_cast<long double>(values[i]) * values[i];
                whole += static_cast<long double>(other[i]) * other[i];
            }
        }
    }

    std::optional<double> distance() const
    {
        if (!any) {
            return std::nullopt;
        }
        return apart == 0 ? 0.0 : static_cast<double>(std::sqrt(apart / whole));
    }
};

} // namespace

std::optional<double> subtract(std::span<double> values, std::span<const double> other)
{
    Apart apart;
    apart.subtract(values, other);
    return apart.distance();
}

namespace {

std::int64_t bytesOf(const std::vector<double>& values)
{
    return static_cast<std::int64_t>(values.size() * sizeof(double));
}

bool comparable(const OpTrace& a, const OpTrace& b)
{
    return a.iteration == b.iteration && a.op == b.op && a.rows == b.rows && a.cols == b.cols;
}

std::vector<double> cut(std::span<const double> values, std::int64_t width, const Region& region)
{
    std::vector<double> part;
    part.reserve(static_cast<std::size_t>(region.rows * region.cols));
    for (std::int64_t row = region.row; row < region.row + region.rows; ++row) {
        const auto* begin = values.data() + row * width + region.col;
        part.insert(part.end(), begin, begin + region.cols);
    }
    return part;
}

/// What the ops of a replay are compared with, op by op in their order.
class Counterpart
{
public:
    Counterpart() = default;
    virtual ~Counterpart() = default;
    Counterpart(const Counterpart&) = delete;
    Counterpart& operator=(const Counterpart&) = delete;

    /// Comes to the matrix that belongs to this op; false where there is none. An op before one that was asked for is
    /// not to be had any more.
    virtual Result<bool> comeTo(std::size_t op, const CancelToken& cancel) = 0;

    /// Of that matrix.
    virtual Result<std::vector<double>> part(const Region& region) = 0;

    /// What it holds, about.
    virtual std::int64_t bytes() const = 0;
};

/// The tensor of the file, whatever the op was.
class OutputCounterpart final : public Counterpart
{
public:
    OutputCounterpart(std::vector<OpTrace> ops, tensorfile::Tensor output, std::int64_t batch)
        : m_ops(std::move(ops))
        , m_output(std::move(output))
        , m_batch(batch)
    { }

    Result<bool> comeTo(std::size_t op, const CancelToken& /*cancel*/) override
    {
        const auto& trace = m_ops[op];
        const auto shape = m_output.matrices();
        const bool fits = trace.rows == shape.rows && trace.cols == shape.cols;
        const bool scalar = trace.op == OpName::norm;
        return fits && !scalar && !writtenTwice(trace.op);
    }

    Result<std::vector<double>> part(const Region& region) override
    {
        std::vector<double> values(static_cast<std::size_t>(region.rows * region.cols));
        return m_output.part(m_batch, region.row, region.rows, region.col, region.cols)
            .read(0, std::span(values))
            .map([&] { return std::move(values); });
    }

    std::int64_t bytes() const override { return 0; }

private:
    std::vector<OpTrace> m_ops;
    tensorfile::Tensor m_output;
    std::int64_t m_batch;
};

/// Another replay that runs beside the first. The two may do the same ops in another order, as cast and normalize are:
/// what is passed before its turn is kept.
class CellCounterpart final : public Counterpart
{
public:
    CellCounterpart(CellRun run, const std::vector<OpTrace>& ops)
        : m_run(std::move(run))
        , m_partner(m_run.ops().size(), none)
    {
        for (std::size_t op = 0; op < ops.size(); ++op) {
            const auto& own = m_run.ops();
            const auto found =
                std::find_if(own.begin(), own.end(), [&](const OpTrace& each) { return comparable(each, ops[op]); });
            if (found != own.end()) {
                m_partner[static_cast<std::size_t>(found - own.begin())] = op;
            }
        }
    }

    Result<bool> comeTo(std::size_t op, const CancelToken& cancel) override
    {
        const auto found = std::find(m_partner.begin(), m_partner.end(), op);
        if (found == m_partner.end()) {
            return false;
        }
        m_kept.erase(m_current);
        m_current = static_cast<std::size_t>(found - m_partner.begin());
        while (m_run.passed() <= m_current) {
            TRY(pass(op, cancel));
        }
        return true;
    }

    Result<std::vector<double>> part(const Region& region) override
    {
        const auto kept = m_kept.find(m_current);
        return kept == m_kept.end() ? m_run.matrix(region) : cut(kept->second, m_run.ops()[m_current].cols, region);
    }

    std::int64_t bytes() const override
    {
        auto all = m_run.workspaceBytes();
        for (const auto& [op, matrix] : m_kept) {
            all += bytesOf(matrix);
        }
        return all;
    }

private:
    static constexpr auto none = std::numeric_limits<std::size_t>::max();

    Result<void> pass(std::size_t wanted, const CancelToken& cancel)
    {
        const auto own = m_run.passed();
        TRY(m_run.runThrough(own, cancel));
        if (m_partner[own] == none || m_partner[own] <= wanted) {
            return {};
        }
        return m_run.matrix().map([&](std::vector<double> matrix) { m_kept[own] = std::move(matrix); });
    }

    CellRun m_run;
    std::vector<std::size_t> m_partner; ///< by our op, theirs
    std::map<std::size_t, std::vector<double>> m_kept; ///< by our op
    std::size_t m_current = none; ///< our op, kept or the last that was run
};

/// For the ops of a replay of this capture; none where nothing is to be compared with.
Result<std::unique_ptr<Counterpart>> makeCounterpart(const tensorfile::CaptureFile& capture, const FilmRequest& request,
    const std::vector<OpTrace>& ops, const DeviceFactory& devices)
{
    switch (request.against.kind) {
    case Against::Kind::nothing:
        return nullptr;
    case Against::Kind::output:
        if (!capture.output || capture.output->matrices().batch <= request.batch) {
            return failure(
                ErrorKind::usage, "the capture holds no output of this matrix to compare with", capture.capture.path);
        }
        return std::make_unique<OutputCounterpart>(ops, *capture.output, request.batch);
    case Against::Kind::cell:
        break;
    }
    return CellRun::begin(capture, request.against.cell, request.catalogue, request.batch, devices)
        .map([&](CellRun run) -> std::unique_ptr<Counterpart> {
            return std::make_unique<CellCounterpart>(std::move(run), ops);
        });
}

/// A replay and what it is compared with, if anything.
struct ReplayPair
{
    CellRun run;
    std::unique_ptr<Counterpart> other;
    std::int64_t batches = 1;

    /// What both hold, about.
    std::int64_t bytes() const { return run.workspaceBytes() + (other ? other->bytes() : 0); }
};

Result<ReplayPair> beginPair(const FilmRequest& request, const DeviceFactory& devices)
{
    const auto capture = TRY(tensorfile::openCapture(request.capture));
    auto run = TRY(CellRun::begin(capture, request.cell, request.catalogue, request.batch, devices));
    if (request.plant) {
        TRY(run.plant(*request.plant));
    }
    auto other = TRY(makeCounterpart(capture, request, run.ops(), devices));
    return ReplayPair {std::move(run), std::move(other), capture.input.matrices().batch};
}

/// Of the op that was last run through less its counterpart.
Result<std::vector<double>> differenceIn(ReplayPair& pair, const Region& region, Apart& apart)
{
    auto values = TRY(pair.run.matrix(region));
    const auto other = TRY(pair.other->part(region));
    apart.subtract(values, other);
    return values;
}

struct Difference
{
    tensorfile::ScannedMatrix matrix;
    std::optional<double> distance;
};

/// The whole of it, some rows at a time; none where the op has no counterpart.
Result<std::optional<Difference>> differenceAt(
    ReplayPair& pair, const OpTrace& trace, std::size_t op, const CancelToken& cancel)
{
    const auto has = pair.other->comeTo(op, cancel);
    if (!has || !*has) {
        return has.map([](bool) { return std::optional<Difference>(); });
    }
    Apart apart;
    const auto rows = [&](std::int64_t first, std::int64_t count) {
        return differenceIn(pair, {first, 0, count, trace.cols}, apart);
    };
    return tensorfile::scanByRows(trace.rows, trace.cols, tensorfile::smallestNormal(Precision::fp64), rows)
        .map([&](tensorfile::ScannedMatrix matrix) {
            return std::optional(Difference {std::move(matrix), apart.distance()});
        });
}

void describe(OpTrace& trace, Difference difference)
{
    trace.batches = {difference.matrix.scan};
    trace.tiles = {std::move(difference.matrix.tiles)};
}

Result<void> addDifference(ReplayedFilm& film, ReplayPair& pair, std::size_t op, const CancelToken& cancel)
{
    return differenceAt(pair, film.ops[op], op, cancel).map([&](std::optional<Difference> difference) {
        film.distances.push_back(difference ? difference->distance : std::nullopt);
        if (difference) {
            describe(film.ops[op], std::move(*difference));
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
        TRY(pair.run.runThrough(op, job.cancel));
        TRY(pair.other ? addDifference(film, pair, op, job.cancel) : addTiles(film, pair, op));
        if (film.ops[op].op == OpName::norm) {
            film.ops[op].tiles.clear();
        }
    }
    return pair.other ? Result<void>() : addScans(film, pair);
}

} // namespace

void reportOp(const JobContext& job, const char* what, const OpTrace& op, std::size_t done, std::size_t total)
{
    Progress progress;
    progress.job = what;
    progress.phase = "replaying";
    progress.done = static_cast<std::int64_t>(done);
    progress.total = static_cast<std::int64_t>(total);
    progress.unit = "ops";
    progress.message = fmt::format("{} {}", name(op.op), op.iteration);
    job.progress(progress);
}

Result<ReplayedFilm> replayFilm(const FilmRequest& request, const DeviceFactory& devices, const JobContext& job)
{
    auto pair = TRY(beginPair(request, devices));
    ReplayedFilm film {pair.run.cell(), request.batch, pair.batches, pair.run.ops(), {}};
    return expose(film, pair, job).map([&] { return std::move(film); });
}

namespace {

Result<Region> regionOf(const FrameRequest& request, const OpTrace& trace)
{
    const auto elements = trace.rows * trace.cols;
    if (!request.region) {
        return elements <= maxFrameElements ? Region {0, 0, trace.rows, trace.cols} : Region {};
    }
    const auto inside = [](std::int64_t first, std::int64_t count, std::int64_t size) {
        return first >= 0 && first < size && count >= 1 && count <= size - first;
    };
    const auto& [row, col, rows, cols] = *request.region;
    if (!inside(row, rows, trace.rows) || !inside(col, cols, trace.cols)) {
        return failure(ErrorKind::usage,
            fmt::format("the region at [{}, {}] of {} × {} does not lie within the {} × {} matrix", row, col, rows,
                cols, trace.rows, trace.cols));
    }
    if (rows * cols > maxFrameElements) {
        return failure(ErrorKind::refused,
            fmt::format("a region of {} × {} is more than the {} elements sent at once", rows, cols, maxFrameElements));
    }
    return *request.region;
}

} // namespace

/// The replay as far as it has come.
struct FrameReplay::State
{
    FilmRequest request;
    platform::FileStamp stamp;
    ReplayPair pair;
    std::optional<ReplayedFrame> last; ///< without values

    bool holds(std::size_t op) const { return last && last->op == op; }
    bool passed(std::size_t op) const { return pair.run.passed() > op; }
    std::int64_t bytes() const { return pair.bytes(); }

    Result<void> advance(std::size_t op, const JobContext& job)
    {
        const auto& ops = pair.run.ops();
        for (auto next = pair.run.passed(); next <= op; ++next) {
            reportOp(job, "frame", ops[next], next, op + 1);
            TRY(pair.run.runThrough(next, job.cancel));
        }
        ReplayedFrame frame;
        frame.cell = pair.run.cell();
        frame.batch = request.batch;
        frame.batches = pair.batches;
        frame.op = op;
        frame.trace = ops[op];
        return (pair.other ? takeDifference(frame, job.cancel) : takeResult(frame)).map([&] {
            last = std::move(frame);
        });
    }

    /// No more is downloaded than is asked for.
    Result<ReplayedFrame> part(const Region& region)
    {
        ReplayedFrame frame = *last;
        frame.region = region;
        if (region == Region()) {
            return frame;
        }
        if (pair.other) {
            Apart ignored;
            return differenceIn(pair, region, ignored).map([&](std::vector<double> values) {
                frame.doubles = std::move(values);
                return std::move(frame);
            });
        }
        return pair.run.values(region).map([&](Values values) {
            // Every number of the other formats is one of fp32 too.
            if (request.cell.precision == Precision::fp64) {
                frame.doubles = std::move(values).doubles();
            } else {
                frame.floats.assign(values.begin(), values.end());
            }
            return std::move(frame);
        });
    }

private:
    Result<void> takeDifference(ReplayedFrame& frame, const CancelToken& cancel)
    {
        auto difference = TRY(differenceAt(pair, frame.trace, frame.op, cancel));
        if (!difference) {
            return failure(ErrorKind::usage,
                fmt::format(
                    "there is nothing to compare {} of step {} with", name(frame.trace.op), frame.trace.iteration));
        }
        frame.distance = difference->distance;
        describe(frame.trace, std::move(*difference));
        return {};
    }

    Result<void> takeResult(ReplayedFrame& frame)
    {
        const auto scans = TRY(pair.run.scans());
        auto tiles = TRY(pair.run.tiles());
        frame.trace.batches = {scans.back()};
        frame.trace.tiles = {std::move(tiles)};
        return {};
    }
};

FrameReplay::FrameReplay(DeviceFactory devices, std::int64_t mostBytes)
    : m_devices(std::move(devices))
    , m_mostBytes(mostBytes)
{ }

FrameReplay::FrameReplay(FrameReplay&&) noexcept = default;
FrameReplay& FrameReplay::operator=(FrameReplay&&) noexcept = default;
FrameReplay::~FrameReplay() = default;

void FrameReplay::forget()
{
    m_kept.clear();
}

/// Out of what is kept: an error leaves nothing of it behind.
std::unique_ptr<FrameReplay::State> FrameReplay::take(const FilmRequest& request)
{
    const auto found = std::ranges::find_if(m_kept, [&](const auto& kept) { return kept->request == request; });
    if (found == m_kept.end()) {
        return nullptr;
    }
    auto taken = std::move(*found);
    m_kept.erase(found);
    return taken;
}

/// For one more replay of this size.
void FrameReplay::makeRoom(std::int64_t bytes)
{
    for (const auto& kept : m_kept) {
        bytes += kept->bytes();
    }
    while (!m_kept.empty() && (m_kept.size() >= maxKeptReplays || bytes > m_mostBytes)) {
        bytes -= m_kept.back()->bytes();
        m_kept.pop_back();
    }
}

Result<std::unique_ptr<FrameReplay::State>> FrameReplay::begin(
    const FilmRequest& request, const platform::FileStamp& stamp)
{
    makeRoom(0);
    auto begun = beginPair(request, m_devices);
    if (!begun && begun.error().kind == ErrorKind::refused && !m_kept.empty()) {
        // The memory that it lacks may be what the other replay holds.
        m_kept.clear();
        begun = beginPair(request, m_devices);
    }
    auto pair = TRY(std::move(begun));
    makeRoom(pair.bytes());
    return std::make_unique<State>(State {request, stamp, std::move(pair), {}});
}

Result<std::unique_ptr<FrameReplay::State>> FrameReplay::stateFor(const FrameRequest& request)
{
    const auto file = TRY(platform::FileReader::open(request.film.capture.path));
    auto kept = take(request.film);
    const bool same = kept && kept->stamp == file.stamp();
    if (same && (kept->holds(request.op) || !kept->passed(request.op))) {
        return kept;
    }
    kept.reset();
    return begin(request.film, file.stamp());
}

Result<ReplayedFrame> FrameReplay::frame(const FrameRequest& request, const JobContext& job)
{
    auto state = TRY(stateFor(request));
    const auto& ops = state->pair.run.ops();
    if (request.op >= ops.size()) {
        return failure(ErrorKind::usage, fmt::format("there is no op {}, the replay has {}", request.op, ops.size()));
    }
    const auto region = TRY(regionOf(request, ops[request.op]));
    if (!state->holds(request.op)) {
        TRY(state->advance(request.op, job));
    }
    auto part = state->part(region);
    if (part) {
        makeRoom(state->bytes());
        m_kept.push_front(std::move(state));
    }
    return part;
}

} // namespace nanscope::replay
