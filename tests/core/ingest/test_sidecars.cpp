// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Captures that a helper wrote without tensors, in a run's folder.
#include <cstring>
#include <string>

#include <gmock/gmock.h>

#include "core/ingest/ingest.h"
#include "core/session/session.h"
#include "core/tensorfile/tensorfile.h"
#include "tests/core/ingest/logfolder.h"

namespace nanscope {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto stem = "dion_nan_capture_rank0_shape2x3_pid7_1795234396390";
constexpr auto counted = R"({"schema": "nanscope.sidecar/1", "reason": "a non-finite output", "privacy": "fingerprint",
    "input": {"dtype": "torch.float32", "shape": [2, 3]},
    "output": {"dtype": "torch.float32", "shape": [2, 3], "first_nonfinite": [0, 1]},
    "fingerprint": {"input": [{"nan": 0, "inf": 0, "minus_inf": 0, "zero": 1, "absmax": 2, "frobenius": 3}],
        "output": [{"nan": 4, "inf": 0, "minus_inf": 0, "zero": 0, "absmax": 1, "frobenius": 1}]}})";

class LoneSidecars : public ImportedFolder
{
protected:
    void write(const std::string& ending, const std::string& text) { m_folder.write("run/" + (stem + ending), text); }
};

} // namespace

TEST_F(LoneSidecars, AreCapturesOfTheRun)
{
    write(".json", counted);
    m_folder.write("run/console.log",
        std::string(
            "Step 4: train_loss=1.5\n[nanscope capture] non-finite Newton-Schulz output on rank 0, shape (2, 3); "
            "dumped to /x/")
            + stem + ".json\nStep 5: train_loss=nan\n");
    const auto run = import();
    ASSERT_THAT(run.captures, SizeIs(1));
    EXPECT_THAT(run.rejected, IsEmpty());
    const auto& capture = run.captures.front();
    EXPECT_EQ(capture.scene.withheld, Withheld::byPrivacy);
    EXPECT_EQ(capture.output->total().nan, 4);
    EXPECT_EQ(capture.output->total().firstNonFinite, 1);
    EXPECT_EQ(capture.input.total().absmax, 2);
    ASSERT_THAT(run.events, SizeIs(1));
    EXPECT_EQ(run.events.front().capture, capture.file) << "the line names it, and tells its step";
    EXPECT_THAT(import().captures, SizeIs(1)) << "the same one, as in any import";
    const auto direct = ingest::readRun(m_folder / "run");
    ASSERT_TRUE(direct);
    EXPECT_THAT(direct->captures, SizeIs(1));
    const auto alone = ingest::readRun(m_folder / "run" / (std::string(stem) + ".json"));
    ASSERT_TRUE(alone);
    EXPECT_THAT(alone->captures, SizeIs(1));
}

TEST_F(LoneSidecars, ThatAreTornCostOnlyThemselves)
{
    write(".json", std::string(counted).substr(0, 200));
    m_folder.write("run/console.log", "Step 4: train_loss=1.5\n");
    const auto run = import();
    EXPECT_THAT(run.captures, IsEmpty());
    ASSERT_THAT(run.rejected, SizeIs(1));
    EXPECT_THAT(run.rejected.front().reason, HasSubstr("no JSON object"));
    EXPECT_THAT(run.series, testing::Not(IsEmpty()));
}

TEST_F(LoneSidecars, OfADumpThatIsOnItsWayAreNothingYet)
{
    std::string ofADump = counted;
    ofADump.replace(ofADump.find("fingerprint"), 11, "none");
    write(".json", ofADump);
    m_folder.write("run/console.log", "Step 4: train_loss=1.5\n");
    const auto before = import();
    EXPECT_THAT(before.captures, IsEmpty());
    EXPECT_THAT(before.rejected, IsEmpty());
    tensorfile::TensorToWrite input {"input", DType::float32, {2, 3}, std::vector<std::byte>(24)};
    ASSERT_TRUE(tensorfile::writePt(m_folder / "run" / (std::string(stem) + ".pt"), {{"input", input}}));
    const auto after = import();
    ASSERT_THAT(after.captures, SizeIs(1));
    EXPECT_TRUE(after.captures.front().hasTensors());
    EXPECT_TRUE(after.captures.front().scene.outputBad) << "read with its dump";
}

} // namespace nanscope
