// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A job: the replays of a sweep, or the verdicts of a diagnosis, that many processes share, or one measurement that
// each of them makes on its own device, in a folder that all of them see. It holds
//   job.jsonl            what is to be done, written once
//   part-00003.jsonl     which blocks one process has done, and its verdicts or its answer (partlog.h)
// and, for a sweep,
//   captures.nanscope    a session with the run's captures and nothing else, from which each part begins
//   part-00003.nanscope  the cells of one process
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/replay/analysis/sweep.h"
#include "core/session/session.h"

namespace nanscope::scaleout {

/// What is to be replayed of one capture: the request names that capture alone. Where it is judged, nothing else is in
/// the request.
struct JobCapture
{
    std::string name; ///< Capture::file
    std::int64_t elements = 0; ///< of its input: how long it takes
    replay::SweepRequest request;
    /// Of the variants of a sweep that names none: those that may have run, and were not compared in full.
    std::vector<std::string> leftOut {};
};

struct Job
{
    std::string id; ///< of its contents; two that are equal have the same
    std::vector<JobCapture> captures;
    std::string device = "cpu"; ///< of each process; "cuda": each has a GPU of its own
    std::int64_t variantsPerBlock = 1;
    /// What `nanscope diagnose` is told so that it judges captures whose names it is given as lines: the session with
    /// the run, then options; none for a sweep.
    std::vector<std::string> judging {};
    /// The words of `nanscope measure` that decide what is measured; none for any other job. They tell one job from
    /// another and are never run: each rank has its own words from the line that started it.
    std::vector<std::string> measuring {};

    bool judges() const { return !judging.empty(); }
    bool measures() const { return !measuring.empty(); }
};

/// What one process takes at a time: some of the variants of one capture, in all formats asked for. The formats of a
/// variant stay together, since distances are measured to its own fp64 replay. Of a diagnosis a block is one capture.
/// Large captures come first, so that processes end at about the same time.
struct Block
{
    std::size_t capture = 0; ///< place in Job::captures
    std::size_t firstVariant = 0;
    std::size_t variants = 0;
};

std::vector<Block> blocksOf(const Job& job);

/// Its replays on this device.
replay::SweepRequest requestOf(const Job& job, const Block& block, const std::string& device);

/// Of a diagnosis: its captures.
std::int64_t cellCount(const Job& job);

/// How many variants a block should have, so that each of so many processes takes at least 64 blocks where there are as
/// many: the last one then ends within 2 % of the whole time after the first.
std::int64_t variantsPerBlock(const std::vector<JobCapture>& captures, std::int64_t processes);

/// Makes the folder of a job, with the captures of the run that it names. A folder that holds the same job is left as
/// it is; one that holds another job is refused. Returns the job with its id.
Result<Job> makeJob(const std::filesystem::path& folder, Job job, const RunData& run);

Result<Job> readJob(const std::filesystem::path& folder);

std::filesystem::path capturesPath(const std::filesystem::path& folder);
std::filesystem::path partPath(const std::filesystem::path& folder, int rank);

} // namespace nanscope::scaleout
