// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/job.h"
#include "core/base/result.h"
#include "core/base/values.h"
#include "core/model/cell.h"
#include "core/replay/device/share.h"
#include "core/replay/program/program.h"

namespace nanscope::replay {

/// Part of a matrix in the capture's own orientation.
struct Region
{
    std::int64_t row = 0;
    std::int64_t col = 0;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    bool operator==(const Region&) const = default;
};

/// The eigenvalues of a symmetric matrix A = Q L Q^T, in no order, and Q^T times some columns.
struct Eigenbasis
{
    std::vector<double> values;
    std::vector<double> rotated; ///< a row for each value, row-major
};

/// A copy of a buffer's contents on the device that made it, which has to outlive it; freed with its last copy.
struct KeptMatrix
{
    /// relativeDistance() (engine/heldoutput.h) of a buffer of that device to it; nothing where it failed there.
    std::function<std::optional<double>(BufferId buffer, std::int64_t element)> distanceOf;
    /// As Device::download().
    std::function<Result<Values>()> download;
};

/// Something that executes programs. One thread at a time. Results of instructions stay on the device; scans are
/// gathered there and fetched once per program, so that no instruction waits for the host.
class Device
{
public:
    virtual ~Device() = default;

    virtual Environment environment() const = 0;

    /// True if this precision is computed in the hardware's own format rather than emulated.
    virtual bool native(Precision precision) const = 0;

    /// Largest batch a program may be given at once here, from memory; at least 1.
    virtual std::int64_t batchLimit(const Program& program) const = 0;

    /// Allocates the program's buffers for `batch` matrices, or says how much memory was missing.
    virtual Result<void> prepare(const Program& program, std::int64_t batch) = 0;

    /// Fills buffer 0 with row-major matrices in the capture's own orientation, batch x rows x cols, unrounded.
    virtual Result<void> upload(ValueView input) = 0;

    /// Why nothing can be computed on it any more, as where the process or the GPU behind it went away; none while
    /// another device would fail in the same way.
    virtual std::optional<Error> lost() const { return std::nullopt; }

    /// Instructions from now on may end early once this is set; no results may be asked for then.
    void heed(const CancelToken& cancel) { m_cancel = cancel; }

    /// `told` is told how far a decomposition is that is made on this device or beside it, by whoever makes it.
    void follow(ShareDone told) { m_told = std::move(told); }
    const ShareDone& follower() const { return m_told; }

    /// Executes one instruction; if it carries a scan slot, the scan of its result too.
    virtual Result<void> run(const Instruction& instruction) = 0;

    /// Puts `values`, row-major, into part of a buffer, rounded to what the buffer is held in; for planted faults.
    virtual Result<void> overwrite(
        BufferId buffer, std::int64_t element, const Region& region, std::span<const double> values) = 0;

    /// Takes the scan of an instruction that was run once more, of what its result holds now.
    virtual Result<void> rescan(const Instruction& instruction) = 0;

    /// Waits for the device and returns scans[slot * batch + element].
    virtual Result<std::vector<Scan>> scans() = 0;

    /// The contents of a buffer for one batch element, or a part of them, row-major, in the capture's own orientation.
    virtual Result<Values> download(BufferId buffer, std::int64_t element, const std::optional<Region>& part) = 0;
    Result<Values> download(BufferId buffer, std::int64_t element) { return download(buffer, element, std::nullopt); }

    /// Tile map of a buffer for one batch element, in the capture's own orientation.
    virtual Result<TileMap> tileMap(BufferId buffer, std::int64_t element) = 0;

    /// largestEigenvalue() (engine/spectrum.h) of a symmetric buffer; nothing where its contents are as well
    /// downloaded.
    virtual Result<std::optional<double>> largestEigenvalue(BufferId /*buffer*/, std::int64_t /*element*/)
    {
        return std::optional<double>();
    }

    /// ||u^T X||_2 in fp64 of a buffer X, for each u of `directions`: a row for each, row-major, as long as X has rows
    /// in the capture's own orientation. Nothing where the contents are as well downloaded, or where it failed here.
    virtual std::optional<std::vector<double>> gainsAlong(
        BufferId /*buffer*/, std::int64_t /*element*/, std::span<const double> /*directions*/)
    {
        return std::nullopt;
    }

    /// Keeps what a buffer holds now. Nothing where the contents are as well downloaded, or where memory is short.
    virtual std::optional<KeptMatrix> keep(BufferId /*buffer*/, std::int64_t /*element*/) { return std::nullopt; }

    /// In fp64, of X X^T, or of X^T X where X has more rows than columns. `matrix` is X, row-major, finite, its squares
    /// within the range of double; `columns` has a row for each of the smaller side's, row-major. Nothing where the
    /// caller may as well compute it, or where it failed here.
    virtual std::optional<Eigenbasis> eigenbasisOfGram(
        ValueView /*matrix*/, const MatrixShape& /*shape*/, std::span<const double> /*columns*/)
    {
        return std::nullopt;
    }

protected:
    const CancelToken& cancelToken() const { return m_cancel; }

private:
    CancelToken m_cancel;
    ShareDone m_told;
};

/// Has a device followed as long as it lives.
class Following
{
public:
    Following(Device& device, ShareDone told)
        : m_device(device)
    {
        m_device.follow(std::move(told));
    }
    ~Following() { m_device.follow({}); }
    Following(const Following&) = delete;
    Following& operator=(const Following&) = delete;

private:
    Device& m_device;
};

/// Whether core's own CPU device may do what a device failed at with this: it is short of memory, or lacks the format.
inline bool isWorthTheCpu(const Error& error)
{
    return error.kind == ErrorKind::refused || error.kind == ErrorKind::unsupported;
}

/// Core's own CPU device on Eigen: fp64 natively, fp32 natively, the others emulated. `threads` 0 means all.
std::unique_ptr<Device> makeEigenDevice(int threads = 0);

/// Makes devices by name ("cpu", "cuda:0"); the worker's makes more of them than core's own.
using DeviceFactory = std::function<Result<std::unique_ptr<Device>>(const std::string& name)>;

/// Knows "cpu" only; its error for any other name says that a worker is needed and how to build it.
Result<std::unique_ptr<Device>> makeCoreDevice(const std::string& name);

} // namespace nanscope::replay
