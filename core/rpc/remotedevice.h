// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/platform/childprocess.h"
#include "core/replay/device/device.h"
#include "core/rpc/client.h"

namespace nanscope::rpc {

/// How long a RemoteDevice waits for its process.
struct RemotePatience
{
    std::chrono::milliseconds hello = std::chrono::seconds(60); ///< a torch on a cold network disk takes its time
    std::chrono::milliseconds silence = std::chrono::seconds(30); ///< of one that says now and then that it works
};

/// A device of another process (deviceserver.h): what judges and measures on a Device does so on a GPU without torch or
/// CUDA in this process. Instructions go out together, once one of their results is asked for; what fails is said then.
/// When cancelled the process is killed, and the device is lost (ErrorKind::cancelled), as it is when the process ends
/// or falls silent.
class RemoteDevice final : public replay::Device
{
public:
    /// Starts `nanscope-worker serve --device NAME` and waits until it has said what it is. Fails with its own words
    /// where it has no such device.
    static Result<std::unique_ptr<replay::Device>> start(
        const platform::ChildProgram& program, const CancelToken& cancel = {}, const RemotePatience& patience = {});

    std::optional<Error> lost() const override { return m_lost; }
    Environment environment() const override { return m_environment; }
    bool native(Precision precision) const override { return m_native.contains(precision); }
    std::int64_t batchLimit(const replay::Program& program) const override;
    Result<void> prepare(const replay::Program& program, std::int64_t batch) override;
    Result<void> upload(ValueView input) override;
    Result<void> run(const replay::Instruction& instruction) override;
    Result<void> overwrite(replay::BufferId buffer, std::int64_t element, const replay::Region& region,
        std::span<const double> values) override;
    Result<void> rescan(const replay::Instruction& instruction) override;
    Result<std::vector<Scan>> scans() override;
    Result<Values> download(
        replay::BufferId buffer, std::int64_t element, const std::optional<replay::Region>& part) override;
    Result<TileMap> tileMap(replay::BufferId buffer, std::int64_t element) override;
    Result<std::optional<double>> largestEigenvalue(replay::BufferId buffer, std::int64_t element) override;
    std::optional<replay::Eigenbasis> eigenbasisOfGram(
        ValueView matrix, const MatrixShape& shape, std::span<const double> columns) override;

private:
    using Json = nlohmann::ordered_json;
    using Clock = platform::ChildProcess::Clock;

    RemoteDevice(platform::ChildProcess process, std::string path, std::chrono::milliseconds patience);
    Result<Json> ask(const Json& request) const;
    Result<Json> askAfterwards(const Json& request);
    Result<Json> answer() const;
    tl::unexpected<Error> fellSilent() const;
    Result<void> flush();
    struct HandedOver;
    Result<HandedOver> handOver(ValueView input);
    template <class T>
    Result<T> readable(Result<T> unpacked) const;
    tl::unexpected<Error> lose(const std::string& how) const;

    mutable std::optional<platform::ChildProcess> m_process; ///< none once it is lost
    mutable std::optional<Error> m_lost;
    std::string m_path;
    std::optional<std::chrono::milliseconds> m_patience; ///< with its silence; none: it works without a word
    Environment m_environment;
    std::set<Precision> m_native;
    std::vector<replay::Instruction> m_waiting; ///< instructions that were not sent yet
    std::string m_handedOver; ///< checksum of the numbers that the other process holds; empty: none
};

/// One device, by its name and who has it.
struct DevicePlace
{
    std::string name = "cpu"; ///< core's own CPU device
    std::filesystem::path worker {}; ///< that has any other
};

/// "cpu" is core's own, any other a RemoteDevice of this nanscope-worker. Fails with the worker's own words where it
/// has no such device.
Result<std::unique_ptr<replay::Device>> openDevice(
    const std::string& name, const CancelToken& cancel, const std::filesystem::path& worker = workerProgram());

/// Makes devices in the same way.
replay::DeviceFactory deviceFactory(const CancelToken& cancel, const std::filesystem::path& worker = workerProgram());

} // namespace nanscope::rpc
