// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Every input that the fuzzers were kept, read again: corpus/KIND holds small ones that reach much, or once failed.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "reading.h"

namespace nanscope::fuzz {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> inputsOf(std::string_view kind)
{
    std::vector<fs::path> inputs;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(fs::path(NANSCOPE_FUZZ_CORPUS) / kind, none)) {
        inputs.push_back(entry.path());
    }
    std::ranges::sort(inputs);
    return inputs;
}

std::string contents(const fs::path& path)
{
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

long peakMegabytes()
{
    rusage usage {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

class Corpus : public testing::TestWithParam<Kind>
{
protected:
    void SetUp() override { fs::create_directories(m_folder); }
    void TearDown() override { fs::remove_all(m_folder); }

    fs::path m_folder = fs::temp_directory_path() / ("nanscope-corpus-" + std::to_string(::getpid()));
};

} // namespace

TEST_P(Corpus, IsReadWithoutAFaultAndInLittleMemory)
{
    const auto inputs = inputsOf(GetParam().name);
    EXPECT_FALSE(inputs.empty()) << "no input is kept for " << GetParam().name;
    for (const auto& input : inputs) {
        SCOPED_TRACE(input.filename().string());
        EXPECT_NO_THROW(readAsKind(GetParam(), contents(input), m_folder, true));
    }
    EXPECT_TRUE(fs::is_empty(m_folder)) << "something was left behind";
#ifndef __SANITIZE_ADDRESS__
    constexpr long mostMegabytes = 300;
    EXPECT_LE(peakMegabytes(), mostMegabytes);
#endif
}

INSTANTIATE_TEST_SUITE_P(Files, Corpus, testing::ValuesIn(kinds().begin(), kinds().end()),
    [](const auto& info) { return std::string(info.param.name); });

} // namespace nanscope::fuzz
