// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "core/workflow/runnews.h"

namespace nanscope {

/// One thing that a watched run told: a line for people, and JSON for programs.
class WatchEvent
{
public:
    enum class Kind { watching, dump, nonFinite, verdict, end };

    /// `fields` are put behind the kind, the time and the text.
    WatchEvent(Kind kind, std::string text, const nlohmann::ordered_json& fields);

    Kind kind() const { return m_kind; }
    std::string line() const;
    /// In one line, and harmless on a terminal.
    std::string json() const;
    /// The few facts that a script asks for most often. Whatever a file is called, they hold nothing that a shell, here
    /// or at the other end of a connection, would take for more than a word.
    std::vector<std::pair<std::string, std::string>> variables() const;

private:
    Kind m_kind;
    std::string m_time; ///< "2026-11-21 04:13:16 UTC"
    std::string m_text;
    std::string m_json;
    std::vector<std::pair<std::string, std::string>> m_variables;
};

/// "dump", "nonfinite", ...: as --until and JSON have them.
std::string_view name(WatchEvent::Kind kind);

WatchEvent dumpEvent(const Capture& capture, const CaptureVerdict& triaged);
WatchEvent nonFiniteEvent(const workflow::NonFiniteNews& news, const std::string& root);
/// `path` is where the capture lies.
WatchEvent verdictEvent(const CaptureVerdict& verdict, const std::string& path);

} // namespace nanscope
