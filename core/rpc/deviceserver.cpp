// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/deviceserver.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <istream>
#include <mutex>
#include <optional>
#include <ostream>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/base/try.h"
#include "core/json/jsonfields.h"
#include "core/platform/sharedmemory.h"
#include "core/replay/program/programjson.h"
#include "core/rpc/answers.h"
#include "core/rpc/requests.h"
#include "core/session/sessiontypes.h"

namespace nanscope::rpc {

namespace {

using Json = nlohmann::ordered_json;
using jsonread::valueIn;

Result<Json> done()
{
    return Json {{"done", true}};
}

tl::unexpected<Error> wrong(const char* what)
{
    return failure(ErrorKind::usage, what);
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
    Result<Json> eigenvalue(const Json& request);
    Result<Json> eigenbasis(const Json& request);
    Result<ValueView> input(const Json& request);

    struct Place
    {
        replay::BufferId buffer = 0;
        std::int64_t element = 0;
    };
    Result<Place> placeIn(const Json& request) const;
    Result<replay::Region> regionIn(const Json& request, const Place& place) const;
    Result<Json> packed(Result<PackedAnswer> answer);

    replay::Device& m_device;
    replay::Program m_program;
    std::int64_t m_batch = 0;
    std::optional<MappedValues> m_input; ///< handed over last, for an upload or to be decomposed
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
    if (verb == "eigenbasis") {
        return eigenbasis(request);
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
    if (verb == "tiles") {
        return tiles(request);
    }
    return verb == "eigenvalue" ? eigenvalue(request) : wrong("a device does no such thing");
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
            {"native", std::move(native)}, {"beats", true}, {"sessions", session::sessionSchemaVersion}}}};
}

Result<Json> DeviceService::limit(const Json& request) const
{
    return replay::programFromJson(member(request, "program")).map([this](const replay::Program& program) {
        return Json {{"limit", m_device.batchLimit(program)}};
    });
}

Result<Json> DeviceService::prepare(const Json& request)
{
    auto program = TRY(replay::programFromJson(member(request, "program")));
    const auto batch = valueIn<std::int64_t>(request, "batch");
    if (batch < 1) {
        return wrong("\"batch\" is not a number from 1 on");
    }
    m_batch = 0;
    return m_device.prepare(program, batch).and_then([&] {
        m_program = std::move(program);
        m_batch = batch;
        return Result<Json>(Json {{"done", true}, {"flags", m_device.environment().flags}});
    });
}

/// Kept where it lies, since a verdict replays one input some twenty times.
Result<ValueView> DeviceService::input(const Json& request)
{
    if (member(request, "again") == true) {
        return m_input ? Result<ValueView>(m_input->view()) : wrong("nothing was handed over before");
    }
    m_input.reset();
    return MappedValues::take(request).map([this](MappedValues values) {
        m_input = std::move(values);
        return m_input->view();
    });
}

Result<Json> DeviceService::upload(const Json& request)
{
    const auto values = TRY(input(request));
    if (static_cast<std::int64_t>(values.size()) != m_batch * m_program.shape.elements()) {
        return wrong("the input is not of the size of the program's");
    }
    return m_device.upload(values).and_then(done);
}

Result<Json> DeviceService::run(const Json& request)
{
    for (const auto& one : member(request, "code")) {
        const auto instruction = TRY(replay::instructionFromJson(one, m_program));
        TRY(m_device.run(instruction));
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

Result<replay::Region> DeviceService::regionIn(const Json& request, const Place& place) const
{
    const auto& corners = member(request, "region");
    if (!corners.is_array() || corners.size() != 4) {
        return wrong("\"region\" is not [row, col, rows, cols]");
    }
    std::array<std::int64_t, 4> region {-1, -1, -1, -1};
    for (std::size_t i = 0; i < region.size(); ++i) {
        jsonread::read(corners[i], region[i]);
    }
    const auto& plan = m_program.buffers[static_cast<std::size_t>(place.buffer)];
    const auto rows = plan.transposed ? plan.cols : plan.rows;
    const auto cols = plan.transposed ? plan.rows : plan.cols;
    const auto [row, col, height, width] = region;
    const bool inside =
        row >= 0 && col >= 0 && height >= 0 && width >= 0 && height <= rows - row && width <= cols - col;
    return inside ? Result<replay::Region>({row, col, height, width}) : wrong("the region does not lie in its buffer");
}

Result<Json> DeviceService::overwrite(const Json& request)
{
    const auto place = TRY(placeIn(request));
    const auto region = TRY(regionIn(request, place));
    std::vector<double> values;
    for (const auto& value : member(request, "values")) {
        values.push_back(jsonread::number(value).value_or(0));
    }
    if (static_cast<std::int64_t>(values.size()) != region.rows * region.cols) {
        return wrong("the values do not fill their region");
    }
    return m_device.overwrite(place.buffer, place.element, region, values).and_then(done);
}

Result<Json> DeviceService::packed(Result<PackedAnswer> answer)
{
    return std::move(answer).map([this](PackedAnswer whole) {
        m_block = std::move(whole.block);
        return std::move(whole.json);
    });
}

Result<Json> DeviceService::scans()
{
    return m_device.scans().map([](const std::vector<Scan>& scans) {
        return Json {{"scans", jsonArray(scans, scanToJson)}};
    });
}

Result<Json> DeviceService::download(const Json& request)
{
    const auto place = TRY(placeIn(request));
    std::optional<replay::Region> part;
    if (request.contains("region")) {
        part = TRY(regionIn(request, place));
    }
    const auto values = TRY(m_device.download(place.buffer, place.element, part));
    return packed(packValues(values));
}

Result<Json> DeviceService::tiles(const Json& request)
{
    const auto place = TRY(placeIn(request));
    const auto tiles = TRY(m_device.tileMap(place.buffer, place.element));
    return packed(packTiles(tiles));
}

Result<Json> DeviceService::eigenvalue(const Json& request)
{
    const auto place = TRY(placeIn(request));
    const auto& plan = m_program.buffers[static_cast<std::size_t>(place.buffer)];
    if (plan.rows != plan.cols) {
        return wrong("the buffer is not square");
    }
    return m_device.largestEigenvalue(place.buffer, place.element).map([](const std::optional<double>& value) {
        return Json {{"eigenvalue", value ? jsonNumber(*value) : Json()}};
    });
}

Result<Json> DeviceService::eigenbasis(const Json& request)
{
    const auto matrix = input(member(request, "matrix"));
    const auto columns = unpackValues(member(request, "columns"));
    if (!matrix || !columns) {
        return tl::make_unexpected(matrix ? columns.error() : matrix.error());
    }
    const MatrixShape shape {1, valueIn<std::int64_t>(request, "rows"), valueIn<std::int64_t>(request, "cols")};
    const auto size = std::min(shape.rows, shape.cols);
    const bool fits = size > 0 && static_cast<std::int64_t>(matrix->size()) / size == std::max(shape.rows, shape.cols)
        && static_cast<std::int64_t>(matrix->size()) == shape.elements()
        && static_cast<std::int64_t>(columns->size()) % size == 0;
    if (!fits) {
        return wrong("the matrix and the columns are not of the sizes that are said");
    }
    auto basis = m_device.eigenbasisOfGram(*matrix, shape, columns->doubles());
    if (!basis) {
        return done();
    }
    basis->values.insert(basis->values.end(), basis->rotated.begin(), basis->rotated.end());
    return packed(packValues(basis->values));
}

Result<Json> guardedAnswer(DeviceService& service, const Json& request)
{
    try {
        return service.answer(request);
    } catch (const std::exception& error) {
        return failure(ErrorKind::internal, fmt::format("the device stopped: {}", error.what()));
    }
}

/// A process that works at one request says so, where that was asked for: whoever waits can tell it from one that is
/// stopped.
class Heartbeat
{
public:
    explicit Heartbeat(std::ostream& out)
        : m_out(out)
        , m_thread([this] { beat(); })
    { }

    ~Heartbeat()
    {
        {
            const std::lock_guard lock(m_mutex);
            m_ended = true;
        }
        m_wake.notify_one();
        m_thread.join();
    }

    Heartbeat(const Heartbeat&) = delete;
    Heartbeat& operator=(const Heartbeat&) = delete;

    void begin(bool wanted)
    {
        const std::lock_guard lock(m_mutex);
        m_working = wanted;
    }

    void end(const std::string& answer)
    {
        const std::lock_guard lock(m_mutex);
        m_working = false;
        m_out << answer << '\n' << std::flush;
    }

private:
    void beat()
    {
        std::unique_lock lock(m_mutex);
        while (!m_wake.wait_for(lock, std::chrono::seconds(1), [this] { return m_ended; })) {
            if (m_working) {
                m_out << R"({"working":true})" << '\n' << std::flush;
            }
        }
    }

    std::ostream& m_out;
    std::mutex m_mutex; ///< of all below, and of the stream
    std::condition_variable m_wake;
    bool m_working = false;
    bool m_ended = false;
    std::thread m_thread; ///< last: it uses everything above
};

} // namespace

int serveDevice(std::istream& in, std::ostream& out, replay::Device& device)
{
    DeviceService service(device);
    Heartbeat heartbeat(out);
    bool beats = false;
    std::string line;
    while (out) {
        const auto kind = readRequestLine(in, line);
        if (kind == RequestLine::end) {
            break;
        }
        const auto request = kind == RequestLine::tooLong ? Json() : parseServiceLine(line);
        beats = beats || member(request, "beats") == true;
        heartbeat.begin(beats);
        const auto answer =
            request.is_object() ? guardedAnswer(service, request) : wrong("a request is one JSON object per line");
        heartbeat.end(jsonText(answer
                ? *answer
                : Json {{"error", sentence(answer.error())}, {"kind", static_cast<int>(answer.error().kind)}}));
    }
    return 0;
}

} // namespace nanscope::rpc
