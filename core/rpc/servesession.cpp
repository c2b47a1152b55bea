// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/servesession.h"

#include <algorithm>
#include <filesystem>

#include "core/tensorfile/capture/capturefile.h"

namespace nanscope {

Result<std::optional<Session>> openKept(const KeptIn& kept)
{
    if (kept.session.empty()) {
        return std::nullopt;
    }
    auto opened = kept.run.empty() ? Session::open(kept.session, OpenMode::create)
                                   : openSessionOfRun(kept.session, OpenMode::readWrite, kept.run);
    return std::move(opened).map([](Session&& session) { return std::optional(std::move(session)); });
}

Result<std::string> nameIn(const Session& session, const CaptureRef& capture)
{
    const auto opened = openCapture(capture);
    if (!opened) {
        return tl::make_unexpected(opened.error());
    }
    auto name = session.captureName(opened->capture.identity);
    if (!name || *name) {
        return std::move(name).map([](auto&& called) { return *called; });
    }
    auto isCalled = session.isCaptureName(opened->capture.file);
    if (isCalled && *isCalled) {
        return failure(ErrorKind::refused,
            "the session has another capture of this name; import it again before its replays are kept", capture.path);
    }
    return std::move(isCalled).map([&](bool) { return opened->capture.file; });
}

} // namespace nanscope
