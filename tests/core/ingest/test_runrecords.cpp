// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What the capture helper writes once per process: settings of its rank.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/ingest/settings/runrecord.h"
#include "logfolder.h"

namespace nanscope {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr auto runRecordName = "nanscope_run_rank3_pid41_1795234396390.json";

std::string record(const std::string& more = R"("rank": 5)", const std::string& schema = "nanscope.run/1")
{
    return fmt::format(R"({{"schema": "{}", "pid": 41, "host": "00ff", {},
        "torch": {{"cuda": "13.0", "hip": null}},
        "gpu": {{"name": "NVIDIA H100 80GB HBM3", "uuid": "GPU-1", "capability": "9.0"}},
        "launch": {{"argv": ["train.py", "--lr=1"], "launcher": "torchrun", "world_size": 8}},
        "packages": {{"torch": "2.11.0+cu130", "nvidia_driver": "580.65.06"}}}})",
        schema, more);
}

class RunRecords : public LogFolder
{
protected:
    std::string refusal(const std::string& text)
    {
        const auto contents = ingest::readLog(m_folder.write(runRecordName, text), runRecordName);
        return contents ? "" : contents.error().what;
    }
};

auto says(const std::string& name, const std::string& value)
{
    return testing::AllOf(testing::Field(&Setting::name, name), testing::Field(&Setting::value, value));
}

} // namespace

TEST_F(RunRecords, AreSettingsOfTheirRank)
{
    const auto settings = read(runRecordName, record()).settings;
    EXPECT_THAT(settings, Contains(says("packages.torch", "2.11.0+cu130")));
    EXPECT_THAT(settings, Contains(says("packages.nvidia_driver", "580.65.06")));
    EXPECT_THAT(settings, Contains(says("gpu.uuid", "GPU-1")));
    EXPECT_THAT(settings, Contains(says("launch.world_size", "8")));
    EXPECT_THAT(settings, Contains(testing::Field(&Setting::name, "launch.argv")));
    EXPECT_THAT(settings, Not(Contains(testing::Field(&Setting::name, "torch.hip")))) << "null says nothing";
    EXPECT_THAT(settings, Not(Contains(testing::Field(&Setting::name, "schema"))));
    EXPECT_THAT(settings, testing::Each(testing::Field(&Setting::rank, 5))) << "its own word before the name";
    EXPECT_THAT(
        read(runRecordName, record(R"("rank": "x")")).settings, testing::Each(testing::Field(&Setting::rank, 3)));
}

TEST_F(RunRecords, ThatCannotBeReadGiveOneSentence)
{
    const auto whole = record();
    EXPECT_THAT(refusal(whole.substr(0, whole.size() / 2)), HasSubstr("copy it again"));
    EXPECT_THAT(refusal(""), HasSubstr("copy it again"));
    EXPECT_THAT(refusal("[]"), HasSubstr("says no schema"));
    EXPECT_THAT(refusal(record(R"("rank": 5)", "nanscope.run/7")),
        testing::AllOf(HasSubstr("\"nanscope.run/7\""), HasSubstr("nanscope.run/1")));
    EXPECT_THAT(refusal(record(fmt::format(R"("x": "{}")", std::string(300 << 10, 'y')))), HasSubstr("256 KiB"));
    EXPECT_THAT(refusal(record(R"("rank": 99999999999999999999)")), IsEmpty()) << "the name has it";
}

TEST_F(RunRecords, CostOnlyThemselves)
{
    m_folder.write("run/captures/" + std::string(runRecordName), record().substr(0, 100));
    m_folder.write("run/captures/nanscope_run_rank0_pid40_1795234396390.json", record(R"("rank": 0)"));
    m_folder.write("run/console.log", "Step 4: train_loss=1.5\n");
    const auto run = ingest::readRun(m_folder / "run");
    ASSERT_TRUE(run) << sentence(run.error());
    ASSERT_THAT(run->rejected, SizeIs(1));
    EXPECT_THAT(run->rejected.front().path, HasSubstr(runRecordName));
    EXPECT_THAT(run->settings, Contains(says("packages.torch", "2.11.0+cu130")));
    EXPECT_THAT(run->series, Not(IsEmpty()));
}

TEST_F(RunRecords, AreToldByTheirName)
{
    EXPECT_TRUE(ingest::hasRunRecordName(runRecordName));
    EXPECT_TRUE(ingest::hasRunRecordName(std::string("captures/") + runRecordName));
    for (const auto* other : {"nanscope_run_rank3_pid41_1.pt", "my_nanscope_run_rank3_pid41_1.json", "config.json"}) {
        EXPECT_FALSE(ingest::hasRunRecordName(other)) << other;
    }
}

} // namespace nanscope
