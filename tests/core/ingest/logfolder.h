// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Writes a log, reads it back, and looks for what was found in it.
#pragma once

#include <cstring>
#include <optional>

#include <gtest/gtest.h>

#include "core/ingest/ingest.h"
#include "core/session/session.h"
#include "core/tensorfile/tensorfile.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {

/// Two rows of three values, all the same.
inline tensorfile::TensorToWrite smallMatrix(const std::string& name, float fill)
{
    const std::vector<float> values(6, fill);
    std::vector<std::byte> bytes(sizeof(float) * values.size());
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return {name, DType::float32, {2, 3}, bytes};
}

/// A folder whose contents a session takes.
class ImportedFolder : public testing::Test
{
protected:
    void SetUp() override
    {
        auto session = session::Session::open(m_folder / "s.nanscope", session::OpenMode::create);
        ASSERT_TRUE(session);
        m_session.emplace(std::move(*session));
        std::filesystem::create_directories(m_folder / "run");
    }

    RunData import()
    {
        auto run = ingest::importRun(m_folder / "run", *m_session);
        EXPECT_TRUE(run) << sentence(run.error());
        return run.value_or(RunData {});
    }

    TemporaryFolder m_folder;
    std::optional<session::Session> m_session;
};

class LogFolder : public testing::Test
{
protected:
    static constexpr auto number = PointState::finite;
    static constexpr auto absent = PointState::reported;

    ingest::LogContents read(const std::string& name, const std::string& text)
    {
        const auto contents = ingest::readLog(m_folder.write(name, text), name);
        EXPECT_TRUE(contents) << (contents ? "" : contents.error().what);
        return contents.value_or(ingest::LogContents {});
    }

    static Series find(
        const ingest::LogContents& contents, const std::string& name, std::optional<int> rank = {}, int segment = 0)
    {
        for (const auto& series : contents.series) {
            if (series.name == name && series.rank == rank && series.segment == segment) {
                return series;
            }
        }
        ADD_FAILURE() << "no series " << name;
        return {};
    }

    static std::vector<std::int64_t> steps(const Series& series)
    {
        std::vector<std::int64_t> result;
        for (const auto& point : series.points) {
            result.push_back(point.step);
        }
        return result;
    }

    static std::vector<double> values(const Series& series)
    {
        std::vector<double> result;
        for (const auto& point : series.points) {
            result.push_back(point.value);
        }
        return result;
    }

    static std::vector<PointState> states(const Series& series)
    {
        std::vector<PointState> result;
        for (const auto& point : series.points) {
            result.push_back(point.state);
        }
        return result;
    }

    TemporaryFolder m_folder;
};

} // namespace nanscope
