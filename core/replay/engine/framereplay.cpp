// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/platform/platform.h"
#include "core/replay/engine/replaypair.h"

namespace nanscope::replay {

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
            fmt::format("the region at [{}, {}] of {} x {} does not lie within the {} x {} matrix", row, col, rows,
                cols, trace.rows, trace.cols));
    }
    if (rows * cols > maxFrameElements) {
        return failure(ErrorKind::refused,
            fmt::format("a region of {} x {} is more than the {} elements sent at once", rows, cols, maxFrameElements));
    }
    return *request.region;
}

template <class T>
std::vector<T> cut(const std::vector<T>& values, std::int64_t width, const Region& region)
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

/// What the names of a request stand for: a variant of the user's own may be defined again.
using Definitions = std::array<const Variant*, 2>;

Definitions definitionsOf(const FilmRequest& request)
{
    return {findVariant(request.cell.variant).value_or(nullptr),
        findVariant(request.against.cell.variant).value_or(nullptr)};
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
    Definitions definitions;
    ReplayPair pair;
    std::optional<ReplayedFrame> last; ///< without values
    std::vector<float> floats;
    std::vector<double> doubles;

    bool holds(std::size_t op) const { return last && last->op == op; }
    bool passed(std::size_t op) const { return pair.run.passed() > op; }
    std::int64_t bytes() const
    {
        return pair.bytes()
            + static_cast<std::int64_t>(floats.size() * sizeof(float) + doubles.size() * sizeof(double));
    }

    Result<void> advance(std::size_t op, const JobContext& job)
    {
        const auto& ops = pair.run.ops();
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
        frame.floats = cut(floats, frame.trace.cols, region);
        frame.doubles = cut(doubles, frame.trace.cols, region);
        return frame;
    }

private:
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
        doubles = std::move(difference->values);
        return {};
    }

    Result<void> takeResult(ReplayedFrame& frame)
    {
        const auto scans = pair.run.scans();
        auto tiles = pair.run.tiles();
        auto values = pair.run.matrix();
        if (!scans || !tiles || !values) {
            return tl::make_unexpected(!scans ? scans.error() : !tiles ? tiles.error() : values.error());
        }
        frame.trace.batches = {scans->back()};
        frame.trace.tiles = {std::move(*tiles)};
        if (request.cell.precision == Precision::fp64) {
            doubles = std::move(*values);
        } else {
            // Every number of the other formats is one of fp32 too.
            floats.assign(values->begin(), values->end());
        }
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
    return std::make_unique<State>(State {request, stamp, definitionsOf(request), std::move(*pair), {}, {}, {}});
}

Result<std::unique_ptr<FrameReplay::State>> FrameReplay::stateFor(const FrameRequest& request)
{
    const auto file = platform::FileReader::open(request.film.capture.path);
    if (!file) {
        return tl::make_unexpected(file.error());
    }
    auto kept = take(request.film);
    const bool same = kept && kept->stamp == file->stamp() && kept->definitions == definitionsOf(request.film);
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
