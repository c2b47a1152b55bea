// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/implchild.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>

#include <fmt/format.h>

#include "core/base/utf8.h"
#include "core/platform/platform.h"

namespace nanscope::instruments {

namespace {

using namespace std::chrono_literals;
using Clock = platform::ChildProcess::Clock;

constexpr auto look = 50ms; ///< a cancel is seen at least this often
constexpr std::size_t mostText = 400;
// A busy machine takes minutes to import torch, which is no fault of a call.
constexpr double leastStart = 300; ///< seconds

std::string lastLine(const std::string& text)
{
    const auto end = text.find_last_not_of(" \n\r\t");
    if (end == std::string::npos) {
        return {};
    }
    const auto before = text.find_last_of('\n', end);
    const auto begin = before == std::string::npos ? 0 : before + 1;
    return printableLines(text.substr(begin, std::min(end + 1 - begin, mostText)));
}

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

} // namespace

std::string textIn(const nlohmann::ordered_json& json, const char* key)
{
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? printableLines(found->get<std::string>().substr(0, mostText))
                                                     : std::string();
}

double numberIn(const nlohmann::ordered_json& json, const char* key)
{
    const auto found = json.find(key);
    return found != json.end() && found->is_number() ? found->get<double>() : 0.0;
}

bool flagIn(const nlohmann::ordered_json& json, const char* key)
{
    const auto found = json.find(key);
    return found != json.end() && found->is_boolean() && found->get<bool>();
}

Result<std::unique_ptr<ImplSubject::Child>> ImplSubject::Child::start(
    const ImplChoice& choice, const CancelToken& cancel)
{
    auto folder = platform::PrivateFolder::make();
    if (!folder) {
        return tl::make_unexpected(folder.error());
    }
    std::unique_ptr<Child> child(new Child(std::move(*folder)));
    const auto script = child->path("nanscope_impl.py");
    if (auto written = writeFile(script, std::as_bytes(std::span(harnessSource()))); !written) {
        return tl::make_unexpected(written.error());
    }
    auto process = platform::ChildProcess::start({choice.python, {"-u", script, choice.target, choice.device}, {}});
    if (!process) {
        return tl::make_unexpected(process.error());
    }
    child->m_process = std::move(*process);
    auto greeting = child->read(std::max(choice.timeout, leastStart), "it was not ready", cancel);
    if (!greeting) {
        return tl::make_unexpected(greeting.error());
    }
    if (!flagIn(greeting->json, "ok")) {
        const auto why = greeting->json.is_null() ? greeting->complaint : textIn(greeting->json, "error");
        return failure(
            ErrorKind::usage, fmt::format("{} could not be loaded: {}", choice.target, why), choice.python.string());
    }
    child->m_greeting = std::move(greeting->json);
    return child;
}

ImplSubject::Child::Answer ImplSubject::Child::gone(const std::string& how)
{
    const auto said = lastLine(m_process->errors());
    m_process.reset();
    return {nullptr, said.empty() ? how : fmt::format("{}; its last words: {}", how, said)};
}

Result<ImplSubject::Child::Answer> ImplSubject::Child::read(double seconds, const char* late, const CancelToken& cancel)
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

Result<ImplSubject::Child::Answer> ImplSubject::Child::ask(
    const Json& request, double seconds, const CancelToken& cancel)
{
    if (auto sent =
            m_process->writeLine(request.dump(-1, ' ', false, Json::error_handler_t::replace), Clock::now() + 5s);
        !sent) {
        return gone("the function's process " + named(m_process->end(Clock::now() + 1s)));
    }
    return read(seconds, "the function did not return", cancel);
}

Result<void> ImplSubject::Child::hand(const Question& question, Json& request)
{
    const auto& input = question.input;
    const auto hash = hashOf(input);
    if (hash != m_handed) {
        m_handed.clear();
        if (auto written = writeFile(path("input"), input.bytes); !written) {
            return written;
        }
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

Result<void> ImplSubject::Child::countReturns(int calls, Json& request) const
{
    request["returned"] = path("returned");
    return writeFile(path("returned"), std::vector<std::byte>(static_cast<std::size_t>(calls)));
}

int ImplSubject::Child::returned() const
{
    std::ifstream file(path("returned"), std::ios::binary);
    return static_cast<int>(std::count(std::istreambuf_iterator<char>(file), {}, char {1}));
}

Result<Matrices> ImplSubject::Child::take(DType dtype, const Shape& shape) const
{
    const auto file = platform::FileReader::open(path("output"));
    if (!file) {
        return tl::make_unexpected(file.error());
    }
    const auto whole = matrixShape(shape);
    const auto bytes = static_cast<std::uint64_t>(whole.batch * whole.elements()) * sizeOf(dtype);
    if (file->size() != bytes) {
        return failure(ErrorKind::format, "the output does not have the bytes its shape needs");
    }
    Matrices result {dtype, shape, {}, std::vector<std::byte>(bytes)};
    return file->readAt(0, result.bytes).map([&] { return std::move(result); });
}

} // namespace nanscope::instruments
