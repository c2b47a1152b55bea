// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/servesession.h"

#include <algorithm>
#include <filesystem>

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
    const auto opened = tensorfile::openCapture(capture);
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

} // namespace nanscope::rpc
