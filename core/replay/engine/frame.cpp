// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/frame.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/platform/platform.h"
#include "core/replay/engine/cellrun.h"
#include "core/replay/engine/outcome.h"
#include "core/tensorfile/scan/scantensor.h"

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

std::int64_t bytesOf(const std::vector<double>& values)
{
    return static_cast<std::int64_t>(values.size() * sizeof(double));
}

bool gramShaped(OpName op)
{
    return op == OpName::gram || op == OpName::polynomial || op == OpName::z || op == OpName::q || op == OpName::r;
}

bool comparable(const OpTrace& a, const OpTrace& b)
{
    return a.iteration == b.iteration && a.op == b.op && a.rows == b.rows && a.cols == b.cols;
}

/// The tensor of the file, whatever the op was.
class OutputCounterpart final : public Counterpart
{
public:
    OutputCounterpart(std::vector<OpTrace> ops, const MatrixShape& shape, std::vector<double> values)
        : m_ops(std::move(ops))
        , m_shape(shape)
        , m_values(std::move(values))
    { }

    Result<std::span<const double>> matrixFor(std::size_t op, const CancelToken& /*cancel*/) override
    {
        const auto& trace = m_ops[op];
        const bool fits = trace.rows == m_shape.rows && trace.cols == m_shape.cols;
        const bool scalar = trace.op == OpName::norm;
        return fits && !scalar && !gramShaped(trace.op) ? std::span<const double>(m_values) : std::span<const double>();
    }

    std::int64_t bytes() const override { return bytesOf(m_values); }

private:
    std::vector<OpTrace> m_ops;
    MatrixShape m_shape;
    std::vector<double> m_values;
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

    Result<std::span<const double>> matrixFor(std::size_t op, const CancelToken& cancel) override
    {
        const auto found = std::find(m_partner.begin(), m_partner.end(), op);
        if (found == m_partner.end()) {
            return std::span<const double>();
        }
        const auto own = static_cast<std::size_t>(found - m_partner.begin());
        while (m_run.passed() <= own) {
            if (auto done = pass(op, cancel); !done) {
                return tl::make_unexpected(done.error());
            }
        }
        m_current = std::move(m_kept[own]);
        m_kept.erase(own);
        return std::span<const double>(m_current);
    }

    std::int64_t bytes() const override
    {
        auto all = m_run.workspaceBytes() + bytesOf(m_current);
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
        if (auto done = m_run.runThrough(own, cancel); !done) {
            return done;
        }
        if (m_partner[own] == none || m_partner[own] < wanted) {
            return {};
        }
        return m_run.matrix().map([&](std::vector<double> matrix) { m_kept[own] = std::move(matrix); });
    }

    CellRun m_run;
    std::vector<std::size_t> m_partner; ///< by our op, theirs
    std::map<std::size_t, std::vector<double>> m_kept; ///< by our op
    std::vector<double> m_current;
};

Result<std::unique_ptr<Counterpart>> outputOf(
    const tensorfile::CaptureFile& capture, std::int64_t batch, const std::vector<OpTrace>& ops)
{
    if (!capture.output || capture.output->matrices().batch <= batch) {
        return failure(
            ErrorKind::usage, "the capture holds no output of this matrix to compare with", capture.capture.path);
    }
    const auto shape = capture.output->matrices();
    std::vector<double> values(static_cast<std::size_t>(shape.elements()));
    return capture.output->read(batch, std::span(values)).map([&]() -> std::unique_ptr<Counterpart> {
        return std::make_unique<OutputCounterpart>(ops, shape, std::move(values));
    });
}

} // namespace

std::optional<double> subtract(std::span<double> values, std::span<const double> other)
{
    // Squares of fp64 values may leave the range of a double where the values are about to.
    long double apart = 0;
    long double whole = 0;
    bool any = false;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const bool finite = std::isfinite(values[i]) && std::isfinite(other[i]);
        values[i] = difference(values[i], other[i]);
        if (finite) {
            any = true;
            apart += static_cast<long double>(values[i]) * values[i];
            whole += static_cast<long double>(other[i]) * other[i];
        }
    }
    if (!any) {
        return std::nullopt;
    }
    return apart == 0 ? 0.0 : static_cast<double>(std::sqrt(apart / whole));
}

Result<std::unique_ptr<Counterpart>> makeCounterpart(const tensorfile::CaptureFile& capture, const FilmRequest& request,
    const std::vector<OpTrace>& ops, const DeviceFactory& devices)
{
    switch (request.against.kind) {
    case Against::Kind::nothing:
        return nullptr;
    case Against::Kind::output:
        return outputOf(capture, request.batch, ops);
    case Against::Kind::cell:
        break;
    }
    return CellRun::begin(capture, request.against.cell, request.catalogue, request.batch, devices)
        .map([&](CellRun run) -> std::unique_ptr<Counterpart> {
            return std::make_unique<CellCounterpart>(std::move(run), ops);
        });
}

Result<ReplayPair> beginPair(const FilmRequest& request, const DeviceFactory& devices)
{
    const auto capture = tensorfile::openCapture(request.capture);
    if (!capture) {
        return tl::make_unexpected(capture.error());
    }
    auto run = CellRun::begin(*capture, request.cell, request.catalogue, request.batch, devices);
    if (!run) {
        return tl::make_unexpected(run.error());
    }
    if (request.plant) {
        if (auto planted = run->plant(*request.plant); !planted) {
            return tl::make_unexpected(planted.error());
        }
    }
    auto other = makeCounterpart(*capture, request, run->ops(), devices);
    if (!other) {
        return tl::make_unexpected(other.error());
    }
    return ReplayPair {std::move(*run), std::move(*other), capture->input.matrices().batch};
}

Result<Difference> differenceAt(ReplayPair& pair, std::size_t op, const CancelToken& cancel)
{
    const auto other = pair.other->matrixFor(op, cancel);
    if (!other) {
        return tl::make_unexpected(other.error());
    }
    if (other->empty()) {
        return Difference {};
    }
    return pair.run.matrix().map([&](std::vector<double> values) {
        const auto distance = subtract(values, *other);
        return Difference {std::move(values), distance};
    });
}

void describe(OpTrace& trace, std::span<const double> values)
{
    const auto smallest = tensorfile::smallestNormal(Precision::fp64);
    trace.batches = {tensorfile::scanMatrix(values, trace.rows, trace.cols, false, smallest)};
    trace.tiles = {tensorfile::tileMatrix(values, trace.rows, trace.cols, false, smallest)};
}

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

/// As doubles, or as floats.
Values inFormat(Values values, bool wide)
{
    const bool isWide = values.view().visit([](auto numbers) { return sizeof(numbers[0]) == sizeof(double); });
    if (wide == isWide) {
        return values;
    }
    return wide ? Values(std::move(values).doubles()) : Values(std::vector<float>(values.begin(), values.end()));
}

template <class T>
std::vector<T> cut(std::span<const T> values, std::int64_t width, const Region& region)
{
    std::vector<T> part;
    if (values.empty()) {
        return part;
    }
    part.reserve(static_cast<std::size_t>(region.rows * region.cols));
    for (std::int64_t row = region.row; row < region.row + region.rows; ++row) {
        const auto* begin = values.data() + row * width + region.col;
        part.insert(part.end(), begin, begin + region.cols);
    }
    return part;
}

} // namespace

Result<ReplayedFrame> replayFrame(const FrameRequest& request, const DeviceFactory& devices, const JobContext& job)
{
    return FrameReplay(devices).frame(request, job);
}

/// The replay as far as it has come, and all values of the last frame.
struct FrameReplay::State
{
    FilmRequest request;
    platform::FileStamp stamp;
    ReplayPair pair;
    std::optional<ReplayedFrame> last; ///< without values
    Values values;

    bool holds(std::size_t op) const { return last && last->op == op; }
    bool passed(std::size_t op) const { return pair.run.passed() > op; }
    std::int64_t bytes() const
    {
        return pair.bytes()
            + values.view().visit([](auto numbers) { return static_cast<std::int64_t>(numbers.size_bytes()); });
    }

    Result<void> advance(std::size_t op, const JobContext& job)
    {
        const auto& ops = pair.run.ops();
        values = {};
        for (auto next = pair.run.passed(); next <= op; ++next) {
            reportOp(job, "frame", ops[next], next, op + 1);
            if (auto done = pair.run.runThrough(next, job.cancel); !done) {
                return done;
            }
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

    ReplayedFrame part(const Region& region) const
    {
        ReplayedFrame frame = *last;
        frame.region = region;
        values.view().visit([&](auto numbers) { cutInto(frame, numbers); });
        return frame;
    }

private:
    static void cutInto(ReplayedFrame& frame, std::span<const float> numbers)
    {
        frame.floats = cut(numbers, frame.trace.cols, frame.region);
    }
    static void cutInto(ReplayedFrame& frame, std::span<const double> numbers)
    {
        frame.doubles = cut(numbers, frame.trace.cols, frame.region);
    }

    Result<void> takeDifference(ReplayedFrame& frame, const CancelToken& cancel)
    {
        auto difference = differenceAt(pair, frame.op, cancel);
        if (!difference) {
            return tl::make_unexpected(difference.error());
        }
        if (difference->values.empty()) {
            return failure(ErrorKind::usage,
                fmt::format(
                    "there is nothing to compare {} of step {} with", name(frame.trace.op), frame.trace.iteration));
        }
        describe(frame.trace, difference->values);
        frame.distance = difference->distance;
        values = std::move(difference->values);
        return {};
    }

    Result<void> takeResult(ReplayedFrame& frame)
    {
        const auto scans = pair.run.scans();
        auto tiles = pair.run.tiles();
        auto result = pair.run.values();
        if (!scans || !tiles || !result) {
            return tl::make_unexpected(!scans ? scans.error() : !tiles ? tiles.error() : result.error());
        }
        frame.trace.batches = {scans->back()};
        frame.trace.tiles = {std::move(*tiles)};
        // Every number of the other formats is one of fp32 too.
        values = inFormat(std::move(*result), request.cell.precision == Precision::fp64);
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
    auto pair = beginPair(request, m_devices);
    if (!pair && pair.error().kind == ErrorKind::refused && !m_kept.empty()) {
        // The memory that it lacks may be what the other replay holds.
        m_kept.clear();
        pair = beginPair(request, m_devices);
    }
    if (!pair) {
        return tl::make_unexpected(pair.error());
    }
    makeRoom(pair->bytes());
    return std::make_unique<State>(State {request, stamp, std::move(*pair), {}, {}});
}

Result<std::unique_ptr<FrameReplay::State>> FrameReplay::stateFor(const FrameRequest& request)
{
    const auto file = platform::FileReader::open(request.film.capture.path);
    if (!file) {
        return tl::make_unexpected(file.error());
    }
    auto kept = take(request.film);
    const bool same = kept && kept->stamp == file->stamp();
    if (same && (kept->holds(request.op) || !kept->passed(request.op))) {
        return kept;
    }
    kept.reset();
    return begin(request.film, file->stamp());
}

Result<ReplayedFrame> FrameReplay::frame(const FrameRequest& request, const JobContext& job)
{
    auto state = stateFor(request);
    if (!state) {
        return tl::make_unexpected(state.error());
    }
    const auto& ops = (*state)->pair.run.ops();
    if (request.op >= ops.size()) {
        return failure(ErrorKind::usage, fmt::format("there is no op {}, the replay has {}", request.op, ops.size()));
    }
    const auto region = regionOf(request, ops[request.op]);
    if (!region) {
        return tl::make_unexpected(region.error());
    }
    if (!(*state)->holds(request.op)) {
        if (auto done = (*state)->advance(request.op, job); !done) {
            return tl::make_unexpected(done.error());
        }
    }
    makeRoom((*state)->bytes());
    m_kept.push_front(std::move(*state));
    return m_kept.front()->part(*region);
}

} // namespace nanscope::replay
