// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "reading.h"
#include "core/model/verdict.h"
#include "core/report/input/reportinput.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/jsonanswer.h"
#include "core/diagnose/context/layers.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/findings/advisories.h"
#include "core/ingest/ingest.h"
#include "core/json/records.h"
#include "core/replay/variants/variantjson.h"
#include "core/report/report.h"
#include "core/rpc/requests.h"
#include "core/session/session.h"
#include "core/tensorfile/capture/capturefile.h"
#include "core/tensorfile/scan/scantensor.h"
#include "core/tensorfile/tensorsource.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::fuzz {

namespace fs = std::filesystem;

namespace {

template <class T>
T littleAt(const std::string& bytes, std::size_t at)
{
    static_assert(std::endian::native == std::endian::little);
    T value {};
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

template <class T>
void putLittle(std::string& bytes, std::size_t at, T value)
{
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

std::span<const std::byte> part(const std::string& bytes, std::size_t at, std::size_t size)
{
    return std::as_bytes(std::span(bytes)).subspan(at, size);
}

/// For each directory record whose local header is in place: the checksum of what lies there.
void mendZip(std::string& bytes)
{
    constexpr std::size_t localHeader = 30;
    constexpr std::size_t directoryHeader = 46;
    for (auto at = bytes.find("PK\x01\x02"); at != std::string::npos && at + directoryHeader <= bytes.size();
         at = bytes.find("PK\x01\x02", at + 4)) {
        const std::uint64_t size = littleAt<std::uint32_t>(bytes, at + 24);
        const std::uint64_t header = littleAt<std::uint32_t>(bytes, at + 42);
        if (header + localHeader > bytes.size()) {
            continue;
        }
        const auto begin = header + localHeader + littleAt<std::uint16_t>(bytes, header + 26)
            + littleAt<std::uint16_t>(bytes, header + 28);
        if (begin > bytes.size() || size > bytes.size() - begin) {
            continue;
        }
        const auto crc = tensorfile::updateCrc32(0, part(bytes, begin, size));
        putLittle(bytes, at + 16, crc);
        putLittle(bytes, header + 14, crc);
    }
}

std::uint32_t maskedCrc32c(std::span<const std::byte> bytes)
{
    constexpr std::uint32_t delta = 0xa282ead8U; // TFRecord's mask
    return std::rotr(tensorfile::crc32c(bytes).value_or(0), 15) + delta;
}

/// TFRecord: length, its checksum, data, their checksum.
void mendEvents(std::string& bytes)
{
    constexpr std::size_t before = 12;
    constexpr std::size_t after = 4;
    for (std::size_t at = 0; at + before + after <= bytes.size();) {
        const auto length =
            std::min<std::uint64_t>(littleAt<std::uint64_t>(bytes, at), bytes.size() - at - before - after);
        putLittle<std::uint64_t>(bytes, at, length);
        putLittle(bytes, at + 8, maskedCrc32c(part(bytes, at, 8)));
        putLittle(bytes, at + before + length, maskedCrc32c(part(bytes, at + before, length)));
        at += before + length + after;
    }
}

/// LevelDB's log: blocks of 32 KiB, chunks of checksum, length, type and data.
void mendWandb(std::string& bytes)
{
    constexpr std::size_t fileHeader = 7;
    constexpr std::size_t chunkHeader = 7;
    constexpr std::size_t block = 32768;
    for (std::size_t at = fileHeader; at + chunkHeader <= bytes.size();) {
        const auto left = std::min(block - at % block, bytes.size() - at);
        if (left < chunkHeader) {
            at += left;
            continue;
        }
        const auto length = std::min<std::size_t>(littleAt<std::uint16_t>(bytes, at + 4), left - chunkHeader);
        putLittle(bytes, at + 4, static_cast<std::uint16_t>(length));
        putLittle(bytes, at, tensorfile::updateCrc32(0, part(bytes, at + 6, length + 1)));
        at += chunkHeader + length;
    }
}

constexpr std::array allKinds {
    Kind {"torch", "x.pt", mendZip},
    Kind {"safetensors", "x.safetensors"},
    Kind {"npy", "x.npy"},
    Kind {"sidecar", "y.json"},
    Kind {"console", "console.log"},
    Kind {"jsonl", "metrics.jsonl"},
    Kind {"csv", "metrics.csv"},
    Kind {"columns", "loss.txt"},
    Kind {"trainerstate", "trainer_state.json"},
    Kind {"events", "events.out.tfevents.1700000000.host.1.0", mendEvents},
    Kind {"wandb", "run-x.wandb", mendWandb},
    Kind {"yaml", "config.yaml"},
    Kind {"toml", "config.toml"},
    Kind {"json", "config.json"},
    Kind {"gzip", "console.log.gz"},
    Kind {"xz", "console.log.xz"},
    Kind {"zstd", "console.log.zst"},
    Kind {"session", "x.nanscope"},
    Kind {"variants", "variants.json"},
    Kind {"advisories", "advisories.json"},
    Kind {"params", "params.json"},
    Kind {"request", "request.jsonl"},
};

constexpr std::int64_t fewElements = 1 << 12;

bool isSmall(const Capture& capture)
{
    const auto small = [](const CaptureTensor& tensor) {
        const auto shape = matrixShape(tensor.shape);
        return shape.batch <= 4 && shape.elements() <= fewElements;
    };
    return small(capture.input) && (!capture.output || small(*capture.output));
}

void writeReports(const RunData& run, Diagnosis diagnosis)
{
    const report::ReportInput input {run, std::move(diagnosis), {}, "nanscope report run"};
    (void)report::markdownReport(input);
    (void)report::htmlReport(input);
    (void)report::jsonReport(input);
}

/// All that is shown of a run, with verdicts where that is cheap or `judge` says so.
void useRun(const RunData& run, bool judge)
{
    const bool cheap = run.captures.empty() || (judge && std::ranges::all_of(run.captures, isSmall));
    auto diagnosis = cheap ? diagnose::diagnose(run).value_or(Diagnosis {}) : diagnose::triageRun(run);
    (void)diagnosisFromJson(diagnosisAnswer(diagnosis).text());
    writeReports(run, std::move(diagnosis));
}

void useTensor(const tensorfile::Tensor& tensor)
{
    const auto shape = tensor.matrices();
    if (shape.elements() > fewElements || shape.batch > 64) {
        return;
    }
    (void)tensorfile::scanTensor(tensor);
    for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
        std::vector<float> values(static_cast<std::size_t>(shape.elements()));
        (void)tensor.read(batch, std::span<float>(values));
        (void)tensor.readBits(batch);
        (void)tensorfile::tileTensor(tensor, batch);
    }
    (void)tensorfile::checksumMatches(tensor, {});
}

void useValue(const tensorfile::PickleValue& value, int& budget)
{
    if (--budget < 0) {
        return;
    }
    if (const auto* tensor = value.tensor()) {
        useTensor(*tensor);
    } else if (const auto* list = std::get_if<tensorfile::PickleList>(&value.value)) {
        std::ranges::for_each(*list, [&](const tensorfile::PickleValue& item) { useValue(item, budget); });
    } else if (const auto* dict = std::get_if<tensorfile::PickleDict>(&value.value)) {
        std::ranges::for_each(*dict, [&](const tensorfile::PickleEntry& entry) { useValue(entry.second, budget); });
    }
}

void useSession(const fs::path& path)
{
    const auto session = session::Session::open(path, session::OpenMode::readOnly);
    if (!session) {
        return;
    }
    for (const auto& cell : session->cells().value_or(std::vector<Cell> {})) {
        (void)session->opTraces(cell.id);
    }
    (void)diagnosisFromJson(session->diagnosis().value_or(std::string()));
    (void)observationsFromJson(session->observations().value_or(std::string()));
    (void)session->variants();
    if (const auto run = session->load()) {
        useRun(*run, false);
    }
}

void useFolder(const fs::path& folder, const fs::path& file, bool judge)
{
    if (const auto tensors =
            tensorfile::looksLikeTensorFile(file) ? tensorfile::openTensorFile(file) : failure(ErrorKind::format, {})) {
        int budget = 200;
        useValue(tensors->root, budget);
    }
    if (const auto run = ingest::readRun(folder)) {
        useRun(*run, judge);
    }
}

/// What a sidecar lies beside.
void writeNeighbour(const fs::path& path)
{
    const tensorfile::TensorToWrite matrix {"input", DType::float32, {2, 2}, std::vector<std::byte>(16)};
    (void)tensorfile::writePt(path, {{"input", matrix}, {"output", matrix}});
}

/// Files and lines that are no part of a run.
bool useAlone(std::string_view kind, const fs::path& file, const std::string& bytes)
{
    if (kind == "session") {
        useSession(file);
    } else if (kind == "variants") {
        (void)replay::readVariantFile(file, {});
    } else if (kind == "advisories") {
        (void)diagnose::readAdvisories(file, {});
    } else if (kind == "params") {
        (void)diagnose::readParameters(file);
    } else if (kind == "request") {
        // The service refuses what is no object before it looks any closer.
        if (const auto request = rpc::parseServiceLine(bytes); request.is_object()) {
            (void)rpc::sweepFromJson(request, {});
            (void)rpc::frameFromJson(request, {});
            (void)rpc::deepFromJson(request, {});
        }
    } else {
        return false;
    }
    return true;
}

} // namespace

std::span<const Kind> kinds()
{
    return allKinds;
}

const Kind* findKind(std::string_view name)
{
    const auto* const found = std::ranges::find(allKinds, name, &Kind::name);
    return found == allKinds.end() ? nullptr : found;
}

void readAsKind(const Kind& kind, std::string bytes, const fs::path& folder, bool judge)
{
    if (kind.mend != nullptr) {
        kind.mend(bytes);
    }
    const auto file = folder / kind.file;
    const auto neighbour = folder / "y.pt";
    if (kind.name == "sidecar") {
        writeNeighbour(neighbour);
    }
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!useAlone(kind.name, file, bytes)) {
        useFolder(folder, file, judge);
    }
    std::error_code ignored;
    fs::remove(file, ignored);
    fs::remove(neighbour, ignored);
}

} // namespace nanscope::fuzz
