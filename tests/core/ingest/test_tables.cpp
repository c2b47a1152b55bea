// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>
#include <map>

#include <gmock/gmock.h>

#include "core/ingest/text/consoletext.h"
#include "core/session/session.h"
#include "logfolder.h"

namespace nanscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto finite = PointState::finite;
constexpr auto nan = PointState::nan;
constexpr auto posInf = PointState::posInf;
constexpr auto negInf = PointState::negInf;
constexpr auto reported = PointState::reported;

using Tables = LogFolder;

TEST_F(Tables, SeparatorsAreFoundByTheHeading)
{
    EXPECT_THAT(values(find(read("a.csv", "step;loss\n1;2.5\n"), "loss")), ElementsAre(2.5));
    EXPECT_THAT(values(find(read("a.tsv", "step\tloss\n1\t2.5\n"), "loss")), ElementsAre(2.5));
    EXPECT_THAT(values(find(read("a.csv", "step, loss\n1, 2.5\n"), "loss")), ElementsAre(2.5)) << "blanks are no part";
}

TEST_F(Tables, QuotedSeparatorsStayInsideTheirField)
{
    const auto log = read("a.csv", "step,note,loss\n1,\"a, b\",2.5\n2,\"he said \"\"no, no\"\"\",3.5\n");
    EXPECT_THAT(values(find(log, "loss")), ElementsAre(2.5, 3.5));
    EXPECT_THAT(log.series, SizeIs(1));
}

TEST_F(Tables, EverySpellingOfNonFiniteIsAValueAndAnEmptyCellIsNot)
{
    const auto log =
        read("a.csv", "step,loss\n1,nan\n2,NaN\n3,inf\n4,-Infinity\n5,\n6,\"\"\n7,\"nan\"\n8,1e400\n9,4\n");
    EXPECT_THAT(
        states(find(log, "loss")), ElementsAre(nan, nan, posInf, negInf, reported, reported, nan, posInf, finite));
    EXPECT_EQ(find(log, "loss").missing, 2);
    EXPECT_EQ(find(log, "loss").pointCount, 7);
}

TEST_F(Tables, ThousandsInQuotesAreOneNumber)
{
    const auto log = read("a.csv", "step,tok/s\n\"1,000\",\"125,000.5\"\n");
    EXPECT_THAT(steps(find(log, "tokens_per_second")), ElementsAre(1000));
    EXPECT_THAT(values(find(log, "tokens_per_second")), ElementsAre(125000.5));
}

TEST_F(Tables, RowsOfAnotherWidthAreNotBelieved)
{
    const auto log = read("a.csv", "step,loss\n1,2.5\n2\n3,4.5,9\n4,5.5\n");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(1, 4));
    EXPECT_EQ(log.lines, 5);
}

TEST_F(Tables, AStepMustBeAWholeNumber)
{
    const auto log = read("a.csv", "step,loss\n1.5,1\nnan,2\n,3\n-1,4\n1e3,5\n1e300,6\n");
    EXPECT_THAT(steps(find(log, "loss", {}, 0)), ElementsAre(-1, 1000));
}

TEST_F(Tables, CommentsBeforeAndBetweenAreSkipped)
{
    const auto log = read("a.csv", "# made by us\nstep,loss\n1,2.5\n# restart\n2,3.5\n");
    EXPECT_EQ(log.format, "csv");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(1, 2));
}

TEST_F(Tables, EveryKindOfLineBreakEndsARow)
{
    for (const auto* text :
        {"step,loss\n1,2.5\n2,3.5\n", "step,loss\r\n1,2.5\r\n2,3.5\r\n", "step,loss\r1,2.5\r2,3.5\r"}) {
        EXPECT_THAT(values(find(read("a.csv", text), "loss")), ElementsAre(2.5, 3.5));
    }
}

TEST_F(Tables, AHeadingAloneIsALogWithoutPoints)
{
    const auto log = read("a.csv", "step,loss\n");
    EXPECT_THAT(log.series, IsEmpty());
    EXPECT_EQ(log.lines, 1);
}

TEST_F(Tables, TheBestOfSeveralStepColumnsIsTheStep)
{
    const auto log = read("a.csv", "_step,iter,global_step,loss\n7,8,9,2.5\n");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(9));
    EXPECT_THAT(values(find(log, "iter")), ElementsAre(8)) << "the others are values";
}

TEST_F(Tables, ARankThatIsNoneIsNobodys)
{
    const auto log = read("a.csv", "step,rank,loss\n1,-1,1\n1,x,2\n1,99999999999,3\n1,7,4\n");
    EXPECT_THAT(values(find(log, "loss")), ElementsAre(1, 2, 3));
    EXPECT_THAT(values(find(log, "loss", 7)), ElementsAre(4));
}

TEST_F(Tables, JsonNumbersInEverySpelling)
{
    const auto log = read("a.jsonl",
        "{\"step\":1,\"loss\":NaN}\n{\"step\":2,\"loss\":-Infinity}\n{\"step\":3,\"loss\":+Infinity}\n"
        "{\"step\":4,\"loss\":\"nan\"}\n{\"step\":5,\"loss\":\"-inf\"}\n{\"step\":6,\"loss\":-inf}\n"
        "{\"step\":7,\"loss\":\"1e-3\"}\n{\"step\":8,\"loss\":1E-3}\n{\"step\":9,\"loss\":null}\n");
    EXPECT_THAT(
        states(find(log, "loss")), ElementsAre(nan, negInf, posInf, nan, negInf, negInf, finite, finite, reported));
    EXPECT_EQ(find(log, "loss").points[6].value, 0.001);
    EXPECT_EQ(find(log, "loss").points[7].value, 0.001);
}

TEST_F(Tables, WordsInsideJsonStringsAreNotNumbers)
{
    const auto log = read("a.jsonl",
        "{\"step\":1,\"loss\":NaN,\"note\":\"NaN, Infinity and \\\"nan\\\" \\\\\"}\n"
        "{\"step\":2,\"loss\":1,\"NaN\":NaN}\n");
    EXPECT_THAT(states(find(log, "loss")), ElementsAre(nan, finite));
    EXPECT_THAT(states(find(log, "NaN")), ElementsAre(nan)) << "a key may be called that";
    EXPECT_THAT(log.series, SizeIs(2));
}

TEST_F(Tables, BooleansAndNestedValuesAreNoSeries)
{
    const auto log =
        read("a.jsonl", "{\"step\":1,\"loss\":1,\"ok\":true,\"tags\":[1,2],\"inner\":{\"loss\":9},\"name\":\"x\"}\n");
    EXPECT_THAT(log.series, SizeIs(1));
}

TEST_F(Tables, DamagedJsonLinesCostOnlyThemselves)
{
    const auto log = read("a.jsonl",
        "{\"step\":1,\"loss\":1}\n{\"step\":2,\"loss\":}\n{\"step\":3,\"loss\":3\n[1,2]\n{}\n"
        "{'step':4,'loss':4}\n{\"step\":5,\"loss\":5}\n");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(1, 5));
    EXPECT_THAT(log.events, IsEmpty());
}

TEST_F(Tables, BadUtf8InAJsonKeyDoesNotLoseTheLine)
{
    const auto log = read("a.jsonl", "{\"step\":1,\"l\xf6ss\":1,\"loss\":2.5}\n");
    EXPECT_THAT(values(find(log, "loss")), ElementsAre(2.5));
    EXPECT_THAT(values(find(log, "l?ss")), ElementsAre(1));
}

TEST_F(Tables, JsonRanksMustBeRanks)
{
    const auto log = read("a.jsonl",
        "{\"step\":1,\"rank\":-1,\"loss\":1}\n{\"step\":1,\"rank\":1.5,\"loss\":2}\n{\"step\":1,\"rank\":3,\"loss\":3}"
        "\n");
    EXPECT_THAT(values(find(log, "loss")), ElementsAre(1, 2));
    EXPECT_THAT(values(find(log, "loss", 3)), ElementsAre(3));
}

TEST_F(Tables, ColumnsOfSkippedStepsHaveOneName)
{
    EXPECT_THAT(values(find(read("a.csv", "step,loss,skipped\n1,2,0\n2,2,1\n"), "skipped_steps")), ElementsAre(0, 1));
    EXPECT_THAT(values(find(read("a.jsonl", "{\"step\":1,\"loss\":2,\"train/skipped_steps\":3}\n"), "skipped_steps")),
        ElementsAre(3));
    EXPECT_THAT(read("tests.csv", "suite,passed,skipped\ncore,10,1\nui,9,0\n").series, SizeIs(0))
        << "that alone makes no log of a table";
}

TEST_F(Tables, TwoNamesOfOneMeaningStayApart)
{
    const auto log =
        read("a.jsonl", "{\"step\":1,\"loss\":1,\"train/loss\":2}\n{\"step\":2,\"loss\":3,\"train/loss\":4}\n");
    EXPECT_THAT(values(find(log, "loss")), ElementsAre(1, 3));
    EXPECT_THAT(values(find(log, "train/loss")), ElementsAre(2, 4));
}

TEST_F(Tables, LightningsEmptyCellsWereNotReported)
{
    const auto log = read("lightning_logs/version_0/metrics.csv",
        "epoch,lr-AdamW,step,train_loss_epoch,train_loss_step,val_loss\n"
        "0,0.001,49,,,\n0,,49,,7.628580570220947,\n0,,99,,nan,\n0,,110,,,6.5\n0,,110,7.25,,\n1,,149,,inf,\n");
    EXPECT_EQ(log.format, "csv");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(49, 99, 149)) << "a validation is no step without a loss";
    EXPECT_THAT(states(find(log, "loss")), ElementsAre(finite, nan, posInf));
    EXPECT_EQ(find(log, "loss").missing, 0);
    EXPECT_EQ(find(log, "loss").nan, 1);
    EXPECT_THAT(steps(find(log, "val_loss")), ElementsAre(110));
    EXPECT_THAT(steps(find(log, "train_loss_epoch")), ElementsAre(110));
    EXPECT_THAT(values(find(log, "lr-AdamW")), ElementsAre(0.001));
    EXPECT_THAT(log.series, SizeIs(5)) << "with the epoch";
    const auto other = read("a.csv", "step,epoch,loss\n1,0,\n");
    EXPECT_THAT(states(find(other, "loss")), ElementsAre(reported)) << "pandas writes NaN as an empty cell";
}

TEST_F(Tables, ATableWrittenAnewWithAnotherColumnIsReadAnew)
{
    const auto path = m_folder.write("metrics.csv", "epoch,step,train_loss\n0,49,7.5\n");
    auto session = session::Session::open(m_folder.path() / "s.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    ASSERT_TRUE(ingest::importRun(path, *session));
    m_folder.write("metrics.csv", "epoch,step,train_loss,val_loss\n0,49,7.5,\n0,55,,6.5\n");
    const auto run = ingest::importRun(path, *session);
    ASSERT_TRUE(run);
    std::map<std::string, std::int64_t> points;
    for (const auto& series : run->series) {
        points[series.name] += series.pointCount + series.missing;
    }
    EXPECT_THAT(points, ElementsAre(std::pair("epoch", 2), std::pair("loss", 1), std::pair("val_loss", 1)));
}

TEST_F(Tables, AnExportOfOneRunOfWandb)
{
    const auto log = read("wandb_export.csv",
        "\"Step\",\"quick-fox-7 - train/loss\",\"quick-fox-7 - train/loss__MIN\",\"quick-fox-7 - train/loss__MAX\"\n"
        "\"0\",\"4.5\",\"4.25\",\"4.75\"\n\"10\",\"\",\"\",\"\"\n\"20\",\"NaN\",\"NaN\",\"Infinity\"\n");
    ASSERT_THAT(log.series, SizeIs(1)) << "the extremes of a sample are no values of their own";
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(0, 20));
    EXPECT_THAT(states(find(log, "loss")), ElementsAre(finite, nan));
}

TEST_F(Tables, TheRealExportGivesEveryRun)
{
    const std::string name = "wandb_export_csv__druidowm__nanoGPT__wandb_export.csv";
    const auto path = std::filesystem::path(NANSCOPE_SHARED_DATA) / "logs" / name;
    if (!std::filesystem::exists(path)) {
        GTEST_SKIP() << "the real logs are not here";
    }
    const auto log = ingest::readLog(path, name);
    ASSERT_TRUE(log) << log.error().what;
    EXPECT_THAT(log->series, SizeIs(8));
    const auto longest = find(*log, "gpt2 - train/loss");
    EXPECT_EQ(longest.pointCount, 386);
    EXPECT_EQ(longest.missing, 0);
    EXPECT_EQ(longest.points.back().value, 3.2849113941192627);
    EXPECT_EQ(find(*log, "gpt2_last_char_token_to_char1729587337.8266432 - train/loss").pointCount, 166);
}

TEST(Numbers, ADecimalCommaIsNotAThousandsSeparator)
{
    EXPECT_EQ(ingest::parseNumber("1,234.5"), 1234.5);
    EXPECT_EQ(ingest::parseNumber("-12,345,678"), -12345678);
    for (const auto* odd : {"2,5", "1,23", "-1,5", ",5", "1,2345", "1234,567", "1,,234"}) {
        EXPECT_EQ(ingest::parseNumber(odd), std::nullopt) << odd;
    }
}

TEST_F(Tables, ADecimalCommaIsReadWhereSemicolonsSeparate)
{
    const auto log = read("m.csv", "step;loss\n1;2,5\n2;3,25\n");
    ASSERT_EQ(log.series.size(), 1U);
    EXPECT_THAT(values(log.series[0]), ElementsAre(2.5, 3.25));
}

TEST_F(Tables, ANumberTooLargeForJsonCostsOnlyItself)
{
    const auto log = read("m.jsonl", "{\"step\":1,\"loss\":2.5,\"flos\":123456789012345678901234567890}\n");
    ASSERT_EQ(log.series.size(), 2U);
    EXPECT_THAT(values(find(log, "loss")), ElementsAre(2.5));
}

TEST_F(Tables, DoubledQuotesInAHeadingAreOneQuote)
{
    const auto log = read("m.csv", "step,\"a \"\"b\"\" c\"\n1,2\n");
    EXPECT_EQ(log.series.at(0).name, "a \"b\" c");
}

} // namespace
} // namespace nanscope
