// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/storedcells.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/base/try.h"
#include "core/replay/variants/sessionvariants.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::rpc {

Result<std::optional<session::Session>> openKept(const KeptIn& kept)
{
    if (kept.session.empty()) {
        return std::nullopt;
    }
    auto opened = kept.run.empty() ? session::Session::open(kept.session, session::OpenMode::create)
                                   : session::openSessionOfRun(kept.session, session::OpenMode::readWrite, kept.run);
    return std::move(opened).map([](session::Session&& session) { return std::optional(std::move(session)); });
}

Result<std::string> nameIn(const session::Session& session, const CaptureRef& capture)
{
    const auto opened = TRY(tensorfile::openCapture(capture));
    auto name = session.captureName(opened.capture.identity);
    if (!name || *name) {
        return std::move(name).map([](auto&& called) { return *called; });
    }
    auto isCalled = session.isCaptureName(opened.capture.file);
    if (isCalled && *isCalled) {
        return failure(ErrorKind::refused,
            "the session has another capture of this name; import it again before its replays are kept", capture.path);
    }
    return std::move(isCalled).map([&](bool) { return opened.capture.file; });
}

namespace {

/// The cell that the gauges belong to, replayed because the session does not hold it.
Result<Cell> replayed(const DeepOrder& order, const replay::DeviceFactory& devices, const CancelToken& cancel)
{
    const auto capture = TRY(tensorfile::openCapture(order.request.capture));
    const auto device = TRY(devices(order.request.cell.device));
    replay::CellRequest request = order.request.cell;
    request.tileMaps = !order.kept.session.empty();
    return replay::replayCell(capture, request, order.request.catalogue, *device, cancel);
}

Result<Cell> kept(session::Session& session, const Cell& measured, const DeepOrder& order,
    const replay::DeviceFactory& devices, const CancelToken& cancel)
{
    auto stored = TRY(session.addDeepGauges(measured));
    if (stored) {
        return std::move(*stored);
    }
    auto cell = TRY(replayed(order, devices, cancel));
    cell.capture = measured.capture;
    cell.deep = measured.deep;
    return session.addCell(cell).map([&] { return std::move(cell); });
}

} // namespace

Result<Cell> deepCell(const DeepOrder& order, const replay::DeviceFactory& devices, const JobContext& job)
{
    auto session = TRY(openKept(order.kept));
    if (session) {
        TRY(replay::keepVariants(*session, order.request.catalogue, {order.request.cell.variant}));
    }
    auto measured = TRY(replay::measureDeep(order.request, devices, job));
    if (session) {
        measured.capture = TRY(nameIn(*session, order.request.capture));
        return kept(*session, measured, order, devices, job.cancel);
    }
    return replayed(order, devices, job.cancel).map([&](Cell cell) {
        cell.deep = std::move(measured.deep);
        return cell;
    });
}

} // namespace nanscope::rpc
