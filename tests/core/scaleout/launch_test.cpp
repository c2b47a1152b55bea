// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/launch.h"

#include <map>

#include <gmock/gmock.h>

namespace nanscope::scaleout {

namespace {

using ::testing::HasSubstr;

Result<Launch> launched(const std::map<std::string, std::string>& variables)
{
    return launchOf([&](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
}

/// As torchrun of torch 2.11 sets them.
std::map<std::string, std::string> torchrun(const std::string& agentStore)
{
    return {{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"},
        {"TORCHELASTIC_USE_AGENT_STORE", agentStore}, {"TORCHELASTIC_RUN_ID", "abc"},
        {"TORCHELASTIC_RESTART_COUNT", "2"}};
}

TEST(Launch, IsAloneWithoutAnybodysVariables)
{
    const auto launch = launched({});
    ASSERT_TRUE(launch);
    EXPECT_TRUE(launch->alone());
    EXPECT_EQ(*launch, Launch());
}

TEST(Launch, ReadsWhatTorchrunSets)
{
    auto variables = torchrun("True");
    EXPECT_EQ(launched(variables).value_or(Launch()), (Launch {3, 8, 1, "node1", 29500, false, "abc-2"}));
    variables["RANK"] = "0";
    ASSERT_TRUE(launched(variables));
    EXPECT_FALSE(launched(variables)->keepsStore);
    variables["TORCHELASTIC_USE_AGENT_STORE"] = "False";
    EXPECT_TRUE(launched(variables)->keepsStore);
}

TEST(Launch, PrefersTorchrunInsideOfSlurm)
{
    auto variables = torchrun("True");
    variables.insert({{"SLURM_PROCID", "7"}, {"SLURM_NTASKS", "64"}, {"SLURM_JOB_ID", "12"}});
    EXPECT_EQ(launched(variables).value_or(Launch()).rank, 3);
}

TEST(Launch, ReadsWhatSrunSets)
{
    std::map<std::string, std::string> variables {{"SLURM_PROCID", "9"}, {"SLURM_NTASKS", "16"}, {"SLURM_LOCALID", "1"},
        {"SLURM_JOB_ID", "4711"}, {"SLURM_STEP_ID", "2"}, {"SLURM_STEP_NODELIST", "gpu[017-020],login"}};
    const auto launch = launched(variables).value_or(Launch());
    EXPECT_EQ(launch.rank, 9);
    EXPECT_EQ(launch.processes, 16);
    EXPECT_EQ(launch.localRank, 1);
    EXPECT_EQ(launch.host, "gpu017");
    EXPECT_FALSE(launch.keepsStore);
    EXPECT_EQ(launch.start, "4711.2");
    variables["SLURM_PROCID"] = "0";
    const auto first = launched(variables).value_or(Launch());
    EXPECT_TRUE(first.keepsStore);
    EXPECT_EQ(first.port, launch.port);
    variables["SLURM_STEP_ID"] = "3";
    EXPECT_NE(launched(variables).value_or(Launch()).port, launch.port);
}

TEST(Launch, NamesAVariableThatMakesNoSense)
{
    auto variables = torchrun("True");
    variables["RANK"] = "three";
    const auto launch = launched(variables);
    ASSERT_FALSE(launch);
    EXPECT_THAT(launch.error().what, HasSubstr("RANK is 'three'"));
}

TEST(Launch, FindsTheFirstHostOfASlurmList)
{
    EXPECT_EQ(firstHost("login1"), "login1");
    EXPECT_EQ(firstHost("a,b"), "a");
    EXPECT_EQ(firstHost("node[07-12,20],login1"), "node07");
    EXPECT_EQ(firstHost("node[3,5]"), "node3");
    EXPECT_EQ(firstHost("rack1-[2-4]-ib,rack2-1-ib"), "rack1-2-ib");
    EXPECT_EQ(firstHost("x,node[1-2]"), "x");
    EXPECT_EQ(firstHost("node[1"), "node1");
    EXPECT_EQ(firstHost(""), "");
}

} // namespace

} // namespace nanscope::scaleout
