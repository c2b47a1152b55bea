// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

namespace {

class Golden : public ::testing::Test
{
protected:
    void SetUp() override
    {
        std::ifstream file(m_sample + "/expected.json");
        if (!file) {
            GTEST_SKIP() << "resources/sample has not been made";
        }
        m_expected = Json::parse(file);
    }

    std::string birthFile() const
    {
        return m_sample + "/dion_nan_captures/" + m_expected["birth"]["capture"].get<std::string>();
    }

    const std::string m_sample = NANSCOPE_SAMPLE;
    Json m_expected;
};

std::set<std::string> names(const Json& array)
{
    return array.get<std::set<std::string>>();
}

Json byCapture(const Json& captures, const Json& name)
{
    for (const auto& capture : captures) {
        if (capture["capture"] == name) {
            return capture;
        }
    }
    return {};
}

} // namespace

TEST_F(Golden, DiagnoseTellsTheTruthOfTheSample)
{
    const auto done = run({"diagnose", m_sample, "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    const auto json = done.json();
    EXPECT_EQ(json["triage"], m_expected["triage"]);
    const auto& birth = json["captures"][0];
    const auto& wanted = m_expected["birth"];
    EXPECT_EQ(birth["capture"], wanted["capture"]);
    EXPECT_EQ(birth["role"], "birth");
    for (const auto* key : {"rank", "step", "step_source", "verdict"}) {
        EXPECT_EQ(birth[key], wanted[key]) << key;
    }
    EXPECT_EQ(birth["variant"]["how"], wanted["variant"]["how"]);
    EXPECT_EQ(names(birth["variant"]["names"]), names(wanted["variant"]["names"]));
    EXPECT_GT(birth["variant"]["runner_up"].get<double>(), 3 * birth["variant"]["fit"].get<double>());
    for (const auto* key : {"name", "batch", "rows", "cols"}) {
        EXPECT_EQ(birth["damage"][key], wanted["damage"][key]) << key;
    }
    EXPECT_EQ(birth["damage"]["count"], wanted["damage"]["nan"]);
    for (const auto* key : {"for", "not_testable", "next"}) {
        EXPECT_FALSE(birth[key].empty()) << key;
    }
}

TEST_F(Golden, TheSecondBirthIsAnOverflowInTheCast)
{
    const auto json = run({"diagnose", m_sample, "--json"}).json();
    const auto& wanted = m_expected["overflow"];
    const auto birth = byCapture(json["captures"], wanted["capture"]);
    for (const auto* key : {"rank", "step", "step_source", "verdict", "rule"}) {
        EXPECT_EQ(birth[key], wanted[key]) << key;
    }
    EXPECT_EQ(birth["variant"]["how"], wanted["variant"]["how"]);
    EXPECT_EQ(names(birth["variant"]["names"]), names(wanted["variant"]["names"]));
    EXPECT_TRUE(birth["against"].empty()) << birth["against"];
    EXPECT_THAT(birth["not_testable"].dump(), HasSubstr("no momentum makes that of such gradients"));
    EXPECT_THAT(json["rollback"]["tonight"].get<std::string>(), HasSubstr("also normalise in fp32 before any cast"));
}

TEST_F(Golden, AUserNamesTheFormatThatASidecarLeavesOut)
{
    const auto json = run({"diagnose", m_sample, "--ran", "deepspeed-gram:bf16", "--json"}).json();
    const auto birth = byCapture(json["captures"], m_expected["overflow"]["capture"]);
    EXPECT_EQ(birth["verdict"], "undecided") << "in bf16 this input stays finite";
    EXPECT_EQ(names(birth["variant"]["names"]), names(m_expected["overflow"]["variant"]["names"]));
}

TEST_F(Golden, DiagnoseGivesEveryCaptureItsRole)
{
    const auto json = run({"diagnose", m_sample, "--json"}).json();
    ASSERT_EQ(json["captures"].size(), m_expected["captures"].size());
    for (const auto& wanted : m_expected["captures"]) {
        const auto capture = byCapture(json["captures"], wanted["capture"]);
        ASSERT_TRUE(capture.is_object()) << wanted["capture"];
        EXPECT_EQ(capture["role"], wanted["role"]) << wanted["capture"];
        EXPECT_EQ(capture["rank"], wanted["rank"]);
        EXPECT_EQ(capture["step"][0], wanted["after_step"]);
    }
}

TEST_F(Golden, ListSeriesCountsNanInsteadOfDroppingIt)
{
    const auto done = run({"list", m_sample, "series", "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    const auto json = done.json();
    EXPECT_EQ(json["schema"], "nanscope.series/1");
    for (const auto& wanted : m_expected["series"]) {
        int found = 0;
        for (const auto& series : json["series"]) {
            if (series["name"] != wanted["name"] || series["rank"] != wanted["rank"]) {
                continue;
            }
            ++found;
            for (const auto* key : {"points", "first_step", "last_step", "nan"}) {
                EXPECT_EQ(series[key], wanted[key]) << series["source"] << " " << key;
            }
        }
        EXPECT_GE(found, 1) << wanted;
    }
}

TEST_F(Golden, ListCapturesAndInspectAgree)
{
    const auto list = run({"list", m_sample, "captures", "--json"}).json();
    ASSERT_EQ(list["captures"].size(), m_expected["triage"]["captures"]);
    const auto done = run({"inspect", birthFile(), "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    const auto capture = done.json();
    EXPECT_EQ(capture["schema"], "nanscope.capture/1");
    EXPECT_EQ(capture["shape"], m_expected["birth"]["shape"]);
    EXPECT_EQ(capture["dtype"], m_expected["birth"]["dtype"]);
    EXPECT_EQ(capture["output"]["nan"], m_expected["birth"]["damage"]["nan"]);
    EXPECT_EQ(capture["input"]["nan"], 0);
    bool listed = false;
    for (const auto& other : list["captures"]) {
        listed = listed || (other["file"] == capture["file"] && other["output"]["nan"] == capture["output"]["nan"]);
    }
    EXPECT_TRUE(listed);
}

TEST_F(Golden, SweepReplaysTheBirthUnderTheIdentifiedSet)
{
    const auto done = run({"sweep", m_sample, "--capture", birthFile(), "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    const auto json = done.json();
    EXPECT_EQ(json["schema"], "nanscope.sweep/1");
    std::set<std::string> variants;
    std::set<std::string> precisions;
    for (const auto& cell : json["cells"]) {
        EXPECT_EQ(cell["capture"], m_expected["birth"]["capture"]);
        EXPECT_TRUE(cell["error"].is_null()) << cell["error"];
        EXPECT_GT(cell["gauges"].size(), 0U);
        variants.insert(cell["variant"].get<std::string>());
        precisions.insert(cell["precision"].get<std::string>());
        if (cell["precision"] == "fp32" || cell["precision"] == "fp64") {
            EXPECT_EQ(cell["outcome"], "finite");
            EXPECT_TRUE(cell["first_nonfinite"].is_null());
        }
    }
    EXPECT_EQ(variants, names(m_expected["birth"]["variant"]["names"]));
    EXPECT_EQ(precisions, (std::set<std::string> {"fp64", "fp32", "tf32", "bf16", "fp16"}));
    EXPECT_EQ(json["cells"].size(), variants.size() * precisions.size());
}

TEST_F(Golden, SweepOfARunReplaysItsBirthsAlone)
{
    const auto json = run({"sweep", m_sample, "--variant", "deepspeed-gram", "--precision", "fp16", "--json"}).json();
    std::map<std::string, Json> cells;
    for (const auto& cell : json["cells"]) {
        cells[cell["capture"].get<std::string>()] = cell;
    }
    EXPECT_EQ(cells.size(), 2U) << "the inputs of the others are damaged already";
    EXPECT_EQ(cells[m_expected["birth"]["capture"]]["outcome"], "finite");
    const auto& overflow = cells[m_expected["overflow"]["capture"]];
    EXPECT_EQ(overflow["outcome"], "nan");
    EXPECT_EQ(overflow["first_nonfinite"]["op"], "cast");
    EXPECT_EQ(overflow["first_nonfinite"]["kind"], "inf");
}

TEST_F(Golden, SweepOfADamagedInputNamesTheElement)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "a.pt", {24, 40, true, true});
    const auto json = run({"sweep", capture, "--variant", "keller-jordan", "--precision", "fp32", "--json"}).json();
    ASSERT_EQ(json["cells"].size(), 1U);
    const auto& cell = json["cells"][0];
    EXPECT_EQ(cell["outcome"], "nan");
    EXPECT_EQ(cell["first_nonfinite"]["op"], "input");
    EXPECT_EQ(cell["first_nonfinite"]["index"].dump(), "[0,0,5]");
    EXPECT_EQ(cell["first_nonfinite"]["count"], 1);
    EXPECT_TRUE(cell["birth"].is_null());
}

TEST_F(Golden, ReportSaysTheSameInWordsAndInJson)
{
    const WorkFolder folder;
    ASSERT_EQ(run({"report", m_sample, "-o", folder / "r.md"}).status, 0);
    ASSERT_EQ(run({"report", m_sample, "-o", folder / "r.json"}).status, 0);
    const auto text = contentsOf(folder / "r.md");
    EXPECT_LE(text.size(), 65536U);
    const auto& birth = m_expected["birth"];
    for (const auto& part : {birth["capture"].get<std::string>(), birth["verdict"].get<std::string>(),
             std::string("between the log lines of steps 5 and 6"), std::string("rows 32–63 × columns 64–127"),
             std::string("2 births"), std::string("8 downstream"),
             std::string("2,048 NaN in rows 32–63 × columns 64–127, where 8 of 8 replays of this input are finite"),
             std::string("nanscope sweep ")}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
    const auto json = Json::parse(contentsOf(folder / "r.json"));
    const auto diagnosis = run({"diagnose", m_sample, "--json"}).json();
    EXPECT_EQ(json["diagnosis"]["triage"], diagnosis["triage"]);
    EXPECT_EQ(json["diagnosis"]["captures"][0]["verdict"], diagnosis["captures"][0]["verdict"]);
}

TEST_F(Golden, TextAnswersCarryTheSameFacts)
{
    const auto diagnosis = run({"diagnose", m_sample});
    EXPECT_EQ(diagnosis.status, 0);
    EXPECT_EQ(diagnosis.err, "");
    for (const auto* part : {"10 captures, 2 births", "rank 0", "implementation", "neither", "gns-"}) {
        EXPECT_THAT(diagnosis.out, HasSubstr(part));
    }
    const auto folder = std::filesystem::path(birthFile()).parent_path();
    const auto allNan = run({"inspect", (folder / m_expected["overflow"]["capture"].get<std::string>()).string()});
    EXPECT_THAT(allNan.out, ::testing::ContainsRegex("15,360 +0 +0 +0 +0 +- +- +-"))
        << "an output without a finite value";
    EXPECT_THAT(diagnosis.out, Not(HasSubstr("2^0 or more"))) << "a replay that failed has no headroom";
    EXPECT_THAT(run({"sweep", birthFile(), "--variant", "torch-muon", "--precision", "fp32", "--epsilon", "0.5",
                        "--steps", "7"})
                    .out,
        ::testing::ContainsRegex(" 0[.]5 +7"));
    const auto sweep = run({"sweep", birthFile(), "--variant", "torch-muon", "--precision", "fp32,bf16"});
    EXPECT_THAT(sweep.out, HasSubstr("torch-muon"));
    EXPECT_THAT(sweep.out, HasSubstr("2 cells in"));
    const auto list = run({"list", m_sample});
    EXPECT_THAT(list.out, HasSubstr("2,048 NaN"));
}

TEST_F(Golden, ExplainIsShortAndShowsTheDamage)
{
    const auto done = run({"explain", birthFile()});
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_LE(std::count(done.out.begin(), done.out.end(), '\n'), 18);
    EXPECT_THAT(done.out, HasSubstr("╳"));
    EXPECT_THAT(done.out, HasSubstr("2,048 NaN"));
    EXPECT_THAT(done.out, HasSubstr("1 matrix of 96 × 160, bf16"));
    std::cout << "explain, whole process with its shell: " << std::lround(done.seconds * 1000) << " ms\n";
    RecordProperty("explain_ms", static_cast<int>(std::lround(done.seconds * 1000)));
}

TEST_F(Golden, DiffOfACaptureWithItselfIsEmpty)
{
    const auto same = run({"diff", birthFile(), birthFile(), "--json"}).json();
    EXPECT_EQ(same["tensors"][1]["differing"], 0);
    const WorkFolder folder;
    const auto a = writeCapture(folder / "a.pt", {24, 40, false, true});
    const auto b = writeCapture(folder / "b.pt", {24, 40, false, false});
    const auto other = run({"diff", a, b, "--json"}).json();
    EXPECT_EQ(other["tensors"][0]["differing"], 0);
    EXPECT_EQ(other["tensors"][1]["differing"], 1);
    EXPECT_EQ(other["tensors"][1]["class_changes"], 1);
    EXPECT_EQ(other["tensors"][1]["first"].dump(), "[0,3,4]");
    EXPECT_EQ(other["tensors"][1]["first_a"], "nan");
    EXPECT_EQ(other["tensors"][1]["ulps"]["max"], 0) << "NaN is no number of steps away";
    EXPECT_EQ(other["tensors"][1]["batches"][0]["differing"], 1);
}
