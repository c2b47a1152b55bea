// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
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
    // Large enough for every thread.
    cases.push_back({"keller-jordan", Precision::fp32, {1, 500, 400}, false});
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

struct Replayed
{
    std::vector<double> output;
    int threads = 0;
};

Replayed replayed(const Case& test, const std::vector<double>& input)
{
    auto device = makeTorchDevice("cpu").value();
    const auto& variant = test::variantNamed(test.variant);
    replay::ReplayOptions options;
    options.precision = test.precision;
    options.rounding.lowering = variant.lowering;
    options.keepOutput = true;
    const auto result = replay::replay(variant, test.shape, input, *device, options);
    EXPECT_TRUE(result) << (result ? "" : result.error().what);
    Replayed all;
    all.threads = device->environment().threads;
    for (const auto& matrix : result->outputs) {
        all.output.insert(all.output.end(), matrix.begin(), matrix.end());
    }
    return all;
}

std::string caseLine(std::size_t number, const Case& test, int threads)
{
    const auto lead = test.batched ? fmt::format("{}x", test.shape.batch) : "";
    const auto* dtype = test.precision == Precision::fp64 ? "float64" : "float32";
    return fmt::format(
        "{} {} {} {}{}x{} {}\n", number, test.variant, dtype, lead, test.shape.rows, test.shape.cols, threads);
}

class Folder
{
public:
    Folder()
        : m_path(std::filesystem::path(testing::TempDir()) / fmt::format("nanscope-eager-{}", std::random_device()()))
    {
        std::filesystem::create_directories(m_path);
    }
    ~Folder() { std::filesystem::remove_all(m_path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    const std::filesystem::path& path() const { return m_path; }

private:
    std::filesystem::path m_path;
};

// Eager torch runs once for all cases, in the very Python whose libraries this program is linked with.
TEST(BitEquality, replaysGiveTheBitsOfEagerTorch)
{
    const Folder folder;
    const auto cases = allCases();
    std::vector<Replayed> ours;
    std::ofstream list(folder.path() / "cases");
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto input = test::normalInput(cases[i].shape, static_cast<std::uint32_t>(i));
        writeDoubles(folder.path() / fmt::format("{}.in", i), input);
        ours.push_back(replayed(cases[i], input));
        list << caseLine(i, cases[i], ours.back().threads);
    }
    list.close();
    const auto command =
        fmt::format("\"{}\" \"{}\" \"{}\"", NANSCOPE_TORCH_PYTHON, NANSCOPE_EAGER_SCRIPT, folder.path().string());
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto expected = readDoubles(folder.path() / fmt::format("{}.out", i), ours[i].output.size());
        EXPECT_FALSE(expected.empty());
        EXPECT_TRUE(ours[i].output == expected) << caseLine(i, cases[i], ours[i].threads);
    }
}

} // namespace

} // namespace nanscope
