// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/command.h"

#include <CLI/App.hpp>

#include "app/nanscope/shared/words.h"
#include "core/base/try.h"
#include "core/replay/variants/variantjson.h"

namespace nanscope {

Command::Command(CLI::App& root, const std::string& name, const std::string& description)
    : m_app(root.add_subcommand(name, description))
    , m_options(*m_app)
{
    m_options.addFlag("--json", m_json, "Answer in JSON");
    m_options.add("--progress", m_progress, "auto (a line on a terminal), jsonl or none").showDefault();
    m_options.add("--log-level", m_level, "error, warning, info or debug").showDefault();
}

void Command::addVariantFileOption()
{
    m_options
        .add("--variant-file", m_variantFiles,
            "JSON with variants of your own, known by their names from here on (docs/variants.md); may be repeated")
        .shownAs("FILE.json")
        .oneEach();
}

Result<void> Command::readVariantFiles()
{
    for (const auto& file : m_variantFiles) {
        TRY(replay::addVariantFile(m_catalogue, file));
    }
    return {};
}

Result<TerminalOptions> Command::terminalOptions() const
{
    TerminalOptions result;
    result.json = m_json;
    TRY(oneOf("progress", m_progress, {"auto", "jsonl", "none"}));
    result.progressJsonl = m_progress == "jsonl";
    result.progressLine = m_progress == "auto";
    result.level = static_cast<LogLevel>(TRY(oneOf("log level", m_level, {"error", "warning", "info", "debug"})));
    return result;
}

} // namespace nanscope
