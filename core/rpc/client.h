// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/platform/childprocess.h"
#include "core/replay/analysis/sweep.h"
#include "core/replay/engine/frame.h"
#include "core/rpc/server.h"

namespace nanscope::rpc {

/// Where `nanscope doctor --build-worker` puts nanscope-worker.
std::filesystem::path builtWorkerFolder();

/// NANSCOPE_WORKER, else `chosen`, else nanscope-worker beside this program, else the one in builtWorkerFolder(). It
/// need not be there.
std::filesystem::path workerProgram(const std::filesystem::path& chosen = {});

/// That program with these arguments. Where there is none the error, of the kind `missing`, says how one is made.
Result<platform::ChildProgram> workerWith(const std::filesystem::path& path, const std::vector<std::string>& arguments,
    ErrorKind missing, const std::string& whoNeedsIt);

/// The caller's end of serve(): one replay process and what it answers. Whatever is wrong with the process (it does
/// not start, dies, floods, never answers) is one sentence that ends in its path; after it nothing runs any more.
class ServiceClient
{
public:
    /// Starts the program and waits until it has said what it is.
    static Result<ServiceClient> start(const platform::ChildProgram& program, const CancelToken& cancel = {},
        std::chrono::milliseconds patience = helloPatience);

    const ServiceInfo& info() const { return m_info; }
    const std::string& path() const { return m_path; }

    /// Like sweep() of replay.h. With a session named, the service stores each cell there together with its tile
    /// maps; the cells that come back are without ops. When cancelled it has two seconds to stop, then it is killed.
    Result<void> sweep(const replay::SweepRequest& request, const std::string& session, const JobContext& job,
        const std::function<void(Cell)>& onCell);

    /// Like replayFilm() and FrameReplay of frame.h, cancelled in the same way.
    Result<replay::ReplayedFilm> film(const replay::FilmRequest& request, const JobContext& job = {});
    Result<replay::ReplayedFrame> frame(const replay::FrameRequest& request, const JobContext& job = {});

    /// A torch on a cold network disk takes its time.
    static constexpr std::chrono::seconds helloPatience {60};
    static constexpr std::chrono::seconds cancelPatience {2};
    static constexpr int maxNonsense = 1000; ///< lines that are no answer

private:
    using Clock = platform::ChildProcess::Clock;
    struct Job;

    ServiceClient(platform::ChildProcess process, std::string path);
    Result<void> hello(const CancelToken& cancel, std::chrono::milliseconds patience);
    Result<void> send(const nlohmann::ordered_json& request, Clock::time_point until);
    Result<std::optional<nlohmann::ordered_json>> receive(Clock::time_point until);
    Result<void> perform(nlohmann::ordered_json order, Job job);
    Result<bool> ended(const nlohmann::ordered_json& answer, Job& job);
    Result<void> took(const nlohmann::ordered_json& answer, Job& job);
    Result<void> ignored();
    tl::unexpected<Error> lost(const std::string& how);

    std::optional<platform::ChildProcess> m_process; ///< none once it is lost
    std::string m_path;
    ServiceInfo m_info;
    int m_lastId = 0;
    int m_nonsense = 0;
};

} // namespace nanscope::rpc
