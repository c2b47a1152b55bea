// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What a session does not store: the matrix of one op, element by element, and films of differences. Both are replayed
// when asked for and forgotten afterwards.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/replay/engine/cellrun.h"
#include "core/replay/engine/plant.h"

namespace nanscope::platform {
struct FileStamp;
} // namespace nanscope::platform

namespace nanscope::replay {

/// What each result is to be shown as the difference from. An op meets the op of the same iteration, name and size,
/// whatever these two did before; the captured output meets every op that has its rows and columns and is not
/// Gram-shaped.
///
/// A difference is taken in doubles and keeps what is not finite: equal infinities and two NaN give 0, whatever else is
/// not finite gives what IEEE subtraction gives (a NaN for a NaN, an infinity for an infinity, with the sign turned
/// where it was the other's). Two finite values never give an infinity.
struct Against
{
    enum class Kind { nothing, output, cell };
    Kind kind = Kind::nothing;
    CellRequest cell; ///< for Kind::cell
    bool operator==(const Against&) const = default;
};

/// The same replay in fp64.
Against againstFp64(const CellRequest& request);

/// One matrix of the batch of one capture, replayed.
struct FilmRequest
{
    CaptureRef capture;
    CellRequest cell;
    std::int64_t batch = 0;
    Against against;
    std::optional<PlantedFault> plant {}; ///< not into what it is compared with
    Catalogue catalogue {}; ///< of the variants that it names
    bool operator==(const FilmRequest&) const = default;
};

struct FrameRequest
{
    FilmRequest film;
    std::size_t op = 0; ///< index into Cell::ops
    std::optional<Region> region; ///< none: all of it, or no values where that were more than maxFrameElements
};

constexpr std::int64_t maxFrameElements = std::int64_t {16} << 20;

/// Every op with one scan and one tile map, as a sweep makes them. A scalar has no tile map; in a film of differences
/// an op without counterpart has neither.
struct ReplayedFilm
{
    Cell cell; ///< what was replayed, where and how; neither ops nor how it ended
    std::int64_t batch = 0;
    std::int64_t batches = 1;
    std::vector<OpTrace> ops;
    std::vector<std::optional<double>> distances; ///< one per op, or empty where nothing was compared; see subtract()
};

/// The result of one op. Values are exact: doubles for fp64 and for differences, else floats.
struct ReplayedFrame
{
    Cell cell; ///< as in ReplayedFilm
    std::int64_t batch = 0;
    std::int64_t batches = 1;
    std::size_t op = 0;
    OpTrace trace; ///< of the whole matrix
    std::optional<double> distance;
    Region region; ///< what the values are of; row-major
    std::vector<float> floats;
    std::vector<double> doubles;

    bool hasValues() const { return !floats.empty() || !doubles.empty(); }
};

/// Replays from the start. Peak memory is the device's workspace; with a counterpart two workspaces and some rows of
/// doubles; a matrix where the two do their ops in another order. Cancelled between instructions; progress counts ops.
Result<ReplayedFilm> replayFilm(const FilmRequest& request, const DeviceFactory& devices, const JobContext& job = {});

/// Two, because cells that are compared are looked at in turns.
constexpr std::size_t maxKeptReplays = 2;

/// Two replays that hold more than this together are not both kept: the older one goes. The last one stays, however
/// large. What a pair of 4096 x 4096 in fp32 and fp64 holds is below it.
constexpr std::int64_t maxKeptReplayBytes = std::int64_t {2} << 30;

/// Replays up to one op. For repeated requests: another region of the last frame is taken from the device that holds
/// it, and a later op of the same replay goes on where the last one stopped. The replays of the last two films are kept
/// so. An earlier op, another cell or a capture that was written since begin anew; so does what ended with an error or
/// was cancelled.
class FrameReplay
{
public:
    explicit FrameReplay(DeviceFactory devices, std::int64_t mostBytes = maxKeptReplayBytes);
    FrameReplay(FrameReplay&&) noexcept;
    FrameReplay& operator=(FrameReplay&&) noexcept;
    ~FrameReplay();

    Result<ReplayedFrame> frame(const FrameRequest& request, const JobContext& job = {});

    /// Gives its memory back.
    void forget();

private:
    struct State;
    Result<std::unique_ptr<State>> stateFor(const FrameRequest& request);
    Result<std::unique_ptr<State>> begin(const FilmRequest& request, const platform::FileStamp& stamp);
    std::unique_ptr<State> take(const FilmRequest& request);
    void makeRoom(std::int64_t bytes);

    DeviceFactory m_devices;
    std::int64_t m_mostBytes;
    std::deque<std::unique_ptr<State>> m_kept; ///< the last one first
};

/// `values` becomes values - other, with the rules of Against. What comes back is ||values - other||_F / ||other||_F
/// over the positions where both are finite: 0 where they are equal, infinite where only the other is zero, none where
/// there is no such position.
std::optional<double> subtract(std::span<double> values, std::span<const double> other);

/// Progress of a "film" or a "frame": this op is next.
void reportOp(const JobContext& job, const char* what, const OpTrace& op, std::size_t done, std::size_t total);

} // namespace nanscope::replay
