// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/probe/capturewriter.h"

#include <atomic>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/bytes.h"
#include "core/base/json.h"
#include "core/base/try.h"
#include "core/platform/platform.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::probe {

namespace {

using Json = nlohmann::ordered_json;

Json functionJson(const WatchedFunction& function)
{
    return {{"module", function.module}, {"qualname", function.name}};
}

/// Readers count calls made again only where it is said that the function was given no other tensors.
Json callJson(const WatchedFunction& function)
{
    return function.takesInputAlone ? Json {{"other_tensors", 0}, {"keeps", "the same"}, {"random", false}}
                                    : Json::object();
}

Json retriesJson(const BadCall& call)
{
    Json retries = Json::array();
    for (const auto& again : call.again) {
        retries.push_back({{"how", "same"}, {"finite", again.finite}, {"checksum", again.checksum}});
    }
    return retries;
}

Json inputJson(const BadCall& call)
{
    return {{"checksum_before", checksumOf(call.input.bytes)}, {"checksum_after", orNull(call.inputAfter)}};
}

std::string sidecarOf(const WatchedFunction& function, const BadCall& call)
{
    Json sidecar {{"schema", "nanscope.sidecar/1"}, {"mode", "strict"}, {"reason", "a non-finite output"},
        {"rank", call.rank}, {"step", orNull(call.step)}};
    if (function.nothingElse) {
        sidecar["nothing_else"] = true;
    }
    // Readers take a name that is there for one that is known.
    if (function.variant) {
        sidecar["variant"] = *function.variant;
        sidecar["precision"] = orNull(function.precision);
    }
    sidecar["epsilon"] = orNull(function.epsilon);
    sidecar["function"] = functionJson(function);
    sidecar["call"] = callJson(function);
    sidecar["input"] = inputJson(call);
    sidecar["output"] = Json {{"checksum", checksumOf(call.output.bytes)}};
    sidecar["retries"] = retriesJson(call);
    return jsonText(sidecar, 1) + "\n";
}

tensorfile::ValueToWrite epsilonOf(const WatchedFunction& function)
{
    return function.epsilon ? tensorfile::ValueToWrite(*function.epsilon) : tensorfile::ValueToWrite();
}

Result<void> writeDump(const std::filesystem::path& path, const WatchedFunction& function, const BadCall& call)
{
    return tensorfile::writePt(path,
        {{"input", call.input}, {"output", call.output}, {"rank", std::int64_t {call.rank}},
            {"shape", call.input.shape}, {"dtype", fmt::format("torch.{}", torchName(call.input.dtype))},
            {"epsilon", epsilonOf(function)}});
}

/// The two files of one capture under names that no reader takes for one. What was not given its name is gone with
/// this.
class HiddenFiles
{
public:
    explicit HiddenFiles(const std::filesystem::path& folder)
        : m_stem(
            (folder / fmt::format(".nanscope-{}-{}-{}", platform::processId(), platform::nowMs(), s_count++)).string())
    { }
    HiddenFiles(const HiddenFiles&) = delete;
    HiddenFiles& operator=(const HiddenFiles&) = delete;
    ~HiddenFiles()
    {
        std::error_code ignored;
        std::filesystem::remove(dump(), ignored);
        std::filesystem::remove(sidecar(), ignored);
    }

    std::filesystem::path dump() const { return m_stem + ".pt.tmp"; }
    std::filesystem::path sidecar() const { return m_stem + ".json.tmp"; }

private:
    static inline std::atomic<int> s_count {0}; ///< threads may write in the same millisecond
    std::string m_stem;
};

/// False where somebody else has one of the names; then neither file is left there. The sidecar comes first: who sees
/// the dump sees both.
Result<bool> publishAs(const HiddenFiles& hidden, const std::string& stem)
{
    auto named = platform::giveNewName(hidden.sidecar(), stem + ".json");
    if (!named || !*named) {
        return named;
    }
    auto dump = platform::giveNewName(hidden.dump(), stem + ".pt");
    if (!dump || !*dump) {
        std::error_code ignored;
        std::filesystem::rename(stem + ".json", hidden.sidecar(), ignored);
    }
    return dump;
}

/// Where a name is taken, the time in it is a millisecond more.
Result<std::filesystem::path> publish(const HiddenFiles& hidden, const std::string& lead)
{
    for (auto time = platform::nowMs();; ++time) {
        const auto stem = fmt::format("{}_{}", lead, time);
        const auto named = TRY(publishAs(hidden, stem));
        if (named) {
            return stem + ".pt";
        }
    }
}

} // namespace

std::string checksumOf(std::span<const std::byte> bytes)
{
    tensorfile::ContentHash hash;
    hash.add(bytes);
    return hash.hex();
}

Result<std::filesystem::path> CaptureWriter::write(const WatchedFunction& function, const BadCall& call)
{
    TRY(checkLimits(call));
    const HiddenFiles hidden(m_folder);
    const auto lead = (m_folder
        / fmt::format("dion_nan_capture_rank{}_shape{}_pid{}", call.rank, fmt::join(call.input.shape, "x"),
            platform::processId()))
                          .string();
    auto path = platform::writeFileAtomically(hidden.sidecar(), asBytes(sidecarOf(function, call)))
                    .and_then([&] { return writeDump(hidden.dump(), function, call); })
                    .and_then([&] { return publish(hidden, lead); });
    if (path) {
        ++m_written[call.input.shape];
        m_bytes += call.input.bytes.size() + call.output.bytes.size();
    }
    return path;
}

Result<void> CaptureWriter::checkLimits(const BadCall& call)
{
    const auto need = call.input.bytes.size() + call.output.bytes.size();
    if (m_written[call.input.shape] >= m_limits.perShape) {
        return failure(
            ErrorKind::refused, fmt::format("{} captures of this shape are written already", m_limits.perShape));
    }
    if (m_bytes + need > m_limits.bytes) {
        return failure(
            ErrorKind::refused, fmt::format("captures of this process would take more than {} bytes", m_limits.bytes));
    }
    std::error_code error;
    std::filesystem::create_directories(m_folder, error);
    const auto space = std::filesystem::space(m_folder, error);
    if (!error && space.available < need + m_limits.freeBytes) {
        return failure(
            ErrorKind::refused, fmt::format("only {} bytes are free on the disk", space.available), m_folder.string());
    }
    return {};
}

} // namespace nanscope::probe
