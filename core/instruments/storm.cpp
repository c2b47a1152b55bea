// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/storm.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/base/try.h"

namespace nanscope::instruments {

std::optional<double> RepeatCount::bound() const
{
    constexpr double ruleOfThree = 3;
    return clean() ? std::optional(std::min(1.0, ruleOfThree / static_cast<double>(calls))) : std::nullopt;
}

RepeatCount countRepeats(const Burst& burst, const std::string& reference)
{
    RepeatCount count;
    std::set<std::string> hashes;
    std::int64_t number = 0;
    for (const auto& call : burst.calls) {
        ++number;
        if (call.hash.empty()) {
            ++count.failed;
            continue;
        }
        ++count.calls;
        hashes.insert(call.hash);
        if (call.hash != reference) {
            ++count.differ;
            count.firstDiffering = count.firstDiffering.value_or(number);
        }
        if (!call.finite) {
            ++count.nonFinite;
            count.firstNonFinite = count.firstNonFinite.value_or(number);
        }
    }
    if (!reference.empty()) {
        hashes.insert(reference);
    }
    count.distinct = static_cast<std::int64_t>(hashes.size());
    return count;
}

RepeatCount& operator+=(RepeatCount& total, const RepeatCount& part)
{
    const auto take = [before = total.calls + total.failed](auto& first, const auto& later) {
        first = first || !later ? first : std::optional(before + *later);
    };
    take(total.firstDiffering, part.firstDiffering);
    take(total.firstNonFinite, part.firstNonFinite);
    total.calls += part.calls;
    total.failed += part.failed;
    total.differ += part.differ;
    total.nonFinite += part.nonFinite;
    total.distinct = std::max(total.distinct, part.distinct);
    return total;
}

std::string repeatSentence(const RepeatCount& count)
{
    if (count.calls == 0) {
        return "no call gave an output";
    }
    if (count.differ > 0) {
        return fmt::format(
            "{} of {} calls differ from the first in at least one bit; {} distinct outputs, {} of {} not "
            "finite",
            count.differ, count.calls, count.distinct, count.nonFinite, count.calls);
    }
    if (count.nonFinite == count.calls) {
        return fmt::format("each of {} calls gave the same bits, and none of them finite: it fails on this input every "
                           "time",
            count.calls);
    }
    const auto most = *count.bound();
    return fmt::format(
        "not reproduced in this setting: none of {} differs from the first, {}; this lowers no suspicion elsewhere",
        counted(count.calls, "call"),
        most < 1 ? fmt::format("so that at 95 % confidence fewer than {:.2g} % do here", 100 * most)
                 : "which are too few to say how many do here");
}

Result<RepeatAnswer> repeatBitwise(Measurement& measurement, int calls)
{
    measurement.setPhase("repeat", calls + 1, "calls");
    // The one that is looked at also tells how long the others may take.
    const auto first = TRY(measurement.ask());
    RepeatAnswer answer;
    answer.outcome = first.answered() ? std::optional(first.worst) : std::nullopt;
    BurstOptions options;
    options.calls = calls;
    const auto burst = TRY(measurement.burst(options));
    std::string reference;
    for (const auto& call : burst.calls) {
        reference = reference.empty() ? call.hash : reference;
    }
    answer.count = countRepeats(burst, reference);
    answer.output = reference;
    const bool onlyFirst = answer.outcome && answer.count.calls == 0;
    answer.sentence = onlyFirst
        ? fmt::format("the first call gave an output, none of the {} after it did", answer.count.failed)
        : repeatSentence(answer.count);
    return answer;
}

namespace {

constexpr auto poisonedLeg = "allocator poisoned with NaN";
constexpr auto filledLeg = "uninitialised memory filled with NaN";
constexpr auto zeroedLeg = "uninitialised memory filled with zeros";

/// "cpu", "cuda", of "cuda:1".
std::string kindOf(const std::string& device)
{
    return device.substr(0, device.find(':'));
}

class Storm
{
public:
    Storm(Measurement& measurement, const FunctionChoice& choice, const StormRequest& request)
        : m_measurement(measurement)
        , m_choice(choice)
        , m_request(request)
        , m_cuda(kindOf(measurement.facts().environment.device) == "cuda")
        , m_torch(measurement.facts().environment.engine.starts_with("torch"))
    { }

    Result<StormAnswer> run();

private:
    using Skip = std::string;

    BurstOptions plain() const
    {
        BurstOptions options;
        options.calls = m_request.calls;
        return options;
    }
    /// Why nothing can be tried on several GPUs; empty where it can.
    Skip withoutSeveralGpus() const
    {
        const auto* why = m_cuda ? "there is one GPU only" : "it runs on no GPU";
        return m_cuda && m_measurement.facts().gpus > 1 ? Skip() : Skip(why);
    }
    Result<void> leg(const std::string& name, const BurstOptions& options, const Skip& skip);
    Result<void> freshProcesses();
    Result<void> everyGpu();
    Result<void> runLegs();
    void conclude();

    Measurement& m_measurement;
    const FunctionChoice& m_choice;
    const StormRequest& m_request;
    bool m_cuda;
    bool m_torch;
    std::string m_reference;
    StormAnswer m_answer;
};

Result<void> Storm::leg(const std::string& name, const BurstOptions& options, const Skip& skip)
{
    auto& leg = m_answer.legs.emplace_back(StormLeg {name, skip, {}});
    if (!skip.empty()) {
        return {};
    }
    const auto burst = TRY(m_measurement.burst(options));
    for (const auto& call : burst.calls) {
        m_reference = m_reference.empty() ? call.hash : m_reference;
    }
    leg.count = countRepeats(burst, m_reference);
    if (options.emptyMemory == EmptyMemory::zeros && leg.count.calls == 0 && !burst.complaints.empty()) {
        leg = {name, burst.complaints.front(), {}};
    }
    return {};
}

Result<void> Storm::freshProcesses()
{
    StormLeg leg {fmt::format("{} fresh processes", m_request.processes), {}, {}};
    Burst all;
    auto options = plain();
    options.calls = std::max(1, m_request.calls / m_request.processes);
    for (int i = 0; i < m_request.processes; ++i) {
        TRY(m_measurement.target().renew(m_measurement.job().cancel));
        auto burst = TRY(m_measurement.burst(options));
        all.calls.insert(all.calls.end(), burst.calls.begin(), burst.calls.end());
    }
    leg.count = countRepeats(all, m_reference);
    m_answer.legs.push_back(std::move(leg));
    return {};
}

Result<void> Storm::everyGpu()
{
    const int gpus = m_measurement.facts().gpus;
    if (const auto skip = withoutSeveralGpus(); !skip.empty()) {
        m_answer.legs.push_back({"every GPU", skip, {}});
        return {};
    }
    for (int i = 0; i < gpus; ++i) {
        auto choice = m_choice;
        choice.device = fmt::format("cuda:{}", i);
        auto target = TRY(FunctionTarget::make(choice, m_measurement.job().cancel));
        const auto& inputBatch = m_measurement.inputBatch();
        const auto burst = TRY(target->burst({inputBatch.input, inputBatch.epsilon, false}, plain(),
            {[](const Progress&) {}, m_measurement.job().cancel}));
        m_answer.legs.push_back({choice.device, {}, countRepeats(burst, m_reference)});
    }
    return {};
}

Result<void> Storm::runLegs()
{
    const Skip ended = "on a CPU every op has ended when it returns";
    const Skip noTorch = "this Python has no torch";
    auto poisoned = plain();
    poisoned.poison = true;
    auto filled = plain();
    filled.emptyMemory = EmptyMemory::notANumber;
    auto zeroed = plain();
    zeroed.emptyMemory = EmptyMemory::zeros;
    auto produced = plain();
    produced.producer = true;
    auto streams = plain();
    streams.streams = m_request.streams;
    auto all = streams;
    all.poison = all.producer = true;
    auto traffic = streams;
    traffic.traffic = true;
    auto threads = plain();
    threads.threads = m_request.threads;
    const Skip onGpu = m_cuda ? "" : ended;
    const Skip onGpus = withoutSeveralGpus();
    const Skip onTorch = m_torch ? "" : noTorch;
    const std::pair<std::string, std::pair<BurstOptions, Skip>> legs[] {{"calm", {plain(), {}}},
        {poisonedLeg, {poisoned, onTorch}}, {filledLeg, {filled, onTorch}}, {zeroedLeg, {zeroed, onTorch}},
        {"producer kernel directly before", {produced, onGpu}},
        {fmt::format("{} streams", m_request.streams), {streams, onGpu}},
        {"poison, producer and streams together", {all, onGpu}}, {"NCCL traffic beside streams", {traffic, onGpus}},
        {fmt::format("{} threads", m_request.threads), {threads, m_cuda ? "a GPU is given streams instead" : ""}}};
    for (const auto& [name, how] : legs) {
        TRY(leg(name, how.first, how.second));
    }
    return {};
}

/// Of a leg that ran: "calm (2 of 50)".
std::string hitText(const StormLeg& leg, std::int64_t hits)
{
    return fmt::format("{} ({} of {})", leg.name, hits, leg.count.calls);
}

/// The calm reads what memory happens to hold, which may be NaN in every call: memory full of zeros is the control,
/// unless it could not be made so, or some of its calls gave nothing.
const StormLeg& withoutNaNInMemory(const std::vector<StormLeg>& legs)
{
    const auto zeroed = std::ranges::find(legs, zeroedLeg, &StormLeg::name);
    const bool whole = zeroed != legs.end() && zeroed->count.calls > 0 && zeroed->count.failed == 0;
    return whole ? *zeroed : legs.front();
}

/// Memory full of NaN makes every output not finite, and the control not half of them: a race does not come every time.
std::string unwrittenText(const std::vector<StormLeg>& legs)
{
    const auto& control = withoutNaNInMemory(legs);
    std::vector<std::string> hit;
    for (const auto& leg : legs) {
        const bool fills = leg.name == poisonedLeg || leg.name == filledLeg;
        if (fills && leg.count.calls > 0 && leg.count.nonFinite == leg.count.calls) {
            hit.push_back(hitText(leg, leg.count.nonFinite));
        }
    }
    if (hit.empty() || 2 * control.count.nonFinite >= control.count.calls) {
        return {};
    }
    return fmt::format("not finite where memory is full of NaN before it is written: {}, against {} of {} under {}; "
                       "that is an element that nobody wrote",
        fmt::join(hit, ", "), control.count.nonFinite, control.count.calls, control.name);
}

std::string differText(const std::vector<StormLeg>& legs)
{
    const auto& calm = legs.front();
    if (calm.count.differ > 0) {
        return fmt::format("calls in the calm differ from each other already: {} of {} from the first, {} distinct "
                           "outputs; so that other bits in the storm say nothing more",
            calm.count.differ, calm.count.calls, calm.count.distinct);
    }
    std::vector<std::string> hit;
    for (const auto& leg : legs) {
        // torch may take another way to a product where each of its ops is looked at: other bits say nothing there.
        if (leg.count.differ > 0 && leg.name != zeroedLeg) {
            hit.push_back(hitText(leg, leg.count.differ));
        }
    }
    return hit.empty() ? std::string()
                       : fmt::format("other bits than in the calm came under: {}", fmt::join(hit, ", "));
}

void Storm::conclude()
{
    std::int64_t calls = 0;
    std::int64_t nonFinite = 0;
    for (const auto& leg : m_answer.legs) {
        calls += leg.count.calls;
        nonFinite += leg.count.nonFinite;
    }
    const auto differ = differText(m_answer.legs);
    const auto unwritten = unwrittenText(m_answer.legs);
    if (!differ.empty() || !unwritten.empty()) {
        const bool both = !differ.empty() && !unwritten.empty();
        m_answer.sentence = fmt::format("{}{}{}", differ, both ? "; " : "", unwritten);
    } else if (calls == 0) {
        m_answer.sentence = "no call gave an output";
    } else if (nonFinite == calls) {
        m_answer.sentence = fmt::format(
            "all {} outputs are the same bits, and none is finite: it fails on this input in the calm, too", calls);
    } else {
        m_answer.sentence = fmt::format("not reproduced in this setting: all {} outputs are the same bits; a cluster's "
                                        "own streams, neighbours and memory are not in it",
            calls);
    }
}

Result<StormAnswer> Storm::run()
{
    constexpr int mostLegs = 10;
    m_measurement.setPhase("storm", std::int64_t {mostLegs} * m_request.calls, "calls");
    TRY(runLegs());
    TRY(freshProcesses());
    TRY(everyGpu());
    m_answer.output = m_reference;
    conclude();
    return m_answer;
}

} // namespace

Result<StormAnswer> storm(Measurement& measurement, const FunctionChoice& choice, const StormRequest& request)
{
    if (!measurement.facts().own) {
        return failure(ErrorKind::usage,
            "a storm on a replay cell would test Nanscope, not your kernel; give your own function with "
            "--impl, or as own function in the window");
    }
    return Storm(measurement, choice, request).run();
}

} // namespace nanscope::instruments
