// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <system_error>

#include <nlohmann/json.hpp>

#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/source.h"
#include "core/base/try.h"
#include "core/diagnose/damage/candidateorigins.h"
#include "core/diagnose/damage/damage.h"
#include "core/diagnose/triage/triage.h"
#include "core/json/records.h"
#include "core/report/document/commandwords.h"
#include "core/report/input/reportinput.h"
#include "core/report/report.h"
#include "core/tensorfile/capture/capturefile.h"
#include "core/tensorfile/scan/scantensor.h"

namespace nanscope {

namespace {

class Explain : public Command
{
public:
    explicit Explain(CLI::App& root)
        : Command(root, "explain", "What one capture is, what is wrong in it and what to do next")
    {
        options().add("capture", m_path, "A capture (.pt, .safetensors, .npy)").required();
        addVariantFileOption();
        options().add("--session", m_session, "Know the variants of your own that this session keeps");
    }

    Result<int> run(Terminal& terminal) override;

private:
    std::string m_path;
    std::string m_session;
};

CaptureVerdict firstLook(const tensorfile::CaptureFile& file, const replay::Catalogue& catalogue)
{
    RunData alone;
    alone.captures = {file.capture};
    auto verdicts = diagnose::triage(alone);
    auto verdict = verdicts.empty() ? CaptureVerdict {} : std::move(verdicts.front());
    if (!file.capture.hasTensors()) {
        return verdict;
    }
    diagnose::doubtInput(verdict, file, file.capture, alone);
    const auto shown = static_cast<std::size_t>(report::shownBatch(file.capture));
    if (auto patterns = diagnose::damagePatterns(file); patterns && shown < patterns->size()) {
        verdict.facts.damage = std::move((*patterns)[shown]);
    }
    diagnose::fillOrigins(verdict, file, catalogue);
    return verdict;
}

std::optional<TileMap> outputMap(const tensorfile::CaptureFile& file)
{
    if (!file.output) {
        return std::nullopt;
    }
    auto map = tensorfile::tileTensor(*file.output, report::shownBatch(file.capture));
    return map ? std::optional(std::move(*map)) : std::nullopt;
}

Result<int> Explain::run(Terminal& terminal)
{
    TRY(takeVariantsFrom(m_session, catalogue(), terminal));
    std::error_code ignored;
    if (std::filesystem::is_directory(m_path, ignored)) {
        return failure(ErrorKind::format, "explain takes one capture; nanscope diagnose takes a folder", m_path);
    }
    const auto file = TRY(tensorfile::readCaptureOrCounts(m_path, {}, terminal.job()));
    const auto verdict = firstLook(file, catalogue());
    const auto map = outputMap(file);
    const auto text = report::explainText(
        file.capture, verdict, map ? &*map : nullptr, report::variantFileWords(variantFiles(), false));
    if (terminal.json()) {
        terminal.printJson({{"schema", "nanscope.explain/1"}, {"capture", toJson(file.capture)}, {"text", text}});
    } else {
        terminal.print(text);
    }
    return exitDone;
}

} // namespace

std::unique_ptr<Command> makeExplain(CLI::App& root)
{
    return std::make_unique<Explain>(root);
}

} // namespace nanscope
