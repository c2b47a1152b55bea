// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/servesession.h"

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

} // namespace nanscope
