// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/nanscope/shared/joboptions.h"
#include "core/model/cell.h"
#include "core/scaleout/launch.h"
#include "core/scaleout/partlog.h"
#include "core/scaleout/rankmeasures.h"

namespace nanscope {

/// What is measured on every rank.
struct MeasureTask
{
    std::string instrument;
    std::string capture; ///< its path
    std::string device; ///< "cpu" or "cuda"
    std::vector<std::string> words; ///< of the command, those that say what is measured; paths are absolute
};

/// A measurement that each rank makes on its own device, and what there is of it.
struct MeasureJob
{
    scaleout::Job job;
    scaleout::GatheredMeasures gathered;
    JobCommands commands;
};

/// Makes the job in its folder, or gathers what its ranks have measured so far. Refused where the folder holds another.
Result<MeasureJob> openMeasureJob(const JobOptions& options, const MeasureTask& task);

/// Who measured what, which rank stands out, and the commands that start those that are missing.
std::string measureJobText(const MeasureJob& job);
nlohmann::ordered_json measureJobJson(const MeasureJob& job, const MeasureTask& task);

/// This process as one rank of such a job, as torchrun or srun has started it.
class MeasuringRank
{
public:
    /// Of several GPUs it sees its own only from now on: instruments that go to every GPU stay on that one.
    static Result<MeasuringRank> join(const JobOptions& options, const MeasureTask& task);

    /// An earlier start has its answer.
    bool hasAnswer() const { return m_hasAnswer; }
    /// As torch calls it in this process.
    const std::string& device() const { return m_device; }
    std::string name() const; ///< "rank 3, node7, GPU 1"

    /// Writes down why there is no answer, for the command that gathers.
    void failed(const Error& error) const;
    Result<void> keep(const Environment& environment, double seconds, const nlohmann::ordered_json& answer) const;

private:
    scaleout::PartStart startOn(const Environment& environment) const;

    std::string m_folder;
    std::string m_job; ///< its id
    scaleout::Launch m_launch;
    std::string m_node;
    std::string m_device = "cpu";
    std::string m_place = "cpu"; ///< the device as the node calls it
    bool m_hasAnswer = false;
};

} // namespace nanscope
