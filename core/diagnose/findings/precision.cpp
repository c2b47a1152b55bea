// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// P1 to P4: which number format a run computes in, on which card, and where autocast reaches.
#include <algorithm>

#include <fmt/format.h>

#include "core/diagnose/context/settings.h"
#include "core/diagnose/findings/cardevidence.h"
#include "core/model/verdict.h"

namespace nanscope::diagnose::cards {

namespace {

/// Ends exactly like the dump.
const MemberResult* fp16LikeTheDump(const CaptureVerdict& verdict)
{
    const auto found = std::find_if(verdict.members.begin(), verdict.members.end(),
        [](const MemberResult& member) { return member.precision == "fp16" && member.reproducing > 0; });
    return found == verdict.members.end() ? nullptr : &*found;
}

const MemberResult* widerAndFinite(const CaptureVerdict& verdict)
{
    const auto found = std::find_if(verdict.members.begin(), verdict.members.end(), [](const MemberResult& member) {
        const bool wider = member.precision == "fp32" || member.precision == "bf16" || member.precision == "fp64";
        return wider && member.roundings > 0 && member.finite == member.roundings;
    });
    return found == verdict.members.end() ? nullptr : &*found;
}

bool replayed(const CaptureVerdict& verdict)
{
    return verdict.role == Role::birth && !verdict.members.empty();
}

CardOutcome rangeOutcome(
    const RunSummary& summary, const CaptureVerdict& verdict, const MemberResult& half, const MemberResult& wider)
{
    const auto formats = formatsOf(summary.run);
    const auto reason = fmt::format(
        "replayed in fp16, {} ends like the dump ({} of {} replays); in {}, {} stays "
        "finite ({} of {} replays): if the run computes this in fp16, its range explains the dump",
        half.variant, half.reproducing, half.roundings, wider.precision, wider.variant, wider.finite, wider.roundings);
    std::vector<Evidence> evidence {{verdict.capture, 0, verdict.summary}};
    if (formats.fp16 != nullptr) {
        evidence.push_back(evidenceOf(*formats.fp16));
    }
    const auto step = verdict.step ? std::optional(verdict.step->first) : std::nullopt;
    const auto sure = verdict.blame == Blame::numerics ? Confidence::high
        : formats.fp16 != nullptr                      ? Confidence::medium
                                                       : Confidence::low;
    return at(fired(sure, reason, evidence), step, verdict.rank);
}

CardOutcome precisionChoice(const RunSummary& summary)
{
    int births = 0;
    for (const auto& verdict : summary.verdicts) {
        if (!replayed(verdict)) {
            continue;
        }
        ++births;
        const auto* half = fp16LikeTheDump(verdict);
        const auto* wider = widerAndFinite(verdict);
        if (half != nullptr && wider != nullptr) {
            return rangeOutcome(summary, verdict, *half, *wider);
        }
    }
    return births == 0 ? notCheckable("no capture of a first NaN was replayed")
                       : clear(fmt::format("of {}, none ends like its dump in fp16 and stays finite in a wider format",
                           howMany(births, "replayed birth")));
}

const Setting* tf32Switch(const RunData& run)
{
    // The switch for convolutions stands under the same name and is on by default.
    for (const auto* setting : settingsNamed(run, {"allow_tf32", "tf32", "float32_matmul_precision"})) {
        if (lowered(setting->name).find("cudnn") == std::string::npos) {
            return setting;
        }
    }
    return nullptr;
}

std::optional<bool> tf32On(const Setting& setting)
{
    if (const auto word = lowered(setting.value); word.find("highest") != std::string::npos) {
        return false;
    } else if (word.find("high") != std::string::npos || word.find("medium") != std::string::npos) {
        return true;
    }
    return truthOf(setting);
}

CardOutcome tf32Off(const RunSummary& summary)
{
    constexpr Capability ampere {8, 0};
    const auto formats = formatsOf(summary.run);
    const auto gpu = leastGpu(summary.run);
    const auto* setting = tf32Switch(summary.run);
    const auto on = setting != nullptr ? tf32On(*setting) : std::nullopt;
    if (formats.bf16 != nullptr || formats.fp16 != nullptr || formats.fp8 != nullptr) {
        return clear("the run does not compute its products in fp32");
    }
    if (on == true) {
        return clear(fmt::format("TF32 is on: {}", textOf(*setting)));
    }
    if (gpu && gpu->capability < ampere) {
        return clear(fmt::format("a GPU of compute capability {} has no TF32", textOf(gpu->capability)));
    }
    if (formats.fp32 == nullptr || !gpu || !on) {
        return notCheckable(formats.fp32 == nullptr ? missingSetting(summary.run, "number format")
                : !gpu                              ? "no known GPU in the logs"
                                                    : missingSetting(summary.run, "switch for TF32"));
    }
    return fired(Confidence::high,
        fmt::format(
            "the run computes in fp32 with TF32 off, on a GPU of compute capability {}", textOf(gpu->capability)),
        {evidenceOf(*setting), evidenceOf(*formats.fp32), evidenceOf(*gpu->setting)});
}

CardOutcome capabilityOutcome(const Gpu& gpu, const Setting& format, std::string_view name, std::string_view needed)
{
    return fired(Confidence::high,
        fmt::format("{} on a GPU of compute capability {}: the hardware for it comes with {}", name,
            textOf(gpu.capability), needed),
        {evidenceOf(format), evidenceOf(*gpu.setting)});
}

CardOutcome cardCapability(const RunSummary& summary)
{
    constexpr Capability ampere {8, 0};
    constexpr Capability ada {8, 9};
    const auto formats = formatsOf(summary.run);
    const auto gpu = leastGpu(summary.run);
    if (!formats.known()) {
        return notCheckable(missingSetting(summary.run, "number format"));
    }
    if (formats.bf16 == nullptr && formats.fp8 == nullptr) {
        return clear("the run uses neither bf16 nor fp8");
    }
    if (!gpu) {
        return notCheckable(
            namesGpu(summary.run) ? "the GPU is not in the list of known ones" : "no GPU name in the logs");
    }
    if (formats.fp8 != nullptr && gpu->capability < ada) {
        return capabilityOutcome(*gpu, *formats.fp8, "fp8", "8.9");
    }
    if (formats.bf16 != nullptr && gpu->capability < ampere) {
        return capabilityOutcome(*gpu, *formats.bf16, "bf16", "8.0");
    }
    return clear(fmt::format("a GPU of compute capability {} has the formats the run uses", textOf(gpu->capability)));
}

CardOutcome autocastScope(const RunSummary& summary)
{
    if (const auto* event = eventSaying(summary.run, Phrase::mixedFormats)) {
        return at(
            fired(Confidence::low, "a line of the log speaks of formats that do not go together", {evidenceOf(*event)}),
            event->step, event->rank);
    }
    return hasConsole(summary.run) ? clear("no error about formats that do not go together")
                                   : notCheckable("no console log");
}

} // namespace

std::vector<Card> precisionCards()
{
    return {
        {"P1", "Captured fault explained by the range of fp16", "warning",
            "fp16 replay bad and a wider one fine on the same input: range; both bad: model, data or kernel",
            {"run this part in bf16 or fp32 and see whether the fault stays away",
                "fp32 on the same data tells a fault of the numbers from one of the model"},
            precisionChoice},
        {"P2", "TF32 off for fp32 matrix products", "info",
            "fp32, compute capability 8.0 or more, and the switch is off (PyTorch turned it off by default in 1.12)",
            {"torch.set_float32_matmul_precision(\"high\"): two to four times faster, 10 bits of mantissa instead of "
             "23",
                "convolutions have a switch of their own: torch.backends.cudnn.allow_tf32"},
            tf32Off},
        {"P3", "GPU without hardware for the number format", "warning",
            "bf16 below compute capability 8.0 (NVIDIA's list); fp8 below 8.9 (Nanscope's own threshold)",
            {"torch.cuda.is_bf16_supported() is true where bf16 is only emulated: judge by the compute capability",
                "on V100, T4 and RTX 20xx use fp16 with a GradScaler"},
            cardCapability},
        {"P4", "Number formats that do not go together", "warning",
            "an error or a warning that names the formats (text only, so low confidence)",
            {"autocast around forward and loss only; backward outside of it; no model.half()",
                "torch.amp.autocast(\"cuda\") instead of torch.cuda.amp; a thread of its own needs autocast of its "
                "own"},
            autocastScope},
    };
}

} // namespace nanscope::diagnose::cards
