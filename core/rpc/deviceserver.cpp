// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/deviceserver.h"

#include <array>
#include <exception>
#include <istream>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/json/jsonfields.h"
#include "core/platform/sharedmemory.h"
#include "core/replay/program/programjson.h"
#include "core/rpc/answers.h"
#include "core/rpc/requests.h"
#include "core/session/sessiontypes.h"

namespace nanscope::rpc {

namespace {

using Json = nlohmann::ordered_json;

Result<Json> done()
{
    return Json {{"done", true}};
}

tl::unexpected<Error> wrong(const char* what)
{
    return failure(ErrorKind::usage, what);
}

template <class T>
T valueIn(const Json& json, const char* key)
{
    T value {};
    jsonread::read(member(json, key), value);
    return value;
}

class DeviceService
{
public:
    explicit DeviceService(replay::Device& device)
        : m_device(device)
    { }

    Result<Json> answer(const Json& request);

private:
    Json hello() const;
    Result<Json> limit(const Json& request) const;
    Result<Json> prepare(const Json& request);
    Result<Json> upload(const Json& request);
    Result<Json> run(const Json& request);
    Result<Json> rescan(const Json& request);
    Result<Json> overwrite(const Json& request);
    Result<Json> scans();
    Result<Json> download(const Json& request);
    Result<Json> tiles(const Json& request);

    struct Place
    {
        replay::BufferId buffer = 0;
        std::int64_t element = 0;
    };
    Result<Place> placeIn(const Json& request) const;

    replay::Device& m_device;
    replay::Program m_program;
    std::int64_t m_batch = 0;
    std::optional<platform::SharedBlock> m_block; ///< of the last answer, until the next one
};

Result<Json> DeviceService::answer(const Json& request)
{
    const auto verb = valueIn<std::string>(request, "do");
    m_block.reset();
    if (verb == "hello") {
        return hello();
    }
    if (verb == "limit") {
        return limit(request);
    }
    if (verb == "prepare") {
        return prepare(request);
    }
    if (m_batch == 0) {
        return wrong("no program is prepared");
    }
    if (verb == "upload") {
        return upload(request);
    }
    if (verb == "run") {
        return run(request);
    }
    if (verb == "rescan") {
        return rescan(request);
    }
    if (verb == "overwrite") {
        return overwrite(request);
    }
    if (verb == "scans") {
        return scans();
    }
    if (verb == "download") {
        return download(request);
    }
    return verb == "tiles" ? tiles(request) : wrong("a device does no such thing");
}

Json DeviceService::hello() const
{
    auto native = Json::array();
    for (const auto precision : allPrecisions()) {
        if (m_device.native(precision)) {
            native.push_back(name(precision));
        }
    }
    const auto environment = m_device.environment();
    return {{"hello",
        {{"engine", environment.engine}, {"device", environment.device}, {"hardware", environment.hardware},
            {"cuda", environment.cuda}, {"threads", environment.threads}, {"flags", environment.flags},
            {"native", std::move(native)}, {"sessions", session::sessionSchemaVersion}}}};
}

Result<Json> DeviceService::limit(const Json& request) const
{
    return replay::programFromJson(member(request, "program")).map([this](const replay::Program& program) {
        return Json {{"limit", m_device.batchLimit(program)}};
    });
}

Result<Json> DeviceService::prepare(const Json& request)
{
    auto program = replay::programFromJson(member(request, "program"));
    const auto batch = valueIn<std::int64_t>(request, "batch");
    if (!program || batch < 1) {
        return program ? wrong("\"batch\" is not a number from 1 on") : tl::make_unexpected(program.error());
    }
    m_batch = 0;
    return m_device.prepare(*program, batch).and_then([&] {
        m_program = std::move(*program);
        m_batch = batch;
        return Result<Json>(Json {{"done", true}, {"flags", m_device.environment().flags}});
    });
}

Result<Json> DeviceService::upload(const Json& request)
{
    const auto values = unpackValues(request);
    if (!values) {
        return tl::make_unexpected(values.error());
    }
    if (static_cast<std::int64_t>(values->size()) != m_batch * m_program.shape.elements()) {
        return wrong("the input is not of the size of the program's");
    }
    return m_device.upload(*values).and_then(done);
}

Result<Json> DeviceService::run(const Json& request)
{
    for (const auto& one : member(request, "code")) {
        const auto instruction = replay::instructionFromJson(one, m_program);
        if (!instruction) {
            return tl::make_unexpected(instruction.error());
        }
        if (auto ran = m_device.run(*instruction); !ran) {
            return tl::make_unexpected(ran.error());
        }
    }
    return done();
}

Result<Json> DeviceService::rescan(const Json& request)
{
    return replay::instructionFromJson(member(request, "instruction"), m_program)
        .and_then([this](const replay::Instruction& instruction) { return m_device.rescan(instruction); })
        .and_then(done);
}

Result<DeviceService::Place> DeviceService::placeIn(const Json& request) const
{
    const Place place {valueIn<int>(request, "buffer"), valueIn<std::int64_t>(request, "element")};
    const bool there = place.buffer >= 0 && place.buffer < static_cast<int>(m_program.buffers.size())
        && place.element >= 0 && place.element < m_batch;
    return there ? Result<Place>(place) : wrong("there is no such buffer");
}

Result<Json> DeviceService::overwrite(const Json& request)
{
    const auto place = placeIn(request);
    const auto& corners = member(request, "region");
    if (!place || !corners.is_array() || corners.size() != 4) {
        return place ? wrong("\"region\" is not [row, col, rows, cols]") : tl::make_unexpected(place.error());
    }
    std::array<std::int64_t, 4> region {-1, -1, -1, -1};
    for (std::size_t i = 0; i < region.size(); ++i) {
        jsonread::read(corners[i], region[i]);
    }
    const auto& plan = m_program.buffers[static_cast<std::size_t>(place->buffer)];
    const auto rows = plan.transposed ? plan.cols : plan.rows;
    const auto cols = plan.transposed ? plan.rows : plan.cols;
    const auto [row, col, height, width] = region;
    std::vector<double> values;
    for (const auto& value : member(request, "values")) {
        values.push_back(jsonread::number(value).value_or(0));
    }
    const bool inside =
        row >= 0 && col >= 0 && height >= 0 && width >= 0 && height <= rows - row && width <= cols - col;
    if (!inside || static_cast<std::int64_t>(values.size()) != height * width) {
        return wrong("the region does not lie in its buffer");
    }
    return m_device.overwrite(place->buffer, place->element, {row, col, height, width}, values).and_then(done);
}

Result<Json> DeviceService::scans()
{
    return m_device.scans().map([](const std::vector<Scan>& scans) {
        return Json {{"scans", jsonArray(scans, scanToJson)}};
    });
}

Result<Json> DeviceService::download(const Json& request)
{
    const auto place = placeIn(request);
    const auto values = place ? m_device.download(place->buffer, place->element) : tl::make_unexpected(place.error());
    if (!values) {
        return tl::make_unexpected(values.error());
    }
    return packValues(*values).map([this](PackedAnswer answer) {
        m_block = std::move(answer.block);
        return std::move(answer.json);
    });
}

Result<Json> DeviceService::tiles(const Json& request)
{
    const auto place = placeIn(request);
    const auto tiles = place ? m_device.tileMap(place->buffer, place->element) : tl::make_unexpected(place.error());
    if (!tiles) {
        return tl::make_unexpected(tiles.error());
    }
    return packTiles(*tiles).map([this](PackedAnswer answer) {
        m_block = std::move(answer.block);
        return std::move(answer.json);
    });
}

Result<Json> guardedAnswer(DeviceService& service, const Json& request)
{
    try {
        return service.answer(request);
    } catch (const std::exception& error) {
        return failure(ErrorKind::internal, fmt::format("the device stopped: {}", error.what()));
    }
}

} // namespace

int serveDevice(std::istream& in, std::ostream& out, replay::Device& device)
{
    DeviceService service(device);
    std::string line;
    while (out) {
        const auto kind = readRequestLine(in, line);
        if (kind == RequestLine::end) {
            break;
        }
        const auto request = kind == RequestLine::tooLong ? Json() : parseServiceLine(line);
        const auto answer =
            request.is_object() ? guardedAnswer(service, request) : wrong("a request is one JSON object per line");
        out << jsonText(answer
                ? *answer
                : Json {{"error", sentence(answer.error())}, {"kind", static_cast<int>(answer.error().kind)}})
            << '\n'
            << std::flush;
    }
    return 0;
}

} // namespace nanscope::rpc
