// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/cardwords.h"

#include <algorithm>
#include <iterator>

#include "app/nanscope/shared/words.h"

namespace nanscope {

void addCardOptions(Options& options, diagnose::FindingChoices& given)
{
    options
        .add("--spike-rule", given.spikeRule,
            "Whose rule calls a loss a spike: llm-foundry (default), megatron, olmo, lightning, entrenar or zclip")
        .shownAs("NAME");
    options
        .add("--silence", given.silenced, "Cards you do not want to hear of, such as P13,log-interval; may be repeated")
        .shownAs("ID,...")
        .oneEach();
}

Result<diagnose::FindingChoices> chosen(const diagnose::FindingChoices& given)
{
    diagnose::FindingChoices choices {{}, given.spikeRule};
    for (const auto& word : given.silenced) {
        std::ranges::move(listOf(word), std::back_inserter(choices.silenced));
    }
    return diagnose::checked(std::move(choices));
}

} // namespace nanscope
