// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/inputcheck.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/model/words.h"

namespace nanscope::instruments {

namespace {

std::string sentenceFor(const InputAnswer& answer)
{
    if (!answer.answered) {
        return "the call gave no output";
    }
    const std::string shares = answer.sharesStorage
        ? "the output lies in the memory of the input: who uses either later uses both"
        : "the output has memory of its own";
    if (answer.changed > 0) {
        return fmt::format("the input is not what it was: {} other bits, the first at {}; {}",
            answer.changed == 1 ? "1 element has" : countText(answer.changed) + " elements have",
            indexText(*answer.first), shares);
    }
    return answer.returnsInput
        ? fmt::format("the input is unchanged, and what came back has the same bits: nothing was "
                      "done to it; {}",
            shares)
        : fmt::format("the input is unchanged, bit by bit; {}", shares);
}

} // namespace

Result<InputAnswer> checkInput(Asker& asker)
{
    if (!asker.facts().own) {
        return failure(ErrorKind::usage,
            "a replay cell never writes into its input: this would test Nanscope, not your kernel; name yours with "
            "--impl");
    }
    asker.setPhase("input", 1, "calls");
    const auto judged = asker.ask();
    if (!judged) {
        return tl::make_unexpected(judged.error());
    }
    const auto& specimen = asker.specimen();
    const auto& reply = judged->reply;
    InputAnswer answer;
    answer.answered = judged->answered();
    answer.changed = reply.inputChanged;
    if (reply.firstChanged) {
        answer.first = indexIn(specimen.input.shape, *reply.firstChanged);
    }
    answer.sharesStorage = reply.sharesStorage;
    answer.returnsInput = reply.output && reply.output->dtype == specimen.input.dtype
        && reply.output->bytes == specimen.input.bytes && !specimen.scans.front().allZero();
    answer.sentence = sentenceFor(answer);
    return answer;
}

} // namespace nanscope::instruments
