// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/nanscope/whatifanswers.h"
#include "app/nanscope/words.h"
#include "core/base/text.h"
#include "core/diagnose/whatif/detectorwords.h"

namespace nanscope {

namespace {

/// " [train.log:41]", or " [line 41]" where the title names the only log there is.
std::string at(const diagnose::DetectorReplay& replay, const std::string& source)
{
    const auto colon = source.rfind(':');
    const bool onlyLog = replay.sources.size() == 1 && source.substr(0, colon) == replay.sources.front();
    return source.empty() ? std::string()
        : onlyLog         ? fmt::format(" [line {}]", source.substr(colon + 1))
                          : fmt::format(" [{}]", source);
}

std::string replayText(const diagnose::DetectorReplay& replay)
{
    auto text = diagnose::detectorTitle(replay) + "\n";
    for (const auto& one : diagnose::detectorFacts(replay)) {
        text += fact(one.label, one.text + at(replay, one.source) + one.tail);
    }
    return text;
}

} // namespace

std::string detectorText(std::span<const diagnose::DetectorReplay> replays, const diagnose::DetectorQuestion& question)
{
    constexpr std::size_t most = 10;
    if (const auto silence = diagnose::detectorSilence(replays); !silence.empty()) {
        return asSentence(silence) + "\n";
    }
    auto text = fmt::format("With {}:\n", diagnose::detectorSettings(question));
    std::size_t told = 0;
    for (const auto& replay : replays) {
        if (diagnose::detectorSpeaks(replay) && ++told <= most) {
            text += "\n" + replayText(replay);
        }
    }
    const auto clean = std::ssize(replays) - static_cast<std::ptrdiff_t>(told);
    return text + (told > most ? fmt::format("\nand {} more like these (--json has them all)\n", told - most) : "")
        + (clean > 0 ? fmt::format("\n{} without a loss that is not finite\n", counted(clean, "other log")) : "");
}

} // namespace nanscope
