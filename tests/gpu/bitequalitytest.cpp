// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gpu/gpu.h"
#include "tests/gpu/samples.h"

namespace nanscope {

namespace {

struct Case
{
    std::string variant;
    Precision precision;
    MatrixShape shape;
    bool batched;
};

std::vector<Case> allCases()
{
    std::vector<Case> cases;
    for (const auto precision : {Precision::fp32, Precision::fp64}) {
        for (const char* variant : {"keller-jordan", "torch-muon", "dion-ns5", "dion-polar-express"}) {
            cases.push_back({variant, precision, {1, 96, 160}, false});
            cases.push_back({variant, precision, {1, 160, 96}, false});
            if (std::string_view(variant) != "torch-muon") {
                cases.push_back({variant, precision, {3, 64, 128}, true});
                cases.push_back({variant, precision, {2, 130, 67}, true});
            }
        }
    }
    return cases;
}

void writeDoubles(const std::filesystem::path& path, const std::vector<double>& values)
{
    std::ofstream file(path, std::ios::binary);
    file.write(
        reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(double)));
}

std::vector<double> readDoubles(const std::filesystem::path& path, std::size_t count)
{
    std::vector<double> values(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(double)));
    return file ? values : std::vector<double>();
}

/// Eager torch runs once, in the very Python whose libraries this program is linked with.
class BitEquality : public testing::Test
{
protected:
    static void SetUpTestSuite()
    {
        s_folder = std::filesystem::path(testing::TempDir()) / fmt::format("nanscope-eager-{}", std::random_device()());
        std::filesystem::create_directories(s_folder);
        std::ofstream list(s_folder / "cases");
        const auto cases = allCases();
        for (std::size_t i = 0; i < cases.size(); ++i) {
            const auto& [variant, precision, shape, batched] = cases[i];
            const auto lead = batched ? fmt::format("{}x", shape.batch) : "";
            list << fmt::format("{} {} {} {}{}x{}\n", i, variant, precision == Precision::fp64 ? "float64" : "float32",
                lead, shape.rows, shape.cols);
            writeDoubles(s_folder / fmt::format("{}.in", i), test::normalInput(shape, static_cast<std::uint32_t>(i)));
        }
        list.close();
        const auto threads = makeTorchDevice("cpu").value()->environment().threads;
        const auto command = fmt::format(
            "\"{}\" \"{}\" \"{}\" {}", NANSCOPE_TORCH_PYTHON, NANSCOPE_EAGER_SCRIPT, s_folder.string(), threads);
        s_status = std::system(command.c_str());
    }

    static void TearDownTestSuite() { std::filesystem::remove_all(s_folder); }

    static inline std::filesystem::path s_folder;
    static inline int s_status = -1;
};

TEST_F(BitEquality, replaysGiveTheBitsOfEagerTorch)
{
    ASSERT_EQ(s_status, 0) << NANSCOPE_TORCH_PYTHON << " could not run the reference";
    const auto cases = allCases();
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto& test = cases[i];
        SCOPED_TRACE(fmt::format(
            "{} {} {}x{}x{}", test.variant, name(test.precision), test.shape.batch, test.shape.rows, test.shape.cols));
        auto device = makeTorchDevice("cpu").value();
        const auto& variant = test::variantNamed(test.variant);
        ReplayOptions options;
        options.precision = test.precision;
        options.rounding.lowering = variant.lowering;
        options.keepOutput = true;
        const auto input = test::normalInput(test.shape, static_cast<std::uint32_t>(i));
        const auto result = replay(variant, test.shape, input, *device, options);
        ASSERT_TRUE(result) << result.error().what;
        const auto expected = readDoubles(s_folder / fmt::format("{}.out", i), input.size());
        ASSERT_EQ(expected.size(), input.size());
        std::vector<double> output;
        for (const auto& matrix : result->outputs) {
            output.insert(output.end(), matrix.begin(), matrix.end());
        }
        EXPECT_TRUE(output == expected);
    }
}

} // namespace

} // namespace nanscope
