// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/launch.h"

#include <limits>

#include <fmt/format.h>

#include "core/base/text.h"

namespace nanscope::scaleout {

namespace {

// Ports that systems do not hand out by themselves mostly lie below 32768; two steps of one machine rarely meet.
constexpr std::int64_t firstPort = 20000;
constexpr std::int64_t ports = 12000;

class Reader
{
public:
    explicit Reader(const Variables& variables)
        : m_variables(variables)
    { }

    bool has(const char* name) const { return m_variables(name).has_value(); }
    std::string text(const char* name) const { return m_variables(name).value_or(std::string()); }

    /// A whole number from `least` to `most`; remembers the first variable that is none.
    std::int64_t number(const char* name, std::int64_t least, std::int64_t most)
    {
        const auto given = text(name);
        const auto value = numberIn<std::int64_t>(given);
        const bool good = value && *value >= least && *value <= most;
        if (!good && m_problem.empty()) {
            m_problem = fmt::format("{} is '{}'; it has to be a whole number from {} on", name, given, least);
        }
        return value.value_or(0);
    }

    int smallNumber(const char* name, int least)
    {
        return static_cast<int>(number(name, least, std::numeric_limits<int>::max()));
    }

    template <class T>
    Result<T> checked(T value) const
    {
        return m_problem.empty()
            ? Result<T>(std::move(value))
            : failure(ErrorKind::usage, "this process was not started as torchrun or srun does: " + m_problem);
    }

private:
    const Variables& m_variables;
    std::string m_problem;
};

Result<Launch> ofTorchrun(Reader read)
{
    Launch launch;
    launch.rank = read.smallNumber("RANK", 0);
    launch.processes = read.smallNumber("WORLD_SIZE", 1);
    launch.localRank = read.has("LOCAL_RANK") ? read.smallNumber("LOCAL_RANK", 0) : 0;
    launch.host = read.text("MASTER_ADDR");
    launch.port = static_cast<std::uint16_t>(read.number("MASTER_PORT", 1, 65535));
    launch.keepsStore = launch.rank == 0 && read.text("TORCHELASTIC_USE_AGENT_STORE") != "True";
    launch.start = fmt::format("{}-{}", read.text("TORCHELASTIC_RUN_ID"), read.text("TORCHELASTIC_RESTART_COUNT"));
    return read.checked(std::move(launch));
}

Result<Launch> ofSlurm(Reader read)
{
    Launch launch;
    launch.rank = read.smallNumber("SLURM_PROCID", 0);
    launch.processes = read.smallNumber("SLURM_NTASKS", 1);
    launch.localRank = read.smallNumber("SLURM_LOCALID", 0);
    const auto job = read.number("SLURM_JOB_ID", 0, std::numeric_limits<std::int64_t>::max());
    const auto step = read.has("SLURM_STEP_ID") ? read.number("SLURM_STEP_ID", 0, std::numeric_limits<int>::max()) : 0;
    const auto nodes = read.has("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
    launch.host = read.has("MASTER_ADDR") ? read.text("MASTER_ADDR") : firstHost(read.text(nodes));
    launch.port = static_cast<std::uint16_t>(firstPort + (job % ports * 7 + step) % ports);
    launch.keepsStore = launch.rank == 0;
    launch.start = fmt::format("{}.{}", job, step);
    return read.checked(std::move(launch));
}

} // namespace

Result<Launch> launchOf(const Variables& variables)
{
    const Reader read(variables);
    if (read.has("RANK") && read.has("WORLD_SIZE") && read.has("MASTER_ADDR")) {
        return ofTorchrun(read);
    }
    return read.has("SLURM_PROCID") && read.has("SLURM_NTASKS") ? ofSlurm(read) : Launch();
}

std::string firstHost(const std::string& nodes)
{
    const auto open = nodes.find('[');
    const auto comma = nodes.find(',');
    if (open == std::string::npos || comma < open) {
        return nodes.substr(0, comma);
    }
    const auto close = nodes.find(']', open);
    const auto numbers = nodes.substr(open + 1, close == std::string::npos ? close : close - open - 1);
    const auto rest = close == std::string::npos ? std::string() : nodes.substr(close + 1);
    return nodes.substr(0, open) + numbers.substr(0, numbers.find_first_of("-,")) + rest.substr(0, rest.find(','));
}

} // namespace nanscope::scaleout
