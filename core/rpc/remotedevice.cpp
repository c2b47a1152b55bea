// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/remotedevice.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/json/jsonfields.h"
#include "core/platform/sharedmemory.h"
#include "core/replay/program/programjson.h"
#include "core/rpc/answers.h"
#include "core/rpc/requests.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::rpc {

namespace {

using namespace std::chrono_literals;
using jsonread::valueIn;

/// A line that is taken by a process that lives.
constexpr auto takesLineWithin = 10s;

Result<void> nothing(const nlohmann::ordered_json&)
{
    return {};
}

Error errorOf(const nlohmann::ordered_json& answer)
{
    const auto kind = valueIn<int>(answer, "kind");
    const bool known = kind >= 0 && kind <= static_cast<int>(ErrorKind::internal);
    return {known ? static_cast<ErrorKind>(kind) : ErrorKind::internal, valueIn<std::string>(answer, "error"), {}};
}

std::string checksumOf(ValueView values)
{
    tensorfile::ContentHash hash;
    values.visit([&](auto numbers) {
        hash.add(std::uint64_t {sizeof(numbers.front())});
        hash.add(std::as_bytes(numbers));
    });
    return hash.hex();
}

Environment environmentOf(const nlohmann::ordered_json& said)
{
    return {valueIn<std::string>(said, "engine"), valueIn<std::string>(said, "device"),
        valueIn<std::string>(said, "hardware"), valueIn<std::string>(said, "cuda"), valueIn<int>(said, "threads"),
        valueIn<std::string>(said, "flags")};
}

} // namespace

/// Numbers for the other process; `sum` becomes m_handedOver once it has taken them.
struct RemoteDevice::HandedOver
{
    std::string sum;
    Json json;
    std::optional<platform::SharedBlock> block {};
};

RemoteDevice::RemoteDevice(platform::ChildProcess process, std::string path, std::chrono::milliseconds patience)
    : m_process(std::move(process))
    , m_path(std::move(path))
    , m_patience(patience)
{ }

Result<std::unique_ptr<replay::Device>> RemoteDevice::start(
    const platform::ChildProgram& program, const CancelToken& cancel, const RemotePatience& patience)
{
    auto process = TRY(platform::ChildProcess::start(program));
    std::unique_ptr<RemoteDevice> device(new RemoteDevice(std::move(process), program.path.string(), patience.hello));
    device->heed(cancel);
    const auto answer = TRY(device->ask({{"do", "hello"}, {"beats", true}}));
    const auto& said = member(answer, "hello");
    if (!isOfThisVersion(said)) {
        return device->lose("is of another version of Nanscope: build it again");
    }
    device->m_environment = environmentOf(said);
    device->m_patience = member(said, "beats") == true ? std::optional(patience.silence) : std::nullopt;
    for (const auto& format : member(said, "native")) {
        if (const auto precision = format.is_string() ? parsePrecision(format.get<std::string>()) : std::nullopt) {
            device->m_native.insert(*precision);
        }
    }
    return std::unique_ptr<replay::Device>(std::move(device));
}

tl::unexpected<Error> RemoteDevice::lose(const std::string& how) const
{
    const auto ending = how.empty() ? m_process->end(Clock::now() + 2s) : m_process->kill();
    const auto why = lastLine(m_process->errors());
    m_process.reset();
    platform::removeAbandonedBlocks();
    auto what = "the worker " + (how.empty() ? ending : how);
    m_lost = Error {ErrorKind::io, why.empty() ? what : fmt::format("{} (\"{}\")", what, why), m_path};
    return tl::make_unexpected(*m_lost);
}

/// A process that ended once it had answered took the block of its answer with it.
template <class T>
Result<T> RemoteDevice::readable(Result<T> unpacked) const
{
    return unpacked ? std::move(unpacked) : lose(fmt::format("gave what cannot be read: {}", unpacked.error().what));
}

tl::unexpected<Error> RemoteDevice::fellSilent() const
{
    if (m_environment == Environment()) {
        return lose("does not say what it is");
    }
    return lose(
        fmt::format("and {} have given no sign of life for {:.3g} s and were ended: the process was stopped, or "
                    "the machine is short of memory; start again, or choose the CPU",
            m_environment.device, std::chrono::duration<double>(m_patience.value_or(takesLineWithin)).count()));
}

Result<nlohmann::ordered_json> RemoteDevice::ask(const Json& request) const
{
    if (!m_process) {
        return tl::make_unexpected(*m_lost);
    }
    if (!m_process->writeLine(jsonText(request), Clock::now() + takesLineWithin)) {
        return m_process->running() ? fellSilent() : lose({});
    }
    return answer();
}

Result<nlohmann::ordered_json> RemoteDevice::answer() const
{
    constexpr auto slice = 50ms;
    Clock::duration silent {};
    for (std::string line;;) {
        if (cancelToken().cancelled()) {
            lose("was stopped");
            m_lost = Error {ErrorKind::cancelled, "the replay was cancelled", {}};
            return tl::make_unexpected(*m_lost);
        }
        const auto began = Clock::now();
        const auto got = m_process->readLine(line, began + slice);
        if (!got || *got == platform::ChildProcess::Got::end) {
            return lose(got ? std::string() : "sends a line without end and was stopped");
        }
        // Whoever waits may have been stopped too, as by Ctrl-Z: then nobody listened.
        silent += std::min<Clock::duration>(Clock::now() - began, 2 * slice);
        // What a library prints on its own is no answer.
        auto json = *got == platform::ChildProcess::Got::line ? parseServiceLine(line) : Json();
        if (json.contains("working")) {
            silent = {};
        } else if (json.is_object()) {
            return json.contains("error") ? Result<Json>(tl::make_unexpected(errorOf(json))) : std::move(json);
        }
        if (m_patience && silent > *m_patience) {
            return fellSilent();
        }
    }
}

Result<void> RemoteDevice::flush()
{
    if (m_waiting.empty()) {
        return {};
    }
    const auto code = std::exchange(m_waiting, {});
    return ask({{"do", "run"}, {"code", jsonArray(code, replay::instructionToJson)}}).and_then(nothing);
}

Result<nlohmann::ordered_json> RemoteDevice::askAfterwards(const Json& request)
{
    return flush().and_then([&] { return ask(request); });
}

std::int64_t RemoteDevice::batchLimit(const replay::Program& program) const
{
    const auto answer = ask({{"do", "limit"}, {"program", replay::programToJson(program)}});
    return std::max<std::int64_t>(1, answer ? valueIn<std::int64_t>(*answer, "limit") : 1);
}

Result<void> RemoteDevice::prepare(const replay::Program& program, std::int64_t batch)
{
    m_waiting.clear();
    return ask({{"do", "prepare"}, {"program", replay::programToJson(program)}, {"batch", batch}})
        .map([this](const Json& answer) { jsonread::read(member(answer, "flags"), m_environment.flags); });
}

/// A verdict decomposes one input and replays it some twenty times, and a large one takes longer to hand over than to
/// replay.
Result<RemoteDevice::HandedOver> RemoteDevice::handOver(ValueView input)
{
    HandedOver there;
    there.sum = checksumOf(input);
    there.json["again"] = true;
    if (there.sum == std::exchange(m_handedOver, {})) {
        return there;
    }
    return packValues(input).map([&](PackedAnswer packed) {
        there.json = std::move(packed.json);
        there.block = std::move(packed.block);
        return std::move(there);
    });
}

Result<void> RemoteDevice::upload(ValueView input)
{
    auto there = TRY(handOver(input));
    there.json["do"] = "upload";
    return askAfterwards(there.json).and_then(nothing).map([&] { m_handedOver = std::move(there.sum); });
}

Result<void> RemoteDevice::run(const replay::Instruction& instruction)
{
    m_waiting.push_back(instruction);
    return {};
}

Result<void> RemoteDevice::overwrite(
    replay::BufferId buffer, std::int64_t element, const replay::Region& region, std::span<const double> values)
{
    return askAfterwards(
        {{"do", "overwrite"}, {"buffer", buffer}, {"element", element},
            {"region", {region.row, region.col, region.rows, region.cols}}, {"values", jsonArray(values, jsonNumber)}})
        .and_then(nothing);
}

Result<void> RemoteDevice::rescan(const replay::Instruction& instruction)
{
    return askAfterwards({{"do", "rescan"}, {"instruction", replay::instructionToJson(instruction)}}).and_then(nothing);
}

Result<std::vector<Scan>> RemoteDevice::scans()
{
    return askAfterwards({{"do", "scans"}}).and_then([](const Json& answer) -> Result<std::vector<Scan>> {
        std::vector<Scan> scans;
        for (const auto& json : member(answer, "scans")) {
            if (!scanFromJson(json, scans.emplace_back())) {
                return damagedAnswer();
            }
        }
        return scans;
    });
}

Result<Values> RemoteDevice::download(
    replay::BufferId buffer, std::int64_t element, const std::optional<replay::Region>& part)
{
    Json request {{"do", "download"}, {"buffer", buffer}, {"element", element}};
    if (part) {
        request["region"] = {part->row, part->col, part->rows, part->cols};
    }
    return askAfterwards(request).and_then([this](const Json& answer) { return readable(unpackValues(answer)); });
}

Result<TileMap> RemoteDevice::tileMap(replay::BufferId buffer, std::int64_t element)
{
    return askAfterwards({{"do", "tiles"}, {"buffer", buffer}, {"element", element}})
        .and_then([this](const Json& answer) { return readable(unpackTiles(answer)); });
}

Result<std::optional<double>> RemoteDevice::largestEigenvalue(replay::BufferId buffer, std::int64_t element)
{
    return askAfterwards({{"do", "eigenvalue"}, {"buffer", buffer}, {"element", element}}).map([](const Json& answer) {
        return jsonread::number(member(answer, "eigenvalue"));
    });
}

std::optional<replay::Eigenbasis> RemoteDevice::eigenbasisOfGram(
    ValueView matrix, const MatrixShape& shape, std::span<const double> columns)
{
    auto x = handOver(matrix);
    const auto beside = packValues(columns);
    if (!x || !beside) {
        return std::nullopt;
    }
    const auto answer = askAfterwards({{"do", "eigenbasis"}, {"rows", shape.rows}, {"cols", shape.cols},
        {"matrix", x->json}, {"columns", beside->json}});
    if (answer) {
        m_handedOver = std::move(x->sum); // its first replay needs no other
    }
    if (!answer || !answer->contains("count")) {
        return std::nullopt;
    }
    const auto values = unpackValues(*answer);
    const auto size = static_cast<std::size_t>(std::min(shape.rows, shape.cols));
    if (!values || values->size() != size + columns.size()) {
        return std::nullopt;
    }
    const auto end = values->begin() + static_cast<std::ptrdiff_t>(size);
    return replay::Eigenbasis {{values->begin(), end}, {end, values->end()}};
}

Result<std::unique_ptr<replay::Device>> openDevice(
    const std::string& name, const CancelToken& cancel, const std::filesystem::path& worker)
{
    if (auto own = replay::makeCoreDevice(name)) {
        return own;
    }
    const auto program =
        TRY(workerWith(worker, {"serve", "--device", name}, ErrorKind::usage, fmt::format("'{}'", name)));
    return RemoteDevice::start(program, cancel);
}

replay::DeviceFactory deviceFactory(const CancelToken& cancel, const std::filesystem::path& worker)
{
    return [cancel, worker](const std::string& name) { return openDevice(name, cancel, worker); };
}

} // namespace nanscope::rpc
