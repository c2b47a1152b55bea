// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What one process of a job has done, as JSON lines beside its session. A process that is killed leaves at worst a line
// cut off at its end, which counts as not written.
//   {"job":ID,"rank":3,"device":"cuda:3","engine":"torch 2.11.0","hardware":".."}   at each start
//   {"block":12,"cells":15,"seconds":0.84}
//   {"block":13,"failed":"one sentence"}
// and of a diagnosis, where the verdict is one of `nanscope diagnose --json`, as text
//   {"block":12,"cells":1,"seconds":0.84,"verdict":"{..}"}
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace nanscope::scaleout {

struct PartStart
{
    std::string job;
    int rank = 0;
    std::string device;
    std::string engine;
    std::string hardware;
    bool operator==(const PartStart&) const = default;
};

/// Grows; each line is written at once.
class PartLog
{
public:
    static Result<PartLog> open(const std::filesystem::path& part, const PartStart& start);

    Result<void> done(std::int64_t block, std::int64_t cells, double seconds, const std::string& verdict = {});
    Result<void> failed(std::int64_t block, const std::string& why);

private:
    explicit PartLog(std::filesystem::path path);
    Result<void> write(const std::string& line);

    std::filesystem::path m_path;
    std::ofstream m_file;
};

/// What a part says of itself.
struct PartSummary
{
    PartStart start; ///< the last one
    std::vector<std::int64_t> blocks; ///< done
    std::int64_t cells = 0;
    double seconds = 0; ///< of its blocks
    std::string problem; ///< of the last block that failed; empty where none did
    std::vector<std::string> verdicts; ///< of a diagnosis, one for each block done
};

/// Of the job with this id; lines of another job are left out.
PartSummary readPartLog(const std::filesystem::path& part, const std::string& job);

/// The same for each engine, device and hardware that it ran on, in the order of their first starts.
std::vector<PartSummary> readPartLogByPlace(const std::filesystem::path& part, const std::string& job);

/// The parts that lie in the folder of a job, in the order of their ranks: paths of sessions, which those of a
/// diagnosis do not have.
std::vector<std::filesystem::path> partsIn(const std::filesystem::path& folder);

} // namespace nanscope::scaleout
