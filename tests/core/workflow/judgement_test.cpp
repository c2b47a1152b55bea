// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "core/workflow/judgement.h"
#include "core/workflow/openrun.h"
#include "core/workflow/reportrun.h"

namespace nanscope {

namespace {

namespace fs = std::filesystem;

class Judgement : public testing::Test
{
protected:
    void SetUp() override
    {
        folder = fs::temp_directory_path() / ("nanscope-judgement-" + std::to_string(::getpid()));
        fs::remove_all(folder);
        fs::create_directories(folder);
        fs::copy(NANSCOPE_SAMPLE, folder / "run", fs::copy_options::recursive);
        fs::remove(folder / "run" / "sample.nanscope");
        ::setenv("XDG_CONFIG_HOME", (folder / "config").c_str(), 1);
    }
    void TearDown() override { fs::remove_all(folder); }

    workflow::OpenedRun opened(workflow::Points points = workflow::Points::judging) const
    {
        auto run = workflow::openRun(
            folder / "run", {folder / "kept.nanscope", workflow::Access::store, points, std::nullopt});
        EXPECT_TRUE(run) << run.error().what;
        return run ? std::move(*run) : workflow::OpenedRun {};
    }

    std::string write(const std::string& name, const std::string& text) const
    {
        std::ofstream(folder / name) << text;
        return (folder / name).string();
    }

    fs::path folder;
};

TEST_F(Judgement, AStoredDiagnosisIsFoundWithWhatItWasDrawnFrom)
{
    auto run = opened();
    ASSERT_TRUE(run.session);
    EXPECT_FALSE(workflow::storedDiagnosis(*run.session));
    const auto from = workflow::judgedFrom(run.run, {}, &*run.session);
    const auto triaged = diagnose::triageRun(run.run);
    ASSERT_TRUE(workflow::storeDiagnosis(*run.session, triaged, from));
    const auto stored = workflow::storedDiagnosis(*run.session);
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->from, from);
    EXPECT_EQ(stored->from.rules, diagnosisRules);
    EXPECT_EQ(stored->diagnosis.captures.size(), triaged.captures.size());
}

TEST_F(Judgement, HoldsNoLongerWhenTheRunHasGrownOrAnotherFileIsNamed)
{
    auto run = opened();
    ASSERT_TRUE(run.session);
    const auto from = workflow::judgedFrom(run.run, {}, &*run.session);
    workflow::UserFiles files;
    files.parameters = write("params.txt", "w [512, 1408]\n");
    EXPECT_NE(workflow::judgedFrom(run.run, files, &*run.session), from);
    EXPECT_EQ(workflow::judgedFrom(opened(workflow::Points::none).run, {}, &*run.session), from)
        << "read again, with or without points";

    ASSERT_TRUE(run.session->setColumns("loss=total"));
    EXPECT_NE(workflow::judgedFrom(run.run, {}, &*run.session), from) << "as many points, of something else";
    ASSERT_TRUE(run.session->setColumns(""));
    EXPECT_EQ(workflow::judgedFrom(run.run, {}, &*run.session), from);

    std::ofstream(folder / "run" / "more.csv") << "step,loss\n1,2.5\n2,2.25\n";
    EXPECT_NE(workflow::judgedFrom(opened().run, {}, &*run.session), from);
}

TEST_F(Judgement, ADiagnosisThatDoesNotSayWhatItWasDrawnFromIsDrawnAgain)
{
    auto run = opened();
    ASSERT_TRUE(run.session);
    const auto triaged = diagnose::triageRun(run.run);
    ASSERT_TRUE(workflow::storeDiagnosis(*run.session, triaged, {}));
    EXPECT_NE(workflow::storedDiagnosis(*run.session)->from, workflow::judgedFrom(run.run, {}, &*run.session));
    ASSERT_TRUE(run.session->setDiagnosis("[1, 2"));
    EXPECT_FALSE(workflow::storedDiagnosis(*run.session));
}

TEST_F(Judgement, ObservationsThatCannotBeArguedWithAreLeftOut)
{
    auto run = opened();
    ASSERT_TRUE(run.session);
    Observations seen;
    seen.rate = FailureRate {3, 4.5};
    ASSERT_TRUE(workflow::storeObservations(*run.session, seen));
    EXPECT_EQ(workflow::storedObservations(*run.session)->rate->hours, 4.5);
    seen.rate = FailureRate {3, -1};
    ASSERT_TRUE(workflow::storeObservations(*run.session, seen));
    EXPECT_FALSE(workflow::storedObservations(*run.session)->rate);
}

TEST_F(Judgement, AReportLeavesOutCellsOfAVariantThatIsDefinedOtherwiseNow)
{
    auto run = opened();
    ASSERT_TRUE(run.session);
    Cell cell;
    cell.capture = run.run.captures.front().file;
    cell.variant = "keller-jordan";
    ASSERT_TRUE(run.session->addCell(cell));
    cell.variant = "mine";
    ASSERT_TRUE(run.session->addCell(cell));
    workflow::UserFiles files;
    files.variants = {write("mine.json", R"({"base": "keller-jordan", "name": "mine", "precision": "fp16"})")};
    ASSERT_FALSE(workflow::readUserFiles(files).firstProblem());
    const auto input = workflow::reportInput({run.run, diagnose::triageRun(run.run)}, &*run.session);
    (void)workflow::readUserFiles({});
    ASSERT_TRUE(input);
    ASSERT_EQ(input->cells.size(), 1U);
    EXPECT_EQ(input->cells.front().variant, "keller-jordan");
}

} // namespace

} // namespace nanscope
