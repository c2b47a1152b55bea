// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/platform/privatefolder.h"
#include "core/scaleout/job.h"
#include "core/tensorfile/capture/capturefile.h"
#include "tests/core/replay/framecapture.h"

namespace nanscope::testing {

/// A run of three captures, two of them with the same file name, and a place for a job of them.
class JobFolder
{
public:
    JobFolder()
    {
        for (const auto* name : {"rank_0/dump.pt", "rank_1/dump.pt", "rank_1/other.pt"}) {
            auto values = waveValues(64);
            values[0] = static_cast<double>(m_run.captures.size());
            std::filesystem::create_directories((m_folder.path() / name).parent_path());
            writeFrameCapture(m_folder.path() / name, {8, 8}, values);
            auto file = tensorfile::openCapture((m_folder.path() / name).string());
            if (!file) {
                throw std::runtime_error(file.error().what);
            }
            m_run.captures.push_back(file->capture);
        }
        m_run.captures[0].file = "rank_0/dump.pt";
        m_run.captures[1].file = "rank_1/dump.pt";
        m_run.name = "run";
        m_run.root = m_folder.path().string();
    }

    std::filesystem::path path() const { return m_folder.path() / "job"; }
    const RunData& run() const { return m_run; }

    /// Two variants in two formats of each capture: twelve cells, one block for each capture and variant.
    scaleout::Job job() const
    {
        scaleout::Job job;
        for (const auto& capture : m_run.captures) {
            replay::SweepRequest request;
            request.captures = {CaptureRef(capture.path, capture.identity)};
            request.variants = {"torch-muon", "gns-gram"};
            request.precisions = {Precision::fp64, Precision::bf16};
            job.captures.push_back({capture.file, 64, std::move(request)});
        }
        return job;
    }

    scaleout::Job made() const
    {
        auto made = scaleout::makeJob(path(), job(), m_run);
        if (!made) {
            throw std::runtime_error(made.error().what);
        }
        return std::move(*made);
    }

private:
    platform::PrivateFolder m_folder = std::move(*platform::PrivateFolder::make());
    RunData m_run;
};

} // namespace nanscope::testing
