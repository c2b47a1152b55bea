// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// MLflow's file store, and columns of numbers without a word.
#include <chrono>
#include <filesystem>

#include <gmock/gmock.h>

#include "core/ingest/log/columnmap.h"
#include "core/session/session.h"
#include "logfolder.h"

using namespace nanscope;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

namespace {

class MlflowRuns : public LogFolder
{
protected:
    void SetUp() override
    {
        add("meta.yaml", "artifact_uri: file:///home/me\nrun_id: cb0096518b0e4c66\nstatus: 3\n");
        add("metrics/loss", "1664364000100 3.5 0\n1664364001100 3.25 1\n1664364002100 nan 2\n");
        add("metrics/train/grad_norm", "1664364000101 1.5 0\n1664364001101 inf 1\n1664364002101 -inf 2\n");
        add("metrics/lr", "1664364000102 0.1 0\n1664364002102 0.2 2\n");
        add("params/optimizer/name", "muon");
        add("params/seed", "0\n");
        add("params/api_key", "0123");
        add("tags/mlflow.runName", "a run");
        add("tags/mlflow.user", "somebody");
        add("tags/team", "one");
    }

    fs::path add(const std::string& name, const std::string& text, bool append = false)
    {
        const auto place = std::string("mlruns/0/cb00/") + name;
        fs::create_directories((m_folder.path() / place).parent_path());
        return m_folder.write(place, text, append);
    }

    fs::path run() const { return m_folder.path() / "mlruns" / "0" / "cb00"; }

    RunData readIt(const fs::path& path)
    {
        const auto read = ingest::readRun(path);
        EXPECT_TRUE(read) << (read ? "" : read.error().what);
        return read.value_or(RunData {});
    }

    static Series find(const RunData& data, const std::string& name, int segment = 0)
    {
        ingest::LogContents contents;
        contents.series = data.series;
        return LogFolder::find(contents, name, {}, segment);
    }

    /// As if nobody had written for a minute.
    void rest() const
    {
        for (const auto& entry : fs::recursive_directory_iterator(run())) {
            fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::minutes(1));
        }
    }
};

using BareColumns = LogFolder;

} // namespace

TEST_F(MlflowRuns, theMetricsOfARunAreOneLog)
{
    const auto data = readIt(m_folder.path());
    EXPECT_EQ(data.series.size(), 3U);
    for (const auto& series : data.series) {
        EXPECT_EQ(series.source, "mlruns/0/cb00/metrics");
    }
    EXPECT_THAT(steps(find(data, "loss")), ElementsAre(0, 1, 2));
    EXPECT_THAT(states(find(data, "loss")), ElementsAre(PointState::finite, PointState::finite, PointState::nan));
    EXPECT_THAT(
        states(find(data, "grad_norm")), ElementsAre(PointState::finite, PointState::posInf, PointState::negInf))
        << "a name with a slash is a path";
    EXPECT_THAT(values(find(data, "lr")), ElementsAre(0.1, 0.2));
    EXPECT_EQ(find(data, "lr").missing, 0) << "what is logged less often is not missing";
    EXPECT_EQ(find(data, "lr").points[1].line, 2);
    EXPECT_THAT(data.events, IsEmpty());
    EXPECT_THAT(data.rejected, IsEmpty());
}

TEST_F(MlflowRuns, anyFolderOfItWillDo)
{
    for (const auto& path : {m_folder.path() / "mlruns", run(), run() / "metrics"}) {
        const auto data = readIt(path);
        EXPECT_EQ(data.series.size(), 3U) << path;
        EXPECT_EQ(data.settings.size(), 4U) << path;
        EXPECT_THAT(find(data, "loss").source, testing::EndsWith("metrics")) << path;
    }
}

TEST_F(MlflowRuns, parametersAndTagsAreSettings)
{
    std::vector<std::string> settings;
    for (const auto& setting : readIt(run()).settings) {
        settings.push_back(setting.name + "=" + setting.value);
    }
    EXPECT_THAT(
        settings, testing::UnorderedElementsAre("optimizer.name=muon", "seed=0", "mlflow.run_name=a run", "team=one"));
}

TEST_F(MlflowRuns, aRestartBeginsASegmentInEveryMetric)
{
    add("metrics/loss", "1664365000100 3.125 1\n", true);
    add("metrics/train/grad_norm", "1664365000101 1.25 1\n", true);
    const auto data = readIt(run());
    EXPECT_THAT(steps(find(data, "loss", 0)), ElementsAre(0, 1, 2));
    EXPECT_THAT(steps(find(data, "loss", 1)), ElementsAre(1));
    EXPECT_THAT(values(find(data, "grad_norm", 1)), ElementsAre(1.25));
}

TEST_F(MlflowRuns, linesOfEveryAgeAndBadOnes)
{
    add("metrics/old", "1664364000100 3.5\n1664364001100 3.25\n");
    add("metrics/new", "1664364000100 3.5 10 a-model a-dataset\n1664364000100 3.5 1000000000000000000\n");
    add("metrics/bad", "1664364000100 3.5 1\nwhat is this\n1664364001100 2.5 2\n1664364001200 1.5 3");
    const auto data = readIt(run());
    EXPECT_THAT(steps(find(data, "old")), ElementsAre(0, 1));
    EXPECT_TRUE(find(data, "old").stepInferred);
    EXPECT_THAT(steps(find(data, "new")), ElementsAre(10, 1000000000000000000));
    EXPECT_THAT(steps(find(data, "bad")), ElementsAre(1, 2));
    ASSERT_EQ(data.events.size(), 2U);
    EXPECT_THAT(data.events[0].text, HasSubstr("bad: line 2 is none of MLflow's"));
    EXPECT_THAT(data.events[1].text, HasSubstr("bad: the last line is cut off"));
    EXPECT_EQ(data.events[1].line, 4);
}

TEST_F(MlflowRuns, longMetricsKeepEveryLine)
{
    std::string lines;
    for (int i = 0; i < 20'000; ++i) {
        lines += std::to_string(1664364000000 + i) + ' ' + std::to_string(i) + ".5 " + std::to_string(i) + '\n';
    }
    add("metrics/long", lines);
    const auto series = find(readIt(run()), "long");
    ASSERT_EQ(series.points.size(), 20'000U);
    for (std::size_t i = 0; i < series.points.size(); ++i) {
        ASSERT_EQ(series.points[i].step, static_cast<std::int64_t>(i));
        ASSERT_EQ(series.points[i].value, static_cast<double>(i) + 0.5);
    }
}

TEST_F(MlflowRuns, anEndThatMlflowNotesIsAnEvent)
{
    add("meta.yaml", "run_uuid: cb0096518b0e4c66\nstatus: 4\n");
    const auto data = readIt(run());
    ASSERT_EQ(data.events.size(), 1U);
    EXPECT_EQ(data.events[0].kind, EventKind::terminated);
    EXPECT_EQ(data.events[0].text, "MLflow noted that the run failed");
}

TEST_F(MlflowRuns, anImportAddsOnlyWhatIsNew)
{
    auto session = session::Session::open(m_folder.path() / "s.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    add("metrics/torn", "1664364000100 3.5 1\n1664364000200 3.25 1");
    ASSERT_TRUE(ingest::importRun(run(), *session));
    const auto again = ingest::importRun(run(), *session);
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_EQ(again->series.size(), 4U);
    EXPECT_EQ(again->settings.size(), 4U);
    EXPECT_THAT(again->events, IsEmpty()) << "the line may still grow";
    add("metrics/torn", "2\n", true);
    add("metrics/loss", "1664364003100 inf 3\n", true);
    const auto grown = ingest::importRun(run(), *session);
    ASSERT_TRUE(grown) << grown.error().what;
    EXPECT_THAT(steps(find(*grown, "torn")), IsEmpty()) << "a summary has no points";
    EXPECT_EQ(find(*grown, "torn").lastStep, 12);
    EXPECT_EQ(find(*grown, "loss").pointCount, 4);
    EXPECT_EQ(find(*grown, "loss").posInf, 1);
    add("metrics/loss", "16643640", true);
    rest();
    for (int twice = 0; twice < 2; ++twice) {
        const auto rested = ingest::importRun(run(), *session);
        ASSERT_TRUE(rested);
        EXPECT_EQ(rested->events.size(), 1U);
        EXPECT_EQ(find(*rested, "loss").pointCount, 4);
    }
}

TEST_F(MlflowRuns, valuesThatAreGoneFromTheFolderAreKept)
{
    auto session = session::Session::open(m_folder / "s.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session && ingest::importRun(run(), *session));
    add("metrics/loss", "1664364000100 3.5 0\n1664364001100 3.25 1\n1664364002100 nan 2\n1664364003100 3 3\n");
    EXPECT_THAT(ingest::importRun(run(), *session)->replaced, IsEmpty()) << "all is there and more";
    add("metrics/loss", "1664364000100 9.5 0\n");
    const auto anew = ingest::importRun(run(), *session);
    ASSERT_TRUE(anew);
    ASSERT_EQ(anew->replaced.size(), 1U);
    EXPECT_EQ(anew->replaced[0].source, "(replaced) metrics");
    EXPECT_EQ(find(*anew, "loss").pointCount, 1);
    ingest::LogContents before;
    before.series = anew->replaced[0].records.series;
    EXPECT_EQ(LogFolder::find(before, "loss").pointCount, 4);
}

TEST_F(MlflowRuns, theUserCanSayWhatAMetricIs)
{
    add("metrics/ce", "1664364000100 nan 5\n");
    const auto columns = ingest::parseColumnMap({"val_loss=ce"});
    ASSERT_TRUE(columns);
    auto session = session::Session::open(m_folder.path() / "s.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    ASSERT_TRUE(ingest::importRun(run(), *session));
    const auto mapped = ingest::importRun(run(), *session, {}, *columns);
    ASSERT_TRUE(mapped) << mapped.error().what;
    EXPECT_EQ(mapped->series.size(), 4U);
    EXPECT_EQ(find(*mapped, "val_loss").nan, 1);
}

TEST_F(MlflowRuns, aFolderOfMetricsWithoutARunIsAFolder)
{
    fs::remove(run() / "meta.yaml");
    const auto data = readIt(run());
    EXPECT_EQ(find(data, "loss").source, "metrics/loss") << "each file of it can still be read";
    EXPECT_THAT(states(find(data, "loss")), ElementsAre(PointState::finite, PointState::finite, PointState::nan));
}

TEST_F(BareColumns, aMetricAloneIsNamedByItsFile)
{
    const auto log = read("accuracy", "1664364007310 0.25 0\n1664364007311 0.5 10\n");
    EXPECT_EQ(log.format, "mlflow");
    EXPECT_THAT(steps(find(log, "accuracy")), ElementsAre(0, 10));
    EXPECT_THAT(values(find(read("loss", "1664364007310 nan 7\n"), "loss")), testing::SizeIs(1));
}

TEST_F(BareColumns, stepsAndALossWhereTheFileSaysSo)
{
    std::string text = "# step loss\n1 8.049097061157227\n2\t7.75\n3 nan\n10 inf\n11 -inf\n";
    for (int step = 12; step < 80; ++step) {
        text += std::to_string(step) + " 7.5\n";
    }
    const auto log = read("train_loss.txt", text + "79 7.25\n78 7.25\n80 6");
    EXPECT_EQ(log.format, "two-columns");
    const auto loss = find(log, "loss");
    ASSERT_EQ(loss.points.size(), 74U);
    EXPECT_EQ(loss.points[0].value, 8.049097061157227);
    EXPECT_EQ(loss.points[0].line, 2);
    EXPECT_EQ(loss.points[2].state, PointState::nan);
    EXPECT_EQ(loss.points[3].state, PointState::posInf);
    EXPECT_EQ(loss.points[4].state, PointState::negInf);
    EXPECT_EQ(loss.points[73].step, 79) << "a step may come twice";
    EXPECT_THAT(steps(find(log, "loss", {}, 1)), ElementsAre(78)) << "or go back; the last line may be cut off";
}

TEST_F(BareColumns, theNameOfTheFileSaysWhatItIsOrNothing)
{
    const std::string text = "1 8.5\n2 7.75\n3 7.5\n";
    for (const auto& [file, name] : {std::pair {"loss", "loss"}, {"run3-train-losses.txt", "loss"},
             {"Loss.dat", "loss"}, {"val_loss.txt", "val_loss"}, {"eval-loss.tsv", "val_loss"},
             {"grad_norm.txt", "grad_norm"}, {"gradnorm2", "grad_norm"}, {"loss_scale.txt", "loss_scale"},
             {"router_loss.txt", "column_2"}, {"aux-loss.txt", "column_2"}, {"lossless.txt", "column_2"},
             {"llama3_cuda.txt", "column_2"}, {"normal.txt", "column_2"}}) {
        const auto log = read(file, text);
        ASSERT_EQ(log.series.size(), 1U) << file;
        EXPECT_EQ(log.series[0].name, name) << file;
    }
}

TEST_F(BareColumns, theUserCanSayWhatTheColumnIs)
{
    const auto columns = ingest::parseColumnMap({"loss=column_2"});
    ASSERT_TRUE(columns);
    const auto path = m_folder.write("llama3_cuda.txt", "1 8.5\n2 nan\n3 7.5\n");
    const auto log = ingest::readLog(path, "llama3_cuda.txt", 0, 0, {}, *columns);
    ASSERT_TRUE(log);
    EXPECT_THAT(states(find(*log, "loss")), ElementsAre(PointState::finite, PointState::nan, PointState::finite));
}

TEST_F(BareColumns, whatIsNotClearlyStepsAndValuesIsLeftAlone)
{
    for (const auto* text : {
             "1 8.5\n2 7.75\n", // too few to tell
             "3 8.5\n2 7.75\n1 7.5\n", "1 8.5\n1 7.75\n2 7.5\n", // no steps
             "1 8\n2 7\n3 6\n", // counts
             "1 8.5\n2 word\n3 7.5\n", "1 8.5 3\n2 7.5 3\n3 6.5 3\n", "1.5 8.5\n2.5 7.75\n3.5 7.5\n",
             "-1 8.5\n2 7.75\n3 7.5\n", "1700000000 8.5\n1700000001 7.75\n1700000002 7.5\n", // times
         }) {
        EXPECT_THAT(read("loss.txt", text).series, IsEmpty()) << text;
    }
    EXPECT_EQ(read("loss.txt", "step loss\n1 8.5\n2 7.75\n3 7.5\n").format, "csv") << "a heading says more";
}

TEST_F(BareColumns, realOnesAreRead)
{
    const auto logs = fs::path(NANSCOPE_SHARED_DATA) / "logs";
    const std::string metric = "mlflow_metric_file__10tanmay100__DEEPCNNCLASSIFIER__loss";
    const std::string columns = "two_col_txt__pytorch__torchtitan__llama3_cuda.txt";
    if (!fs::exists(logs / metric) || !fs::exists(logs / columns)) {
        GTEST_SKIP() << "the real logs are not here";
    }
    const auto first = ingest::readLog(logs / metric, metric);
    ASSERT_TRUE(first);
    EXPECT_THAT(steps(find(*first, "loss")), ElementsAre(0));
    EXPECT_THAT(values(find(*first, "loss")), ElementsAre(3.2727866172790527));
    const auto second = ingest::readLog(logs / columns, columns);
    ASSERT_TRUE(second);
    const auto series = find(*second, "column_2");
    EXPECT_EQ(series.pointCount, 100);
    EXPECT_EQ(series.points.back().step, 100);
    EXPECT_EQ(series.points.back().value, 2.746471643447876);
}
