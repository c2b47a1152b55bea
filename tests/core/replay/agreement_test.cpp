// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/agreement.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>

#include "tests/core/replay/devicearound.h"

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace nanscope {

namespace {

/// A device that gave these hashes, each one word.
replay::DeviceHashes device(
    const std::string& name, const std::vector<std::uint64_t>& hashes, const std::string& model = "H200")
{
    replay::DeviceHashes result {name, model, {}};
    for (const auto hash : hashes) {
        result.hashes.push_back({{7, hash}});
    }
    return result;
}

replay::Replay finished(double value)
{
    replay::Replay replay;
    replay.outputs = {std::vector {1.0, 2.0, value}};
    Scan scan;
    scan.count = 3;
    replay.ops = {OpTrace {1, OpName::gram, 1, 3, {scan}, {}}};
    return replay;
}

} // namespace

TEST(Agreement, EqualBitsAgree)
{
    const auto result = replay::agreementOf({device("cuda:0", {5, 5}), device("cuda:1", {5, 5})});
    EXPECT_EQ(result.agree, true);
    EXPECT_THAT(result.odd, IsEmpty());
    EXPECT_EQ(result.text, "2 devices of one model give the same bits");
}

TEST(Agreement, AMajorityNamesTheOddOneOut)
{
    const auto result = replay::agreementOf(
        {device("cuda:0", {5}), device("cuda:1", {6}), device("cuda:2", {5}), device("cuda:3", {5})});
    EXPECT_EQ(result.agree, false);
    EXPECT_THAT(result.odd, ElementsAre("cuda:1"));
    EXPECT_THAT(result.text, HasSubstr("cuda:1 gives other bits than most of the same model"));
}

TEST(Agreement, OfTwoThatDifferNoneIsAccused)
{
    const auto two = replay::agreementOf({device("cuda:0", {5}), device("cuda:1", {6})});
    EXPECT_EQ(two.agree, false);
    EXPECT_THAT(two.odd, IsEmpty());
    EXPECT_THAT(two.text, HasSubstr("no majority says which is right"));
    const auto four = replay::agreementOf(
        {device("cuda:0", {5}), device("cuda:1", {5}), device("cuda:2", {6}), device("cuda:3", {6})});
    EXPECT_THAT(four.odd, IsEmpty()) << "half is no majority";
}

TEST(Agreement, OneThatDiffersFromItselfIsNamedAndHasNoVote)
{
    const auto result =
        replay::agreementOf({device("cuda:0", {5, 5, 5}), device("cuda:1", {5, 6, 5}), device("cuda:2", {5, 5, 5})});
    EXPECT_EQ(result.agree, false);
    EXPECT_THAT(result.odd, ElementsAre("cuda:1"));
    EXPECT_THAT(result.text, HasSubstr("cuda:1 does not give the same bits every time"));
}

TEST(Agreement, AHashIsReadAsItWasWritten)
{
    const replay::ReplayHash hash {{7, ~std::uint64_t {0}}};
    EXPECT_EQ(replay::parseReplayHash(hash.hex()), hash);
    for (const auto* text : {"", "7", "000000000000000g0000000000000000", "000000000000000700000000000000071"}) {
        EXPECT_EQ(replay::parseReplayHash(text), std::nullopt) << text;
    }
}

TEST(Agreement, OtherModelsMayRoundOtherwise)
{
    const auto result = replay::agreementOf({device("cuda:0", {5}, "H200"), device("cuda:1", {6}, "A100")});
    EXPECT_EQ(result.agree, std::nullopt);
    EXPECT_THAT(result.odd, IsEmpty());
    EXPECT_THAT(result.text, HasSubstr("no two devices are of one model"));
    EXPECT_EQ(replay::agreementOf({device("cuda:0", {5})}).agree, std::nullopt);
    EXPECT_THAT(replay::agreementOf({}).text, HasSubstr("no device"));
    EXPECT_EQ(replay::agreementOf({device("cuda:0", {5}), device("cuda:1", {})}).text,
        "there is one device only, and no other to hold it against; cuda:1 gave nothing");
}

TEST(Agreement, TheHashSeesBitsAndIntermediateCounts)
{
    const auto hash = replay::hashOf(finished(3));
    EXPECT_EQ(hash, replay::hashOf(finished(3)));
    EXPECT_EQ(hash.hex().size(), 32U);
    EXPECT_NE(hash, replay::hashOf(finished(std::nextafter(3, 4))));
    EXPECT_NE(replay::hashOf(finished(0.0)), replay::hashOf(finished(-0.0)));
    EXPECT_EQ(replay::hashOf(finished(std::nan("1"))), replay::hashOf(finished(std::nan("2")))) << "NaN is NaN";
    auto mended = finished(3);
    mended.ops[0].batches[0].absmax = 9;
    EXPECT_NE(hash, replay::hashOf(mended)) << "an error that the iteration mended";
    auto summed = finished(3);
    summed.ops[0].batches[0].sumSquares = 9;
    EXPECT_EQ(hash, replay::hashOf(summed)) << "sums come in any order";
}

/// A capture of two matrices.
std::filesystem::path writeTwo(const char* name)
{
    auto path = std::filesystem::temp_directory_path() / name;
    std::vector<float> values(2 * 12 * 20);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = std::sin(static_cast<float>(i * i));
    }
    const auto bytes = std::as_bytes(std::span(values));
    EXPECT_TRUE(tensorfile::writePt(path,
        {{"input", tensorfile::TensorToWrite {"input", DType::float32, {2, 12, 20}, {bytes.begin(), bytes.end()}}}}));
    return path;
}

TEST(Agreement, OneDeviceTwiceGivesTheSameBits)
{
    const auto path = writeTwo("nanscope-agreement.pt");
    const std::vector<std::string> devices {"cpu", "cpu"};
    replay::AgreementRequest request {path.string(), "gns-gram", std::nullopt, 2};
    const auto result = replay::replayEverywhere(request, devices, replay::makeCoreDevice);
    ASSERT_TRUE(result) << sentence(result.error());
    EXPECT_EQ(result->agree, true) << result->text;
    EXPECT_EQ(result->devices[1].hashes.size(), 2U);
    request.variant = "gns-grum";
    EXPECT_THAT(replay::replayEverywhere(request, devices, replay::makeCoreDevice).error().what, HasSubstr("gns-gram"));
    std::filesystem::remove(path);
}

/// Has room for so many matrices.
class RoomyDevice : public test::DeviceAround
{
public:
    explicit RoomyDevice(std::int64_t room, std::int64_t& most)
        : m_room(room)
        , m_most(most)
    { }
    std::int64_t batchLimit(const replay::Program& /*program*/) const override
    {
        return std::max<std::int64_t>(1, m_room);
    }
    Result<void> prepare(const replay::Program& program, std::int64_t batch) override
    {
        m_most = std::max(m_most, batch);
        return batch > m_room ? failure(ErrorKind::refused, "not enough memory")
                              : DeviceAround::prepare(program, batch);
    }

private:
    std::int64_t m_room;
    std::int64_t& m_most;
};

TEST(Agreement, ADeviceThatCannotLeavesTheOthersTheirAnswer)
{
    const auto path = writeTwo("nanscope-agreement-full.pt");
    const std::vector<std::string> devices {"cuda:0", "cuda:1", "cuda:2", "cuda:3"};
    std::int64_t most = 0;
    const auto factory = [&](const std::string& name) -> Result<std::unique_ptr<replay::Device>> {
        if (name == "cuda:2") {
            return failure(ErrorKind::unsupported, "it is taken");
        }
        return std::make_unique<RoomyDevice>(name == "cuda:1" ? 0 : 2, most);
    };
    const auto result = replay::replayEverywhere({path.string(), "gns-gram", std::nullopt, 2}, devices, factory);
    std::filesystem::remove(path);
    ASSERT_TRUE(result) << sentence(result.error());
    EXPECT_EQ(result->agree, true);
    EXPECT_EQ(result->text, "2 devices of one model give the same bits; cuda:1 gave nothing; cuda:2 gave nothing");
    EXPECT_THAT(result->odd, IsEmpty());
    EXPECT_EQ(result->devices[1].problem, "not enough memory");
    EXPECT_EQ(result->devices[2].problem, "it is taken");
    EXPECT_EQ(result->devices[3].problem, "");
    EXPECT_EQ(most, 1) << "bits depend on how many matrices there is room for at once";
}

} // namespace nanscope
