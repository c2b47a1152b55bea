// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/functiontarget.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/base/try.h"
#include "core/base/utf8.h"
#include "core/instruments/celltarget.h"
#include "core/platform/childprocess.h"
#include "core/platform/platform.h"
#include "core/platform/privatefolder.h"

namespace nanscope::instruments {

namespace {

using namespace std::chrono_literals;
using Clock = platform::ChildProcess::Clock;
using Json = nlohmann::ordered_json;

constexpr auto look = 50ms; ///< a cancel is seen at least this often
constexpr std::size_t mostText = 400;
// A busy machine takes minutes to import torch, which is no fault of a call.
constexpr double leastStart = 300; ///< seconds

/// "was ended by signal 11" with the name people know it by.
std::string named(const std::string& ending)
{
    constexpr std::pair<int, const char*> names[] {{SIGSEGV, "segmentation fault"}, {SIGABRT, "abort"},
        {SIGBUS, "bus error"}, {SIGFPE, "arithmetic fault"}, {SIGILL, "illegal instruction"},
        {SIGKILL, "killed, perhaps for want of memory"}, {SIGTERM, "terminated"}};
    for (const auto& [signal, name] : names) {
        if (ending == fmt::format("was ended by signal {}", signal)) {
            return fmt::format("{} ({})", ending, name);
        }
    }
    return ending;
}

std::chrono::duration<double> secondsOf(double seconds)
{
    return std::chrono::duration<double>(std::min(seconds, 1e6));
}

Result<void> writeFile(const std::string& path, std::span<const std::byte> bytes)
{
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) {
        return failure(ErrorKind::io, "The input for the function cannot be written; is the disk full?", path);
    }
    return {};
}

/// A field of an answer from outside; what is missing or of another type is 0, empty or false.
std::string textIn(const Json& json, const char* key)
{
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? printableLines(found->get<std::string>().substr(0, mostText))
                                                     : std::string();
}

double numberIn(const Json& json, const char* key)
{
    const auto found = json.find(key);
    return found != json.end() && found->is_number() ? found->get<double>() : 0.0;
}

bool flagIn(const Json& json, const char* key)
{
    const auto found = json.find(key);
    return found != json.end() && found->is_boolean() && found->get<bool>();
}

constexpr double callsWhileOneLasts = 4; ///< a burst may take so many times its slowest call, beside the timeout
constexpr int mostAtOnce = 25; ///< calls of a burst between two looks at cancel and progress
// A new process takes seconds to import torch, and one that never returns a minute to be killed.
constexpr int mostDeaths = 10; ///< of a burst
constexpr int mostDeathsInARow = 3;

/// The range of what the function claims to be; where it claims to be none, of all that are published.
void readRange(TargetFacts& facts, const FunctionChoice& choice)
{
    const auto variant =
        choice.variant.empty() ? Result<const replay::Variant*>(nullptr) : choice.catalogue.find(choice.variant);
    facts.rangeAssumed = !variant || *variant == nullptr;
    facts.outputRange = facts.rangeAssumed ? anyOutputRange() : replay::outputRange((*variant)->steps);
    facts.turnsDirections = !facts.rangeAssumed && turnsDirections(**variant);
}

TargetFacts factsFrom(const Json& greeting, const FunctionChoice& choice)
{
    TargetFacts facts;
    facts.own = true;
    facts.name = "python:" + choice.target;
    facts.precision = "own";
    facts.how = textIn(greeting, "how");
    facts.source = textIn(greeting, "source");
    facts.uuid = textIn(greeting, "uuid");
    facts.gpus = static_cast<int>(std::clamp(numberIn(greeting, "gpus"), 0.0, 1024.0));
    readRange(facts, choice);
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

/// As resources/python/nanscope_impl.py reads it.
std::string fillName(EmptyMemory memory)
{
    switch (memory) {
    case EmptyMemory::asFound:
        return {};
    case EmptyMemory::zeros:
        return "zeros";
    case EmptyMemory::notANumber:
        return "nan";
    }
    return {};
}

Json burstRequest(const BurstOptions& options)
{
    constexpr std::int64_t hold = std::int64_t {256} << 20;
    return {{"do", "burst"}, {"calls", options.calls}, {"poison", options.poison},
        {"fill", fillName(options.emptyMemory)}, {"producer", options.producer}, {"streams", options.streams},
        {"threads", options.threads}, {"traffic", options.traffic}, {"hold", hold}};
}

} // namespace

/// The process that runs the harness (resources/python/nanscope_impl.py), and the folder it shares with this one.
class FunctionTarget::Child
{
public:
    static Result<std::unique_ptr<Child>> start(const FunctionChoice& choice, const CancelToken& cancel);

    /// What it said of itself when it started.
    const Json& greeting() const { return m_greeting; }
    bool alive() const { return m_process.has_value(); }

    /// Its answer, or why there is none, in one sentence; the process is gone then. Fails only when cancelled.
    struct Answer
    {
        Json json; ///< null: there is none
        std::string complaint;
    };
    Result<Answer> ask(const Json& request, double seconds, const CancelToken& cancel);

    /// Puts the input of a question where the child finds it and fills in the request's fields that name it. Fails
    /// where the function could only complain that it was given no epsilon.
    Result<void> hand(const Question& question, Json& request);
    /// Lets the child note which of so many calls returned, for when it does not live to answer; and how many did.
    Result<void> countReturns(int calls, Json& request) const;
    int returned() const;
    /// What the child wrote, which must be of this type and shape.
    Result<Matrices> take(DType dtype, const Shape& shape) const;

private:
    explicit Child(platform::PrivateFolder folder)
        : m_folder(std::move(folder))
    { }
    std::string path(const char* name) const { return (m_folder.path() / name).string(); }
    Answer gone(const std::string& how);
    Result<Answer> read(double seconds, const char* late, const CancelToken& cancel);

    platform::PrivateFolder m_folder;
    std::optional<platform::ChildProcess> m_process;
    Json m_greeting;
    std::string m_handed; ///< hash of the input that lies in the folder
};

Result<std::unique_ptr<FunctionTarget::Child>> FunctionTarget::Child::start(
    const FunctionChoice& choice, const CancelToken& cancel)
{
    auto folder = TRY(platform::PrivateFolder::make());
    std::unique_ptr<Child> child(new Child(std::move(folder)));
    const auto script = child->path("nanscope_impl.py");
    TRY(writeFile(script, std::as_bytes(std::span(harnessSource()))));
    child->m_process =
        TRY(platform::ChildProcess::start({choice.python, {"-u", script, choice.target, choice.device}, {}}));
    auto greeting = TRY(child->read(std::max(choice.timeout, leastStart), "it was not ready", cancel));
    if (!flagIn(greeting.json, "ok")) {
        const auto why = greeting.json.is_null() ? greeting.complaint : textIn(greeting.json, "error");
        const auto* remedy = flagIn(greeting.json, "lacks_module") ? "; --python names another Python" : "";
        return failure(ErrorKind::usage, fmt::format("{} could not be loaded: {}{}", choice.target, why, remedy),
            choice.python.string());
    }
    child->m_greeting = std::move(greeting.json);
    return child;
}

FunctionTarget::Child::Answer FunctionTarget::Child::gone(const std::string& how)
{
    const auto said = printableLines(lastLine(m_process->errors()));
    m_process.reset();
    return {nullptr, said.empty() ? how : fmt::format("{}; its last words: {}", how, said)};
}

Result<FunctionTarget::Child::Answer> FunctionTarget::Child::read(
    double seconds, const char* late, const CancelToken& cancel)
{
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(secondsOf(seconds));
    for (std::string line;;) {
        const auto got = m_process->readLine(line, std::min(until, Clock::now() + look));
        if (cancel.cancelled()) {
            m_process->kill();
            m_process.reset();
            return failure(ErrorKind::cancelled, "the measurement was cancelled");
        }
        if (!got || (*got == platform::ChildProcess::Got::end)) {
            const auto how = m_process->end(Clock::now() + 1s);
            return gone("the function's process " + named(how));
        }
        if (*got == platform::ChildProcess::Got::line) {
            auto json = Json::parse(line, nullptr, false);
            return json.is_object() ? Answer {std::move(json), {}}
                                    : gone("the function's process sent what is no answer");
        }
        if (Clock::now() >= until) {
            m_process->kill();
            return gone(fmt::format("{} within {:g} s and was killed (--timeout)", late, seconds));
        }
    }
}

Result<FunctionTarget::Child::Answer> FunctionTarget::Child::ask(
    const Json& request, double seconds, const CancelToken& cancel)
{
    if (auto sent =
            m_process->writeLine(request.dump(-1, ' ', false, Json::error_handler_t::replace), Clock::now() + 5s);
        !sent) {
        return gone("the function's process " + named(m_process->end(Clock::now() + 1s)));
    }
    return read(seconds, "the function did not return", cancel);
}

Result<void> FunctionTarget::Child::hand(const Question& question, Json& request)
{
    if (const auto needed = textIn(m_greeting, "needs_epsilon"); !needed.empty() && !question.epsilon) {
        return failure(ErrorKind::usage,
            fmt::format("the function was not called: it requires an epsilon (its argument {}), and the capture holds "
                        "none; `nanscope measure` takes one, as in --epsilon 1e-7",
                needed));
    }
    const auto& input = question.input;
    const auto hash = hashOf(input);
    if (hash != m_handed) {
        m_handed.clear();
        TRY(writeFile(path("input"), input.bytes));
        m_handed = hash;
    }
    request["input"] = path("input");
    request["output"] = path("output");
    request["dtype"] = torchName(input.dtype);
    request["shape"] = input.shape;
    request["strides"] = input.strides.empty() ? Json(nullptr) : Json(input.strides);
    request["epsilon"] = question.epsilon ? Json(*question.epsilon) : Json(nullptr);
    return {};
}

Result<void> FunctionTarget::Child::countReturns(int calls, Json& request) const
{
    request["returned"] = path("returned");
    return writeFile(path("returned"), std::vector<std::byte>(static_cast<std::size_t>(calls)));
}

int FunctionTarget::Child::returned() const
{
    std::ifstream file(path("returned"), std::ios::binary);
    return static_cast<int>(std::count(std::istreambuf_iterator<char>(file), {}, char {1}));
}

Result<Matrices> FunctionTarget::Child::take(DType dtype, const Shape& shape) const
{
    const auto file = TRY(platform::FileReader::open(path("output")));
    const auto whole = matrixShape(shape);
    const auto bytes = static_cast<std::uint64_t>(whole.batch * whole.elements()) * sizeOf(dtype);
    if (file.size() != bytes) {
        return failure(ErrorKind::format, "the output does not have the bytes its shape needs");
    }
    Matrices result {dtype, shape, {}, std::vector<std::byte>(bytes)};
    return file.readAt(0, result.bytes).map([&] { return std::move(result); });
}

Result<std::string> functionTarget(std::string_view impl)
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

std::string harnessCommand(const FunctionChoice& choice)
{
    return fmt::format("{} -u nanscope_impl.py {} {}", platform::shellQuoted(choice.python.string()),
        platform::shellQuoted(choice.target), platform::shellQuoted(choice.device));
}

FunctionTarget::FunctionTarget(FunctionChoice choice)
    : m_choice(std::move(choice))
{ }

FunctionTarget::~FunctionTarget() = default;

Result<std::unique_ptr<FunctionTarget>> FunctionTarget::make(const FunctionChoice& choice, const CancelToken& cancel)
{
    std::unique_ptr<FunctionTarget> target(new FunctionTarget(choice));
    TRY(target->renew(cancel));
    return target;
}

Result<void> FunctionTarget::renew(const CancelToken& cancel)
{
    m_child.reset();
    m_child = TRY(Child::start(m_choice, cancel));
    m_facts = factsFrom(m_child->greeting(), m_choice);
    return {};
}

/// A module that no longer loads may take minutes to say so, every time.
Result<void> FunctionTarget::ensureAlive(const CancelToken& cancel)
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

TargetFacts FunctionTarget::facts() const
{
    return m_facts;
}

Result<Reply> FunctionTarget::call(const Question& question, const CancelToken& cancel)
{
    TRY(ensureAlive(cancel));
    Json request {{"do", "call"}};
    TRY(m_child->hand(question, request));
    const auto asked = std::chrono::steady_clock::now();
    auto answer = TRY(m_child->ask(request, m_choice.timeout, cancel));
    Reply reply;
    if (!flagIn(answer.json, "ok")) {
        reply.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count();
        reply.complaint = answer.json.is_null() ? answer.complaint : textIn(answer.json, "error");
        return reply;
    }
    reply.seconds = numberIn(answer.json, "seconds");
    m_slowest = std::max(m_slowest, reply.seconds);
    readChange(answer.json, reply);
    const auto dtype = parseDType(textIn(answer.json, "dtype"));
    auto output = m_child->take(dtype.value_or(DType::float32), question.input.shape);
    if (output) {
        reply.output = std::move(*output);
    } else {
        reply.complaint = sentence(output.error());
    }
    return reply;
}

/// What came of calls that were asked for together.
struct FunctionTarget::BurstPart
{
    Burst burst;
    bool died = false; ///< the process: with the outputs of this many calls that had returned
    int lost = 0;
};

Result<FunctionTarget::BurstPart> FunctionTarget::burstPart(
    const Question& question, const BurstOptions& options, const CancelToken& cancel)
{
    TRY(ensureAlive(cancel));
    auto request = burstRequest(options);
    TRY(m_child->hand(question, request));
    TRY(m_child->countReturns(options.calls, request));
    const auto patience = m_choice.timeout + callsWhileOneLasts * m_slowest * options.calls;
    auto answer = TRY(m_child->ask(request, patience, cancel));
    BurstPart part;
    if (answer.json.is_null()) {
        part.died = true;
        part.lost = std::min(m_child->returned(), options.calls - 1);
        part.burst = {{BurstCall {{}, false}}, {answer.complaint}};
        return part;
    }
    addResults(answer.json, options.calls, part.burst);
    if (const auto error = textIn(answer.json, "error"); !error.empty()) {
        part.burst.complaints.push_back(error);
    }
    return part;
}

Result<Burst> FunctionTarget::burst(const Question& question, const BurstOptions& options, const JobContext& job)
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
        auto done = TRY(burstPart(question, part, job.cancel));
        if (done.died) {
            // What had returned is called anew, and so many together that the next death takes no output with it.
            atOnce = done.lost > 0 ? done.lost : atOnce;
            lost += done.lost;
            ++deaths;
        }
        inARow = done.died ? inARow + 1 : 0;
        burst.calls.insert(burst.calls.end(), done.burst.calls.begin(), done.burst.calls.end());
        burst.complaints.insert(burst.complaints.end(), done.burst.complaints.begin(), done.burst.complaints.end());
        progress.done = static_cast<std::int64_t>(burst.calls.size());
        job.progress(progress);
    }
    addDeaths(deaths, lost, options.calls - static_cast<int>(progress.done), burst);
    return burst;
}

} // namespace nanscope::instruments
