// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>

#include "core/platform/privatefolder.h"
#include "samples.h"

namespace nanscope::testing {

/// The first of these that is there; empty where none is.
inline std::string firstOf(std::initializer_list<const char*> paths)
{
    for (const auto* path : paths) {
        if (std::filesystem::exists(path)) {
            return path;
        }
    }
    return {};
}

/// A module with functions in a folder of its own, called in one child process.
class ImplTest : public ::testing::Test
{
protected:
    std::string write(const std::string& text)
    {
        auto path = (m_folder->path() / "kernels.py").string();
        std::ofstream(path) << text;
        return path;
    }
    std::unique_ptr<instruments::FunctionTarget> open(const std::string& function, double timeout = 60)
    {
        auto target = instruments::FunctionTarget::make({function, m_python, "cpu", timeout, {}}, {});
        EXPECT_TRUE(target) << sentence(target.error());
        return target ? std::move(*target) : nullptr;
    }
    instruments::Reply called(instruments::Target& target, const instruments::Matrices& input)
    {
        auto reply = target.call({input, 1e-7}, {});
        EXPECT_TRUE(reply) << sentence(reply.error());
        return reply.value_or(instruments::Reply {});
    }

    std::string m_python;
    Result<platform::PrivateFolder> m_folder = platform::PrivateFolder::make();
};

} // namespace nanscope::testing
