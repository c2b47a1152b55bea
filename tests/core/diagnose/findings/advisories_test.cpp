// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "core/diagnose/findings/advisories.h"
#include "core/model/verdict.h"

namespace nanscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Setting settingOf(std::string name, std::string value)
{
    return {std::move(name), std::move(value), {}, "env.json", 1};
}

/// A run with one damaged call, to which facts are added.
class Scene
{
public:
    Scene()
    {
        Capture capture;
        capture.file = "a.pt";
        capture.input.shape = {1, 512, 1408};
        capture.input.dtype = DType::bfloat16;
        Scan scan;
        scan.count = 512 * 1408;
        capture.input.batches = {scan};
        run.captures.push_back(capture);
        CaptureVerdict verdict;
        verdict.capture = "a.pt";
        verdict.role = Role::birth;
        verdict.variant.how = IdentifiedBy::given;
        verdict.variant.names = {"gns-gram"};
        verdicts.push_back(verdict);
    }

    Scene& with(const std::string& name, const std::string& value, std::optional<int> rank = {})
    {
        run.settings.push_back(settingOf(name, value));
        run.settings.back().rank = rank;
        return *this;
    }

    std::vector<AdvisoryMatch> matches() const
    {
        return diagnose::matchAdvisories(diagnose::builtInAdvisories(), diagnose::factsOf(run, verdicts));
    }

    std::optional<AdvisoryMatch> match(std::string_view id) const
    {
        for (auto& one : matches()) {
            if (one.id == id) {
                return one;
            }
        }
        return std::nullopt;
    }

    RunData run;
    std::vector<CaptureVerdict> verdicts;
};

std::string wrapped(const std::string& advisory)
{
    return R"({"schema": "nanscope.advisories/1", "dated": "2026-01-02", "advisories": [)" + advisory + "]}";
}

std::string advisory(const std::string& rules, const std::string& id = "mine")
{
    return R"({"id": ")" + id
        + R"(", "status": "suspected", "title": "A title", "text": "A text.", "link": "https://example.org/1")" + rules
        + "}";
}

TEST(Advisories, ThoseThatAreBuiltInCanBeReadAndDifferInId)
{
    const auto& all = diagnose::builtInAdvisories();
    ASSERT_GE(all.size(), 15U);
    std::set<std::string> ids;
    for (const auto& one : all) {
        EXPECT_TRUE(ids.insert(one.id).second) << one.id;
        EXPECT_EQ(one.dated.size(), 10U) << one.id;
        EXPECT_TRUE(one.text.ends_with('.')) << one.id;
    }
}

TEST(Advisories, MatchesWhereEveryFactIsKnown)
{
    Scene scene;
    scene.with("packages.quack_kernels", "0.4.1").with("gpu.0000:41:00.0", "NVIDIA RTX PRO 6000 Blackwell, GPU-1");
    const auto match = scene.match("quack-sm120-launch-wait");
    ASSERT_TRUE(match);
    EXPECT_TRUE(match->certain);
    EXPECT_EQ(match->status, AdvisoryStatus::suspected);
    EXPECT_EQ(match->matched, "quack-kernels 0.4.1, compute capability 12.0, gns-gram, shape 1x512x1408");
    EXPECT_EQ(match->missing, "");
    EXPECT_EQ(match->dated, "2026-08-20");
}

TEST(Advisories, OneFactThatSpeaksAgainstIsEnough)
{
    const auto known = [](const char* version, const char* gpu) {
        Scene scene;
        scene.with("packages.quack_kernels", version).with("gpu.0000:41:00.0", gpu);
        return scene;
    };
    const auto* blackwell = "NVIDIA RTX PRO 6000 Blackwell";
    EXPECT_FALSE(known("0.3.10", blackwell).match("quack-sm120-launch-wait"));
    EXPECT_FALSE(known("0.6.5", blackwell).match("quack-sm120-launch-wait"));
    EXPECT_FALSE(known("0.4.1", "NVIDIA H100 80GB HBM3").match("quack-sm120-launch-wait"));
    auto small = known("0.4.1", blackwell);
    small.run.captures[0].input.shape = {1, 128, 1408};
    EXPECT_FALSE(small.match("quack-sm120-launch-wait"));
    auto other = known("0.4.1", blackwell);
    other.verdicts[0].variant.names = {"keller-jordan"};
    EXPECT_FALSE(other.match("quack-sm120-launch-wait"));
}

TEST(Advisories, SaysWhichFactWouldTell)
{
    Scene scene;
    scene.verdicts[0].variant.how = IdentifiedBy::unknown;
    const auto match = scene.match("quack-sm120-launch-wait");
    ASSERT_TRUE(match);
    EXPECT_FALSE(match->certain);
    EXPECT_EQ(match->matched, "shape 1x512x1408");
    EXPECT_EQ(match->missing, "the version of quack-kernels, the GPU, which function ran (--ran)");
}

TEST(Advisories, AListOfPackagesWithoutOneMeansThatItIsNotInstalled)
{
    Scene scene;
    scene.with("packages.torch", "2.11.0+cu130");
    EXPECT_FALSE(scene.match("quack-sm120-launch-wait"));
}

TEST(Advisories, VersionsThatALogPrintsCountToo)
{
    Scene scene;
    scene.with("quack.version", "0.4.1").with("gpu.capability", "12.0");
    EXPECT_TRUE(scene.match("quack-sm120-launch-wait")->certain);
    Scene wandb;
    wandb.with("quack_kernels_version", "0.4.1").with("gpu.capability", "12.0");
    EXPECT_TRUE(wandb.match("quack-sm120-launch-wait")->certain);
}

TEST(Advisories, AnyOfSeveralRangesMatches)
{
    for (const auto& [version, affected] :
        {std::pair("0.1.1", true), std::pair("0.1.2", false), std::pair("0.1.4", true), std::pair("0.1.6", false)}) {
        Scene scene;
        scene.with("packages.gram_newton_schulz", version);
        EXPECT_EQ(scene.match("gns-autotune").has_value(), affected) << version;
    }
}

TEST(Advisories, OfMixedVersionsTheMatchNamesTheRank)
{
    Scene scene;
    scene.with("gpu.capability", "12.0");
    for (int rank = 0; rank < 4; ++rank) {
        scene.with("quack_version", rank == 2 ? "0.4.1" : "0.7.0", rank);
    }
    const auto match = scene.match("quack-sm120-launch-wait");
    ASSERT_TRUE(match);
    EXPECT_THAT(
        match->matched, HasSubstr("quack-kernels 0.4.1 on rank 2, not quack-kernels 0.7.0 on ranks 0, 1, 3, compute"));
    for (auto& setting : scene.run.settings) {
        setting.rank.reset();
    }
    scene.run.settings[3].source = "node2/env.json";
    EXPECT_THAT(
        scene.match("quack-sm120-launch-wait")->matched, HasSubstr("quack-kernels 0.4.1 (node2/env.json), not"));
    scene.run.settings[3].value = "0.7.1";
    EXPECT_FALSE(scene.match("quack-sm120-launch-wait")) << "no rank has an affected one";
}

TEST(Advisories, OneVersionOnAllRanksNamesNone)
{
    Scene scene;
    scene.with("gpu.capability", "12.0").with("quack_version", "0.4.1", 0).with("quack_version", "0.4.1", 1);
    EXPECT_THAT(scene.match("quack-sm120-launch-wait")->matched, Not(HasSubstr("rank")));
}

TEST(Advisories, ACommitIsNoVersionAndNoProofThatItIsMissing)
{
    Scene scene;
    scene.with("packages.torch", "2.11.0+cu130")
        .with("packages.quack_kernels", "60d8808")
        .with("gpu.capability", "12.0");
    const auto match = scene.match("quack-sm120-launch-wait");
    ASSERT_TRUE(match) << "an environment that lists torch lists what is installed";
    EXPECT_FALSE(match->certain);
    EXPECT_EQ(match->missing, "which version quack-kernels 60d8808 is (not comparable)");
    Scene model;
    model.with("packages.torch", "2.11.0").with("quack.version", "transformer").with("gpu.capability", "12.0");
    EXPECT_FALSE(model.match("quack-sm120-launch-wait")) << "no version of a package";
}

TEST(Advisories, BuildsAndCandidatesStandWhereTheirVersionDoes)
{
    for (const auto& [version, affected] :
        {std::pair("0.6.4+cu130", true), std::pair("0.6.5rc1", false), std::pair("0.3.11rc1", false),
            std::pair("0.4.0.dev20260101+git60d8808", true), std::pair("0.6.4.post1", false)}) {
        Scene scene;
        scene.with("packages.quack_kernels", version).with("gpu.capability", "12.0");
        EXPECT_EQ(scene.match("quack-sm120-launch-wait").has_value(), affected) << version;
    }
}

TEST(Advisories, APackageWithoutARangeLeavesTheMendOpen)
{
    Scene scene;
    scene.with("packages.flash_muon", "0.0.1");
    const auto match = scene.match("flash-muon-mirror");
    EXPECT_FALSE(match) << "nothing of it is known to match";
}

TEST(Advisories, AHealthyRunIsOnlyToldWhatIsCertain)
{
    Scene scene;
    scene.verdicts[0].role = Role::healthy;
    EXPECT_THAT(scene.matches(), ::testing::IsEmpty());
    scene.with("packages.quack_kernels", "0.4.1").with("gpu.capability", "12.0");
    EXPECT_TRUE(scene.match("quack-sm120-launch-wait"));
}

TEST(Advisories, ARunOfLogsAloneMatchesNothingThatAsksForACall)
{
    RunData run;
    run.settings = {settingOf("packages.quack_kernels", "0.4.1"), settingOf("gpu.capability", "12.0")};
    EXPECT_THAT(
        diagnose::matchAdvisories(diagnose::builtInAdvisories(), diagnose::factsOf(run, {})), ::testing::IsEmpty());
}

TEST(Advisories, CallRulesAskTheShapeTheFormatAndTheContents)
{
    Scene scene;
    scene.run.captures[0].input.dtype = DType::float16;
    EXPECT_FALSE(scene.match("torch-normalize-fp16"));
    scene.run.captures[0].input.batches[0].zero = 512 * 1408;
    EXPECT_TRUE(scene.match("torch-normalize-fp16")->certain);
    EXPECT_FALSE(scene.match("batch-offset-int32"));
    scene.run.captures[0].input.shape = {320, 2560, 3072};
    EXPECT_TRUE(scene.match("batch-offset-int32")->certain);
}

TEST(Advisories, AUsersFileAddsAndReplaces)
{
    const auto mine = diagnose::parseAdvisories(
        wrapped(advisory(R"(, "shape": {"square": false})") + ","
            + advisory(R"(, "packages": [{"name": "quack", "versions": "*"}])", "gns-autotune")),
        {});
    ASSERT_TRUE(mine) << mine.error().what;
    const auto all = diagnose::joinAdvisories(diagnose::builtInAdvisories(), *mine);
    EXPECT_EQ(all.size(), diagnose::builtInAdvisories().size() + 1);
    EXPECT_EQ(all.back().id, "mine");
    EXPECT_EQ(std::ranges::count(all, "gns-autotune", &diagnose::Advisory::id), 1);
    Scene scene;
    const auto matches = diagnose::matchAdvisories(*mine, diagnose::factsOf(scene.run, scene.verdicts));
    ASSERT_EQ(matches.size(), 1U);
    EXPECT_EQ(matches[0].id, "mine");
    EXPECT_EQ(matches[0].dated, "2026-01-02");
}

TEST(Advisories, BadFilesAreRefusedInOneSentence)
{
    const std::vector<std::pair<std::string, std::string>> bad {
        {"[]", "schema"},
        {"not json", "schema"},
        {R"({"schema": "nanscope.advisories/2", "dated": "2026-01-02", "advisories": []})", "schema"},
        {R"({"schema": "nanscope.advisories/1", "dated": "soon", "advisories": []})", "dated"},
        {wrapped("3"), "list of objects"},
        {wrapped(advisory("")), "no rule"},
        {wrapped(advisory(R"(, "shapes": {})")), "\"shapes\" is not known"},
        {wrapped(advisory(R"(, "shape": {"rows": ">1"})")), "\"rows\" is not known"},
        {wrapped(advisory(R"(, "shape": {"batch": 3})")), "\"batch\" must be such as"},
        {wrapped(advisory(R"(, "variants": ["nobody"])")), "no variant \"nobody\""},
        {wrapped(advisory(R"(, "dtypes": "int4")")), "dtypes"},
        {wrapped(advisory(R"(, "packages": [{"name": "x", "versions": "new"}])")), "versions"},
        {wrapped(advisory(R"(, "capability": "sm120")")), "capability"},
        {wrapped(R"({"id": "x"})"), "\"title\" must be"},
    };
    for (const auto& [text, reason] : bad) {
        const auto read = diagnose::parseAdvisories(text, {});
        ASSERT_FALSE(read) << text;
        EXPECT_THAT(read.error().what, HasSubstr(reason)) << text;
        EXPECT_EQ(read.error().what.find('\n'), std::string::npos);
    }
}

TEST(Advisories, ADriverIsAPackageOfTheRunRecord)
{
    const auto mine = diagnose::parseAdvisories(
        wrapped(advisory(R"(, "packages": [{"name": "nvidia-driver", "versions": "<580.82"}])")), {});
    ASSERT_TRUE(mine) << mine.error().what;
    RunData run;
    run.settings = {{"packages.torch", "2.11.0+cu130", 3, "nanscope_run_rank3_pid1_2.json", 1},
        {"packages.nvidia_driver", "580.65.06", 3, "nanscope_run_rank3_pid1_2.json", 2}};
    const auto matches = diagnose::matchAdvisories(*mine, diagnose::factsOf(run, {}));
    ASSERT_EQ(matches.size(), 1U) << "no capture has to say it";
    EXPECT_TRUE(matches.front().certain);
    EXPECT_THAT(matches.front().matched, HasSubstr("nvidia-driver 580.65.06"));
    run.settings.back().value = "580.95.05";
    EXPECT_TRUE(diagnose::matchAdvisories(*mine, diagnose::factsOf(run, {})).empty());
}

TEST(Advisories, ARefusedFileIsNamed)
{
    const auto path = std::filesystem::path(::testing::TempDir()) / "advisories_refused.json";
    std::ofstream(path) << "{}";
    const auto read = diagnose::readAdvisories(path, {});
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().path, path.string());
}

} // namespace
} // namespace nanscope
