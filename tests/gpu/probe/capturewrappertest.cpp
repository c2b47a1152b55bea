// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/tensorfile/capture/capturefile.h"
#include "gpu/probe/capturewrapper.h"

namespace nanscope {

namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

/// Doubles its input; in one call of `every`, a value of the output is NaN.
CaptureWrapper::Function failingOnceIn(int every, const std::shared_ptr<int>& calls)
{
    return [every, calls](const at::Tensor& input) {
        auto output = 2 * input;
        if (++*calls % every == 0) {
            output.view({-1})[1] = NAN;
        }
        return output;
    };
}

class CaptureWrapperTest : public testing::Test
{
protected:
    CaptureWrapperTest()
        : m_folder(std::filesystem::temp_directory_path()
            / fmt::format(
                "nanscope-wrapper-{}-{}", ::getpid(), testing::UnitTest::GetInstance()->current_test_info()->name()))
    { }
    ~CaptureWrapperTest() override { std::filesystem::remove_all(m_folder); }

    CaptureSettings settings()
    {
        CaptureSettings settings;
        settings.on = true;
        settings.folder = m_folder;
        settings.rank = 2;
        settings.log = [this](const std::string& line) { m_lines.push_back(line); };
        return settings;
    }

    std::vector<std::filesystem::path> dumps() const
    {
        std::vector<std::filesystem::path> found;
        std::error_code none;
        for (const auto& entry : std::filesystem::directory_iterator(m_folder, none)) {
            if (entry.path().extension() == ".pt") {
                found.push_back(entry.path());
            }
        }
        return found;
    }

    probe::WatchedFunction about() const
    {
        return {.module = "test", .name = "doubled", .epsilon = 1e-7, .takesInputAlone = true};
    }

    std::shared_ptr<int> m_calls = std::make_shared<int>(0);
    std::filesystem::path m_folder;
    std::vector<std::string> m_lines;
};

TEST_F(CaptureWrapperTest, WritesDownABadCallAndHowItEndsAgain)
{
    CaptureWrapper wrapped(failingOnceIn(4, m_calls), about(), settings());
    const auto input = at::arange(6, at::kFloat).view({2, 3});
    wrapped.setStep(41);
    for (int call = 0; call < 3; ++call) {
        EXPECT_TRUE(at::equal(wrapped(input), 2 * input));
    }
    EXPECT_THAT(dumps(), IsEmpty());
    EXPECT_EQ(*m_calls, 3) << "a finite call is made once";

    EXPECT_TRUE(wrapped(input)[0][1].isnan().item<bool>()) << "the training gets what the function gave";
    ASSERT_THAT(dumps(), SizeIs(1));
    const auto dump = dumps().front();
    ASSERT_THAT(m_lines, SizeIs(1));
    EXPECT_EQ(m_lines.front(),
        "[nanscope capture] non-finite Newton-Schulz output on rank 2, shape (2, 3); dumped to " + dump.string());
    EXPECT_EQ(wrapped.badCalls(), 1);

    const auto file = tensorfile::readCapture(dump);
    ASSERT_TRUE(file) << file.error().what;
    EXPECT_TRUE(file->wrapped);
    EXPECT_EQ(file->capture.rank, 2);
    EXPECT_EQ(file->capture.step, 41);
    EXPECT_EQ(file->capture.scene.calledAgain, 8);
    EXPECT_EQ(file->capture.scene.failedAgain, 2);
    EXPECT_FALSE(file->capture.scene.inputOverwritten);
    ASSERT_TRUE(file->capture.output);
    EXPECT_EQ(file->capture.output->total().firstNonFinite, 1);
    EXPECT_EQ(file->capture.input.total().nonFinite(), 0);
}

TEST_F(CaptureWrapperTest, KeepsTheInputAsItWasBeforeTheCall)
{
    const auto inPlace = [](const at::Tensor& input) -> at::Tensor { return input.fill_(NAN); };
    CaptureWrapper wrapped(inPlace, {.module = "test", .name = "spoiled"}, settings());
    wrapped(at::ones({2, 2}, at::kBFloat16));
    ASSERT_THAT(dumps(), SizeIs(1));
    const auto file = tensorfile::readCapture(dumps().front());
    ASSERT_TRUE(file) << file.error().what;
    EXPECT_EQ(file->capture.input.total().nonFinite(), 0);
    EXPECT_TRUE(file->capture.scene.inputOverwritten);
    EXPECT_EQ(file->capture.scene.calledAgain, 0) << "nobody said that it takes its input alone";
}

TEST_F(CaptureWrapperTest, OffItOnlyCalls)
{
    auto off = settings();
    off.on = false;
    CaptureWrapper wrapped(failingOnceIn(1, m_calls), about(), off);
    EXPECT_TRUE(wrapped(at::ones({2, 2}))[0][1].isnan().item<bool>());
    EXPECT_EQ(*m_calls, 1);
    EXPECT_FALSE(std::filesystem::exists(m_folder));
}

TEST_F(CaptureWrapperTest, RaisesWhereThatIsAskedFor)
{
    auto raising = settings();
    raising.raises = true;
    CaptureWrapper wrapped(failingOnceIn(1, m_calls), about(), raising);
    try {
        wrapped(at::ones({2, 2}));
        FAIL() << "nothing was thrown";
    } catch (const NonFiniteOutput& error) {
        EXPECT_THAT(error.what(), AllOf(StartsWith("[nanscope capture] "), EndsWith(".pt")));
    }
    EXPECT_THAT(dumps(), SizeIs(1));
    EXPECT_THAT(m_lines, IsEmpty());
}

TEST_F(CaptureWrapperTest, AFolderThatCannotBeWrittenDoesNotEndTheTraining)
{
    auto nowhere = settings();
    nowhere.folder = "/proc/nanscope";
    CaptureWrapper wrapped(failingOnceIn(1, m_calls), about(), nowhere);
    EXPECT_TRUE(wrapped(at::ones({2, 2}))[0][1].isnan().item<bool>());
    ASSERT_THAT(m_lines, SizeIs(1));
    EXPECT_THAT(m_lines.front(), HasSubstr("; not written: "));
}

TEST_F(CaptureWrapperTest, WhatTheFunctionThrowsPassesThrough)
{
    const auto thrower = [](const at::Tensor&) -> at::Tensor { throw std::out_of_range("its own"); };
    CaptureWrapper wrapped(thrower, about(), settings());
    EXPECT_THROW(wrapped(at::ones({2, 2})), std::out_of_range);
}

/// Sets a variable as long as it lives.
class Variable
{
public:
    Variable(const char* name, const char* value)
        : m_name(name)
    {
        ::setenv(name, value, 1);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;
    ~Variable() { ::unsetenv(m_name); }

private:
    const char* m_name;
};

TEST(CaptureSettingsTest, OffByDefault)
{
    EXPECT_FALSE(captureSettingsOfEnvironment().on);
}

TEST(CaptureSettingsTest, TakesTheVariablesOfTheHelper)
{
    const Variable variables[] = {{"NANSCOPE_CAPTURE", "yes"}, {"NANSCOPE_CAPTURE_DIR", "/scratch/c"},
        {"NANSCOPE_CAPTURE_RAISE", "1"}, {"NANSCOPE_CAPTURE_RETRIES", "3"}, {"NANSCOPE_CAPTURE_MAX_DUMPS", "-1"},
        {"NANSCOPE_CAPTURE_MAX_BYTES", "4096"}, {"NANSCOPE_CAPTURE_MIN_FREE_BYTES", "12 GiB"}, {"RANK", "5"}};
    const auto settings = captureSettingsOfEnvironment();
    EXPECT_TRUE(settings.on);
    EXPECT_EQ(settings.folder, "/scratch/c");
    EXPECT_TRUE(settings.raises);
    EXPECT_EQ(settings.callsAgain, 3);
    EXPECT_EQ(settings.limits.perShape, 4U) << "what is not understood leaves the default";
    EXPECT_EQ(settings.limits.bytes, 4096U);
    EXPECT_EQ(settings.limits.freeBytes, probe::CaptureLimits {}.freeBytes);
    EXPECT_EQ(settings.rank, 5);
}

TEST(CaptureSettingsTest, TakesThoseOfDion)
{
    const Variable on {"DION_NAN_CAPTURE", "1"};
    EXPECT_TRUE(captureSettingsOfEnvironment().on);
    EXPECT_EQ(captureSettingsOfEnvironment().folder, "./dion_nan_captures");
    EXPECT_TRUE(captureSettingsOfEnvironment().raises) << "the wrapper's own default";
    const Variable calm {"DION_NAN_CAPTURE_RAISE", "0"};
    EXPECT_FALSE(captureSettingsOfEnvironment().raises);
}

} // namespace

} // namespace nanscope
