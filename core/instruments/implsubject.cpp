// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/implsubject.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/instruments/cellsubject.h"
#include "core/instruments/implchild.h"
#include "core/platform/shellword.h"

namespace nanscope::instruments {

namespace {

using Json = nlohmann::ordered_json;

constexpr double callsWhileOneLasts = 4; ///< a burst may take so many times its slowest call, beside the timeout
constexpr int mostAtOnce = 25; ///< calls of a burst between two looks at cancel and progress
// A new process takes seconds to import torch, and one that never returns a minute to be killed.
constexpr int mostDeaths = 10; ///< of a burst
constexpr int mostDeathsInARow = 3;

/// The range of what the function claims to be; where nobody said, of anything that is published.
void readRange(SubjectFacts& facts, const std::string& claimed)
{
    const auto variant = claimed.empty() ? Result<const replay::Variant*>(nullptr) : replay::findVariant(claimed);
    facts.rangeAssumed = !variant || *variant == nullptr;
    facts.outputRange = facts.rangeAssumed ? anyOutputRange() : replay::outputRange((*variant)->steps);
    facts.turnsDirections = !facts.rangeAssumed && turnsDirections(**variant);
}

SubjectFacts factsFrom(const Json& greeting, const ImplChoice& choice)
{
    SubjectFacts facts;
    facts.own = true;
    facts.name = "python:" + choice.target;
    facts.precision = "own";
    facts.how = textIn(greeting, "how");
    facts.source = textIn(greeting, "source");
    facts.gpus = static_cast<int>(std::clamp(numberIn(greeting, "gpus"), 0.0, 1024.0));
    readRange(facts, choice.variant);
    facts.environment = {textIn(greeting, "engine"), textIn(greeting, "device"), textIn(greeting, "hardware"),
        textIn(greeting, "cuda"), static_cast<int>(std::clamp(numberIn(greeting, "threads"), 1.0, 1e6)),
        textIn(greeting, "flags")};
    return facts;
}

void readChange(const Json& answer, Reply& reply)
{
    constexpr double most = 1e15; // an answer is a stranger's, and a conversion of 1e300 is undefined
    reply.inputChanged = static_cast<std::int64_t>(std::clamp(numberIn(answer, "changed"), 0.0, most));
    if (reply.inputChanged > 0) {
        reply.firstChanged = static_cast<std::int64_t>(std::clamp(numberIn(answer, "first"), 0.0, most));
    }
    reply.sharesStorage = flagIn(answer, "shared");
}

BurstCall callFrom(const Json& result)
{
    const bool good = result.is_array() && result.size() == 2 && result[0].is_string() && result[1].is_boolean();
    return good ? BurstCall {result[0].get<std::string>().substr(0, 64), result[1].get<bool>()} : BurstCall {{}, false};
}

void addResults(const Json& answer, int calls, Burst& burst)
{
    const auto results = answer.find("results");
    const auto errors = answer.find("errors");
    for (int i = 0; i < calls; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool there = results != answer.end() && results->is_array() && at < results->size();
        burst.calls.push_back(there ? callFrom((*results)[at]) : BurstCall {{}, false});
    }
    if (errors != answer.end() && errors->is_array()) {
        for (const auto& error : *errors) {
            burst.complaints.push_back(error.is_string() ? error.get<std::string>() : std::string());
        }
    }
}

/// A call that died is one without an output; what else the deaths cost is said.
void addDeaths(int deaths, int lost, int notMade, Burst& burst)
{
    if (lost > 0) {
        burst.complaints.push_back(fmt::format("the outputs of {} that had returned went with the process before they "
                                               "were looked at; as many calls were made in their place",
            counted(lost, "call")));
    }
    if (notMade > 0) {
        burst.complaints.push_back(fmt::format(
            "the process ended {} times, so that {} of the calls asked for were not made", deaths, notMade));
    }
}

Json burstRequest(const BurstOptions& options)
{
    constexpr std::int64_t hold = std::int64_t {256} << 20;
    return {{"do", "burst"}, {"calls", options.calls}, {"poison", options.poison}, {"fill", options.fill},
        {"producer", options.producer}, {"streams", options.streams}, {"threads", options.threads}, {"hold", hold}};
}

} // namespace

Result<std::string> implTarget(std::string_view impl)
{
    constexpr std::string_view prefix = "python:";
    const auto target = impl.substr(std::min(prefix.size(), impl.size()));
    const auto colon = target.rfind(':');
    if (!impl.starts_with(prefix) || colon == std::string_view::npos || colon == 0 || colon + 1 == target.size()) {
        return failure(ErrorKind::usage,
            fmt::format("'{}' names no function; write python:MODULE:FUNCTION or python:/path/file.py:FUNCTION", impl));
    }
    return std::string(target);
}

std::string harnessCommand(const ImplChoice& choice)
{
    return fmt::format("{} -u nanscope_impl.py {} {}", platform::shellQuoted(choice.python.string()),
        platform::shellQuoted(choice.target), platform::shellQuoted(choice.device));
}

ImplSubject::ImplSubject(ImplChoice choice)
    : m_choice(std::move(choice))
{ }

ImplSubject::~ImplSubject() = default;

Result<std::unique_ptr<ImplSubject>> ImplSubject::make(const ImplChoice& choice, const CancelToken& cancel)
{
    std::unique_ptr<ImplSubject> subject(new ImplSubject(choice));
    if (auto started = subject->renew(cancel); !started) {
        return tl::make_unexpected(started.error());
    }
    return subject;
}

Result<void> ImplSubject::renew(const CancelToken& cancel)
{
    m_child.reset();
    auto child = Child::start(m_choice, cancel);
    if (!child) {
        return tl::make_unexpected(child.error());
    }
    m_child = std::move(*child);
    m_facts = factsFrom(m_child->greeting(), m_choice);
    return {};
}

/// A module that no longer loads may take minutes to say so, every time.
Result<void> ImplSubject::ensureAlive(const CancelToken& cancel)
{
    if (m_lost) {
        return tl::make_unexpected(*m_lost);
    }
    if (m_child && m_child->alive()) {
        return {};
    }
    auto started = renew(cancel);
    if (!started && started.error().kind != ErrorKind::cancelled) {
        m_lost = started.error();
    }
    return started;
}

SubjectFacts ImplSubject::facts() const
{
    return m_facts;
}

Result<Reply> ImplSubject::call(const Question& question, const CancelToken& cancel)
{
    if (auto alive = ensureAlive(cancel); !alive) {
        return tl::make_unexpected(alive.error());
    }
    Json request {{"do", "call"}};
    if (auto handed = m_child->hand(question, request); !handed) {
        return tl::make_unexpected(handed.error());
    }
    const auto asked = std::chrono::steady_clock::now();
    auto answer = m_child->ask(request, m_choice.timeout, cancel);
    if (!answer) {
        return tl::make_unexpected(answer.error());
    }
    Reply reply;
    if (!flagIn(answer->json, "ok")) {
        reply.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count();
        reply.complaint = answer->json.is_null() ? answer->complaint : textIn(answer->json, "error");
        return reply;
    }
    reply.seconds = numberIn(answer->json, "seconds");
    m_slowest = std::max(m_slowest, reply.seconds);
    readChange(answer->json, reply);
    const auto dtype = parseDType(textIn(answer->json, "dtype"));
    auto output = m_child->take(dtype.value_or(DType::float32), question.input.shape);
    if (output) {
        reply.output = std::move(*output);
    } else {
        reply.complaint = sentence(output.error());
    }
    return reply;
}

/// What came of calls that were asked for together.
struct ImplSubject::BurstPart
{
    Burst burst;
    bool died = false; ///< the process: with the outputs of this many calls that had returned
    int lost = 0;
};

Result<ImplSubject::BurstPart> ImplSubject::burstPart(
    const Question& question, const BurstOptions& options, const CancelToken& cancel)
{
    if (auto alive = ensureAlive(cancel); !alive) {
        return tl::make_unexpected(alive.error());
    }
    auto request = burstRequest(options);
    auto handed = m_child->hand(question, request);
    handed = handed ? m_child->countReturns(options.calls, request) : handed;
    if (!handed) {
        return tl::make_unexpected(handed.error());
    }
    const auto patience = m_choice.timeout + callsWhileOneLasts * m_slowest * options.calls;
    auto answer = m_child->ask(request, patience, cancel);
    if (!answer) {
        return tl::make_unexpected(answer.error());
    }
    BurstPart part;
    if (answer->json.is_null()) {
        part.died = true;
        part.lost = std::min(m_child->returned(), options.calls - 1);
        part.burst = {{BurstCall {{}, false}}, {answer->complaint}};
        return part;
    }
    addResults(answer->json, options.calls, part.burst);
    if (const auto error = textIn(answer->json, "error"); !error.empty()) {
        part.burst.complaints.push_back(error);
    }
    return part;
}

Result<Burst> ImplSubject::burst(const Question& question, const BurstOptions& options, const JobContext& job)
{
    Burst burst;
    Progress progress;
    int atOnce = mostAtOnce;
    int deaths = 0;
    int inARow = 0;
    int lost = 0;
    while (progress.done < options.calls && deaths < mostDeaths && inARow < mostDeathsInARow) {
        auto part = options;
        part.calls = std::min(options.calls - static_cast<int>(progress.done), atOnce);
        auto done = burstPart(question, part, job.cancel);
        if (!done) {
            return tl::make_unexpected(done.error());
        }
        if (done->died) {
            // What had returned is called anew, and so many together that the next death takes no output with it.
            atOnce = done->lost > 0 ? done->lost : atOnce;
            lost += done->lost;
            ++deaths;
        }
        inARow = done->died ? inARow + 1 : 0;
        burst.calls.insert(burst.calls.end(), done->burst.calls.begin(), done->burst.calls.end());
        burst.complaints.insert(burst.complaints.end(), done->burst.complaints.begin(), done->burst.complaints.end());
        progress.done = static_cast<std::int64_t>(burst.calls.size());
        job.progress(progress);
    }
    addDeaths(deaths, lost, options.calls - static_cast<int>(progress.done), burst);
    return burst;
}

} // namespace nanscope::instruments
