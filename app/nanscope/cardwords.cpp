// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/cardwords.h"

#include "app/nanscope/shared/words.h"
#include "core/diagnose/findings/cards.h"

namespace nanscope {

void addCardOptions(Options& options, CardWords& words)
{
    options
        .add("--spike-rule", words.spikeRule,
            "Whose rule calls a loss a spike: llm-foundry (default), megatron, olmo, lightning, entrenar or zclip")
        .shownAs("NAME");
    options
        .add("--silence", words.silence, "Cards you do not want to hear of, such as P13,log-interval; may be repeated")
        .shownAs("ID,...")
        .oneEach();
}

Result<diagnose::DiagnoseOptions> diagnoseOptions(const std::vector<std::string>& ran, const CardWords& words)
{
    diagnose::DiagnoseOptions options;
    options.ran = ran;
    options.spikeRule = words.spikeRule;
    for (const auto& word : words.silence) {
        for (auto& id : listOf(word)) {
            if (auto known = oneOf("card", id, diagnose::cards::cardIds()); !known) {
                return tl::make_unexpected(known.error());
            }
            options.silence.push_back(std::move(id));
        }
    }
    if (!words.spikeRule.empty()) {
        if (auto known = oneOf("spike rule", words.spikeRule, diagnose::cards::spikeRuleNames()); !known) {
            return tl::make_unexpected(known.error());
        }
    }
    return options;
}

} // namespace nanscope
