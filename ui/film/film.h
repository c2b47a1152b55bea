// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <QString>

#include "core/replay/engine/frame.h"
#include "ui/heatmap/matrixpicture.h"

namespace nanscope {

/// One op of a replay as a picture, or the output that was captured. `op` counts the ops of the cell in the order they
/// ran; it is -1 for the captured output.
struct FilmFrame
{
    int op = 0;
    int iteration = 0;
    OpName name = OpName::input;
    std::shared_ptr<const MatrixPicture> picture;
    std::optional<double> distance; ///< relative, over what is finite on both sides; films of differences only
    bool captured = false; ///< read from the file, not replayed
};

/// What the frames of a film show: results, or what is left of them without those of something else.
enum class FilmMode { values, againstFp64, againstOutput, againstCell };

/// A cell's replay of one matrix of the batch, op by op. Scalars (the norm) have no frame.
struct Film
{
    Cell cell; ///< without ops
    bool judged = true; ///< the cell says how it ended; a replay that no sweep made does not
    FilmMode mode = FilmMode::values;
    replay::FilmRequest request; ///< replays it; without a capture there is nothing to replay
    int batch = 0;
    int batches = 1;
    int uncompared = 0; ///< matrices without a counterpart; films of differences only
    std::vector<FilmFrame> frames; ///< in the order they ran; the captured output last, where it is shown
    int birth = -1; ///< frame in which values first went non-finite; -1 where none did, or the input was
    int firstNonFinite = -1; ///< the same, the input included
};

Film makeFilm(const Cell& cell, const std::vector<OpTrace>& ops, int batch, FilmMode mode = FilmMode::values);

/// What the window holds of it.
std::int64_t bytesOf(const Film& film);

/// The same film with the captured output of its matrix as the last frame.
Film withCapturedOutput(Film film, std::shared_ptr<const MatrixPicture> output);

/// Index of the captured output; -1 where the film shows none.
int capturedFrame(const Film& film);

/// The last frame that was replayed. The film has one.
const FilmFrame& lastReplayed(const Film& film);

/// Index of the replayed frame of an op; -1 where the film has none.
int frameOf(const Film& film, int iteration, OpName op);

/// Index of the frame of `film` that shows what `frame` does in another film; -1 where it has none. A captured output
/// is held against the replayed one where that film has no other.
int counterpartOf(const FilmFrame& frame, const Film& film);

/// "epsilon 1e-05 · 8 steps", as far as they are asked for; empty where they are the usual ones.
QString overridesText(const replay::CellRequest& cell);

/// "gns-gram · fp16 · fused", with the device unless that is the CPU.
QString cellName(const replay::CellRequest& cell);

/// Where the frames lie on a grid of iterations (columns) and ops (rows, in the order a step runs them). Frames of
/// iteration 0 come before the first step and share the first column, `row` counting them. The captured output is below
/// the ops of the last step.
struct FilmGrid
{
    struct Place
    {
        int column = 0;
        int row = 0;
    };

    std::vector<OpName> rows; ///< of the steps
    bool captured = false; ///< one row more, with the captured output
    int columns = 1; ///< 1 for what comes before the first step, and one per step
    int prologue = 0; ///< frames in the first column
    std::vector<Place> places; ///< one per frame

    int rowCount() const { return static_cast<int>(rows.size()) + (captured ? 1 : 0); }
    /// The frame at a place, or the one nearest to it in the same column; -1 in an empty column.
    int frameNear(int column, int row) const;
};

FilmGrid gridOf(const Film& film);

/// Frames that are coloured alike: the same op of all steps, so that growth is seen, or one before the first step
/// (false).
using ScaleGroup = std::pair<bool, OpName>;

using FilmScales = std::map<ScaleGroup, LogScale>;

ScaleGroup groupOf(const FilmFrame& frame);

/// What a frame takes for itself; none where nothing in it has a magnitude.
std::optional<LogScale> ownScale(const FilmFrame& frame);

/// Each from the least to the most that its frames take for themselves.
FilmScales scalesOf(const Film& film);

/// For two films side by side: what both have is on one scale.
FilmScales united(FilmScales scales, const FilmScales& others);

/// Both ranges in one.
LogScale united(const LogScale& a, const LogScale& b);

/// Magnitudes that may share a scale; a difference has one of its own.
bool canShareScale(const Film* a, const Film* b);

} // namespace nanscope
