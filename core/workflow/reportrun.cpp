// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/workflow/reportrun.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/replay/variants/sessionvariants.h"
#include "core/report/input/reportinput.h"
#include "core/workflow/judgement.h"

namespace nanscope::workflow {

Result<report::ReportInput> reportInput(ReportSource source, const session::Session* session)
{
    auto cells = session ? replay::cellsThatHold(*session, source.catalogue)
                         : Result<std::vector<Cell>>(std::move(source.cells));
    if (!cells) {
        return tl::make_unexpected(cells.error());
    }
    auto shown = weighed(std::move(source.diagnosis), source.observed, source.run, source.files, source.namesOnly);
    report::ReportInput input {
        std::move(source.run), std::move(shown), std::move(*cells), std::move(source.commandLine)};
    input.about = std::move(source.about);
    input.outputTiles = report::outputTiles(input);
    input.variantFiles = std::move(source.files.variants);
    input.ran = std::move(source.ran);
    return input;
}

std::string findingWords(const diagnose::FindingChoices& choices)
{
    auto words = choices.spikeRule.empty() ? std::string() : " --spike-rule " + choices.spikeRule;
    if (!choices.silenced.empty()) {
        words += fmt::format(" --silence {}", fmt::join(choices.silenced, ","));
    }
    return words;
}

} // namespace nanscope::workflow
