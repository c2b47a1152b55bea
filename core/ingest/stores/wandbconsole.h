// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The console output that W&B keeps beside the values it was given, in pieces as the program wrote them. Read like any
// console log, but into records of its own: what is printed there was mostly logged, too.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/ingest/events/eventreader.h"
#include "core/ingest/formats/logformat.h"
#include "core/ingest/logbuilder.h"
#include "core/ingest/stores/wandbmessage.h"

namespace nanscope::ingest {

class WandbConsole
{
public:
    explicit WandbConsole(LogBuilder builder);

    /// `record` stands for the number of the lines that end in it.
    void take(WandbMessage::Stream stream, std::string_view text, std::int64_t record);

    /// Lines without their end are taken as they are.
    void finish(std::int64_t record);

    std::size_t size() const { return m_builder.size(); }
    /// Adds what was read to `contents`; the series say that they come from the console.
    void take(LogContents& contents);

private:
    void line(std::string_view text, std::int64_t record);

    LogBuilder m_builder;
    EventReader m_events;
    std::vector<std::unique_ptr<LogFormat>> m_formats;
    std::array<std::string, 2> m_open; ///< line of each stream that has no end yet
    std::string m_line;
    std::string m_scratch;
};

} // namespace nanscope::ingest
