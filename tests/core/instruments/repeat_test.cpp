// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/instruments/measure.h"
#include "samples.h"
#include "tests/core/replay/devicearound.h"

namespace nanscope {
namespace {

using testing::cellOf;
using ::testing::HasSubstr;
using testing::MadeTarget;
using testing::waveInputBatch;

TEST(Repeat, ACellGivesTheSameBitsAndSaysWhatThatIsWorth)
{
    const auto cell = cellOf("gns-gram", Precision::fp16);
    const auto inputBatch = waveInputBatch({6, 10});
    instruments::Measurement measurement(*cell, inputBatch, {});
    const auto answer = instruments::repeatBitwise(measurement, 30);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->count.calls, 30);
    EXPECT_EQ(answer->count.differ, 0);
    EXPECT_EQ(answer->count.distinct, 1);
    EXPECT_DOUBLE_EQ(*answer->count.bound(), 0.1);
    EXPECT_THAT(answer->sentence, HasSubstr("not reproduced in this setting"));
    EXPECT_THAT(answer->sentence,
        HasSubstr("none of 30 calls differs from the first, so that at 95 % confidence fewer than 10 % do here"));
    const auto once = instruments::repeatBitwise(measurement, 1);
    ASSERT_TRUE(once);
    EXPECT_THAT(once->sentence, HasSubstr("none of 1 call differs from the first, which are too few"));
}

/// Remembers how many matrices it was given at once.
class CountingDevice : public test::DeviceAround
{
public:
    explicit CountingDevice(std::int64_t& most)
        : m_most(most)
    { }
    std::int64_t batchLimit(const replay::Program& /*program*/) const override { return 1000; }
    Result<void> prepare(const replay::Program& program, std::int64_t batch) override
    {
        m_most = std::max(m_most, batch);
        return DeviceAround::prepare(program, batch);
    }

private:
    std::int64_t& m_most;
};

TEST(Repeat, ACellTakesOneMatrixAtATimeWhateverThereIsRoomFor)
{
    std::int64_t most = 0;
    instruments::CellChoice choice;
    choice.variant = "gns-gram";
    const auto cell =
        instruments::CellTarget::make(choice, [&](const std::string&) -> Result<std::unique_ptr<replay::Device>> {
            return std::make_unique<CountingDevice>(most);
        });
    ASSERT_TRUE(cell);
    const auto inputBatch = waveInputBatch({3, 6, 10});
    instruments::Measurement measurement(**cell, inputBatch, {});
    EXPECT_TRUE(instruments::repeatBitwise(measurement, 3));
    EXPECT_EQ(most, 1);
}

TEST(Repeat, OneBitInOneCallIsCounted)
{
    int calls = 0;
    MadeTarget made([&](std::vector<double> values, const MatrixShape&) {
        if (++calls == 9) {
            values[3] = std::nextafter(values[3], 10);
        }
        return values;
    });
    const auto inputBatch = waveInputBatch({6, 10});
    instruments::Measurement measurement(made, inputBatch, {});
    const auto answer = instruments::repeatBitwise(measurement, 20);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->count.differ, 1);
    EXPECT_EQ(answer->count.distinct, 2);
    EXPECT_EQ(answer->count.bound(), std::nullopt);
    EXPECT_THAT(answer->sentence, HasSubstr("1 of 20 calls differ"));
    EXPECT_EQ(answer->count.firstDiffering, 8) << "of the burst, which follows one call";
    EXPECT_EQ(answer->output.size(), 32U);
    const auto json = instruments::toJson(*answer);
    EXPECT_EQ(json["first_differing"], 8);
    EXPECT_EQ(json["first_non_finite"], nullptr);
    EXPECT_EQ(json["output"], answer->output);
}

TEST(Repeat, WhatFailsEveryTimeIsReproduced)
{
    instruments::RepeatCount count;
    count.calls = 20;
    count.nonFinite = 20;
    EXPECT_EQ(instruments::repeatSentence(count),
        "each of 20 calls gave the same bits, and none of them finite: it fails on this input every time");
    count.nonFinite = 0;
    EXPECT_THAT(instruments::repeatSentence(count), HasSubstr("not reproduced in this setting"));
}

TEST(Repeat, CallsWithoutAnOutputAreNeitherSameNorOther)
{
    instruments::Burst burst;
    burst.calls = {{"a", true}, {"", false}, {"b", false}, {"a", true}};
    const auto count = instruments::countRepeats(burst, "a");
    EXPECT_EQ(count.calls, 3);
    EXPECT_EQ(count.failed, 1);
    EXPECT_EQ(count.differ, 1);
    EXPECT_EQ(count.nonFinite, 1);
    EXPECT_EQ(count.distinct, 2);
    EXPECT_EQ(count.firstDiffering, 3) << "calls without an output are calls";
    EXPECT_EQ(count.firstNonFinite, 3);
}

TEST(Repeat, TheFirstCallOfSeveralBurstsIsCountedThrough)
{
    const auto steady = instruments::countRepeats({{{"a", true}, {"", false}}, {}}, "a");
    EXPECT_EQ(steady.firstDiffering, std::nullopt);
    EXPECT_EQ(steady.firstNonFinite, std::nullopt);
    auto total = steady;
    total += instruments::countRepeats({{{"a", true}, {"b", true}, {"c", false}}, {}}, "a");
    EXPECT_EQ(total.firstDiffering, 4);
    EXPECT_EQ(total.firstNonFinite, 5);
    total += instruments::countRepeats({{{"b", false}}, {}}, "a");
    EXPECT_EQ(total.firstDiffering, 4);
    EXPECT_EQ(total.differ, 3);
}

TEST(Repeat, StopsWhenItIsCancelled)
{
    const auto cell = cellOf("gns-gram", Precision::fp16);
    const auto inputBatch = waveInputBatch({6, 10});
    JobContext job;
    job.progress = [&](const Progress& progress) {
        if (progress.done == 5) {
            job.cancel.cancel();
        }
    };
    instruments::Measurement measurement(*cell, inputBatch, job);
    const auto answer = instruments::repeatBitwise(measurement, 1000);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::cancelled);
}

TEST(Storm, ACellIsRefused)
{
    const auto cell = cellOf("gns-gram", Precision::fp16);
    const auto inputBatch = waveInputBatch({6, 10});
    instruments::Measurement measurement(*cell, inputBatch, {});
    const auto answer = instruments::storm(measurement, {}, {});
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().what, HasSubstr("would test Nanscope, not your kernel"));
    EXPECT_THAT(instruments::checkInput(measurement).error().what, HasSubstr("would test Nanscope, not your kernel"));
}

/// Says that it runs on GPUs, and keeps what its bursts were asked for.
class OnGpus : public MadeTarget
{
public:
    explicit OnGpus(int gpus)
        : MadeTarget([](std::vector<double> values, const MatrixShape&) { return values; })
        , m_gpus(gpus)
    { }
    instruments::TargetFacts facts() const override
    {
        auto facts = MadeTarget::facts();
        facts.gpus = m_gpus;
        facts.environment.engine = "torch 2.11.0";
        facts.environment.device = "cuda:0";
        return facts;
    }
    Result<instruments::Burst> burst(
        const instruments::Question& question, const instruments::BurstOptions& options, const JobContext& job) override
    {
        asked.push_back(options);
        return MadeTarget::burst(question, options, job);
    }

    std::vector<instruments::BurstOptions> asked;

private:
    int m_gpus;
};

TEST(Storm, NcclRunsBesideTheCallsOfOneLegWhereThereAreSeveralGpus)
{
    const auto inputBatch = waveInputBatch({3, 4});
    instruments::StormRequest request;
    request.calls = 4;
    request.processes = 2;
    const auto withTraffic = [](const OnGpus& target) {
        return std::ranges::count_if(target.asked, &instruments::BurstOptions::traffic);
    };
    OnGpus one(1);
    instruments::Measurement alone(one, inputBatch, {});
    const auto answer = instruments::storm(alone, {}, request);
    ASSERT_TRUE(answer) << sentence(answer.error());
    EXPECT_EQ(answer->legs[7].skipped, "there is one GPU only");
    EXPECT_EQ(withTraffic(one), 0);
    OnGpus two(2);
    instruments::Measurement beside(two, inputBatch, {});
    EXPECT_FALSE(instruments::storm(beside, {}, request)) << "its last leg starts the function on each GPU";
    EXPECT_EQ(withTraffic(two), 1);
    ASSERT_GT(two.asked.size(), 7U);
    EXPECT_TRUE(two.asked[7].traffic);
    EXPECT_EQ(two.asked[7].streams, request.streams);
}

} // namespace
} // namespace nanscope
