// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/nanscope/shared/options.h"
#include "app/nanscope/shared/terminal.h"
#include "core/replay/variants/catalogue.h"

namespace nanscope {

/// One subcommand: its options, read into members, and what it does.
class Command
{
public:
    virtual ~Command() = default;
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;

    const CLI::App& app() const { return *m_app; }
    Result<TerminalOptions> terminalOptions() const;

    /// Adds the variants of --variant-file to the catalogue, before run().
    Result<void> readVariantFiles();

    /// The exit status, or the one error that made an answer impossible.
    virtual Result<int> run(Terminal& terminal) = 0;

protected:
    Command(CLI::App& root, const std::string& name, const std::string& description);
    Options& options() { return m_options; }
    const Options& options() const { return m_options; }
    void addVariantFileOption();
    const std::vector<std::string>& variantFiles() const { return m_variantFiles; }
    const replay::Catalogue& catalogue() const { return m_catalogue; }
    replay::Catalogue& catalogue() { return m_catalogue; }

private:
    CLI::App* m_app;
    Options m_options;
    bool m_json = false;
    std::string m_progress = "auto";
    std::string m_level = "warning";
    std::vector<std::string> m_variantFiles;
    replay::Catalogue m_catalogue; ///< what words of the command may name
};

using CommandList = std::vector<std::unique_ptr<Command>>;

std::unique_ptr<Command> makeExplain(CLI::App& root);
std::unique_ptr<Command> makeImport(CLI::App& root);
std::unique_ptr<Command> makeList(CLI::App& root);
std::unique_ptr<Command> makeInspect(CLI::App& root);
std::unique_ptr<Command> makeDiff(CLI::App& root);
std::unique_ptr<Command> makeSweep(CLI::App& root);
std::unique_ptr<Command> makeAgree(CLI::App& root);
std::unique_ptr<Command> makeSpread(CLI::App& root);
std::unique_ptr<Command> makeDiagnose(CLI::App& root);
std::unique_ptr<Command> makeWhatIf(CLI::App& root);
std::unique_ptr<Command> makeReport(CLI::App& root);
std::unique_ptr<Command> makeExport(CLI::App& root);
std::unique_ptr<Command> makeSql(CLI::App& root);
std::unique_ptr<Command> makeDoctor(CLI::App& root);
std::unique_ptr<Command> makeEnv(CLI::App& root);
std::unique_ptr<Command> makeMeasure(CLI::App& root);
std::unique_ptr<Command> makeServe(CLI::App& root);
std::unique_ptr<Command> makeCapture(CLI::App& root);
std::unique_ptr<Command> makeWatch(CLI::App& root);

} // namespace nanscope
