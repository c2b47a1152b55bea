// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAbstractItemModelTester>

#include <gtest/gtest.h>

#include "core/model/verdict.h"
#include "tests/ui/samples.h"
#include "ui/captures/capturefilter.h"
#include "ui/captures/capturemodel.h"
#include "ui/shared/table/roles.h"

namespace nanscope {

namespace {

QStringList column(const QAbstractItemModel& model, int column)
{
    QStringList texts;
    for (int row = 0; row < model.rowCount(); ++row) {
        texts << model.index(row, column).data().toString();
    }
    return texts;
}

class CaptureModelTest : public testing::Test
{
protected:
    CaptureModelTest()
    {
        model.setRun(test::makeRun(), test::makeDiagnosis());
        filter.setSourceModel(&model);
    }

    QStringList filtered(const char* text)
    {
        filter.setText(QString::fromLatin1(text));
        return column(filter, CaptureModel::RankColumn);
    }

    CaptureModel model;
    CaptureFilter filter;
};

} // namespace

TEST_F(CaptureModelTest, KeepsTheRulesOfItemModels)
{
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    const QAbstractItemModelTester filterTester(&filter, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.setRun(test::makeRun(), nullptr);
    model.setRun(nullptr, nullptr);
    EXPECT_EQ(model.rowCount(), 0);
}

TEST_F(CaptureModelTest, ShowsTheBirthFirstOnceJudged)
{
    EXPECT_EQ(column(model, CaptureModel::RoleColumn), QStringList({"birth", "downstream", "downstream"}));
    EXPECT_EQ(column(model, CaptureModel::StepColumn), QStringList({"5–6", "6–7", "7–8"}));
    EXPECT_EQ(model.index(0, 0).data(CaptureRole).toInt(), 2);
    EXPECT_EQ(model.rowOf(2), 0);
    model.setRun(test::makeRun(), nullptr);
    EXPECT_EQ(model.index(0, 0).data().toString(), "not judged");
    EXPECT_EQ(model.index(0, 0).data(CaptureRoleRole).toInt(), -1);
}

TEST_F(CaptureModelTest, VerdictsArriveInTheRowsThatAreThere)
{
    auto triage = std::make_shared<Diagnosis>(*test::makeDiagnosis());
    triage->captures[0].blame = Blame::undecided;
    triage->captures[0].summary.clear();
    model.setRun(test::makeRun(), triage);
    EXPECT_EQ(column(model, CaptureModel::VerdictColumn).constFirst(), QStringLiteral("…"));
    EXPECT_EQ(filtered("verdict:implementation"), QStringList());
    int resets = 0;
    QObject::connect(&model, &QAbstractItemModel::modelReset, &model, [&resets] { ++resets; });
    model.setVerdicts(test::makeDiagnosis());
    triage.reset();
    EXPECT_EQ(resets, 0) << "the selection would be lost";
    EXPECT_EQ(column(model, CaptureModel::VerdictColumn).constFirst(), QStringLiteral("implementation"));
    EXPECT_EQ(model.verdictAt(0)->blame, Blame::implementation);
    EXPECT_EQ(filtered("verdict:implementation"), QStringList({"0"})) << "what was searched before is searched anew";
}

TEST_F(CaptureModelTest, DownstreamNamesTheRankItCameFrom)
{
    EXPECT_EQ(
        column(model, CaptureModel::VerdictColumn), QStringList({"implementation", "from rank 0", "from rank 0"}));
}

TEST_F(CaptureModelTest, AHealthyCallIsNotUndecided)
{
    auto judged = std::make_shared<Diagnosis>(*test::makeDiagnosis());
    auto& healthy = judged->captures[1];
    healthy.role = Role::healthy;
    healthy.blame = Blame::undecided;
    healthy.rule = RuleId::fits;
    healthy.kind = "healthy";
    healthy.summary = "the output is what gns-gram gives";
    healthy.causedBy.clear();
    model.setRun(test::makeRun(), judged);
    EXPECT_TRUE(column(model, CaptureModel::VerdictColumn).contains(QStringLiteral("healthy")));
}

TEST_F(CaptureModelTest, SortsRanksAsNumbers)
{
    filter.sort(CaptureModel::RankColumn, Qt::AscendingOrder);
    EXPECT_EQ(column(filter, CaptureModel::RankColumn), QStringList({"0", "1", "10"}));
}

TEST_F(CaptureModelTest, FilterKnowsColumnsExclusionAndExpressions)
{
    EXPECT_EQ(filtered("rank:1"), QStringList({"1"}));
    EXPECT_EQ(filtered("!downstream"), QStringList({"0"}));
    EXPECT_EQ(filtered("role:downstream !rank:1"), QStringList({"10"}));
    EXPECT_EQ(filtered("/1x96/"), QStringList({"1"}));
    EXPECT_EQ(filtered("shape:96x160"), QStringList({"1"}));
    EXPECT_EQ(filtered("step:6"), QStringList({"0", "10"}));
    EXPECT_EQ(filtered("birth.pt"), QStringList({"0"}));
    EXPECT_EQ(filtered("/(/").size(), 0) << "a broken expression is searched for as it stands";
    EXPECT_TRUE(filter.problem().startsWith(QStringLiteral("/(/ is searched for as it stands")))
        << filter.problem().toStdString();
    EXPECT_EQ(filtered("step:5-6"), QStringList({"0"})) << "as the list shows it: that update alone";
    EXPECT_EQ(filtered("step:5..6"), QStringList({"0", "10"})) << "step 6 lies in the next update, too";
    EXPECT_EQ(filtered("/^birth$/"), QStringList({"0"})) << "of a cell";
    EXPECT_EQ(filtered("5-6"), QStringList({"0"})) << "as the list shows it, on a keyboard";
    EXPECT_EQ(filtered("ronk:1").size(), 0);
    EXPECT_TRUE(filter.problem().startsWith(
        QStringLiteral("ronk: is no column, and is searched for as it stands; columns are role: rank: ")))
        << filter.problem().toStdString();
    EXPECT_EQ(filtered("rank:1"), QStringList({"1"}));
    EXPECT_EQ(filter.problem(), QString());
    EXPECT_EQ(filtered("").size(), 3);
}

TEST_F(CaptureModelTest, FilterKnowsRangesAndAlternatives)
{
    EXPECT_EQ(filtered("rank:0..1"), QStringList({"0", "1"}));
    EXPECT_EQ(filtered("rank:1.."), QStringList({"10", "1"}));
    EXPECT_EQ(filtered("rank:..1"), QStringList({"0", "1"}));
    EXPECT_EQ(filtered("rank:0,10"), QStringList({"0", "10"}));
    EXPECT_EQ(filtered("!rank:0,10"), QStringList({"1"}));
    EXPECT_EQ(filtered("step:8.."), QStringList({"1"})) << "8 lies in the update 7–8";
    EXPECT_EQ(filtered("step:9.."), QStringList());
    EXPECT_EQ(filtered("role:birth,upstream"), QStringList({"0"}));
    EXPECT_EQ(filtered("rank:a..b"), QStringList()) << "no range: searched for as it stands";
    EXPECT_EQ(filtered("file:birth"), QStringList({"0"}));
}

TEST_F(CaptureModelTest, FilterTakesSpacesBetweenSlashesAndQuotes)
{
    EXPECT_EQ(filtered("\"from rank 0\""), QStringList({"10", "1"}));
    EXPECT_EQ(filtered("/from RANK [0-9]/ rank:1"), QStringList({"1"}));
    EXPECT_EQ(filtered("!\"from rank 0\""), QStringList({"0"}));
}

TEST_F(CaptureModelTest, SortsShapesAndStepsByTheirNumbers)
{
    auto run = test::makeRun();
    run->captures[1].input.shape = {1, 1024, 96};
    model.setRun(run, test::makeDiagnosis());
    filter.sort(CaptureModel::ShapeColumn, Qt::AscendingOrder);
    EXPECT_EQ(column(filter, CaptureModel::ShapeColumn), QStringList({"96×160", "160×96", "1024×96"}));
    filter.sort(CaptureModel::StepColumn, Qt::DescendingOrder);
    EXPECT_EQ(column(filter, CaptureModel::StepColumn), QStringList({"7–8", "6–7", "5–6"}));
    filter.sort(CaptureModel::FileColumn, Qt::AscendingOrder);
    EXPECT_EQ(column(filter, CaptureModel::FileColumn), QStringList({"a.pt", "b.pt", "birth.pt"}));
}

TEST_F(CaptureModelTest, EveryCellTellsItsWholeTextInItsToolTip)
{
    for (int row = 0; row < model.rowCount(); ++row) {
        for (int column = 0; column < model.columnCount(); ++column) {
            const QModelIndex at = model.index(row, column);
            EXPECT_TRUE(at.data(Qt::ToolTipRole).toString().contains(at.data().toString()));
        }
    }
}

TEST_F(CaptureModelTest, VerdictIsFoundByIdBeforeName)
{
    Diagnosis diagnosis = *test::makeDiagnosis();
    Capture capture = test::makeRun()->captures[0];
    capture.id = 7;
    diagnosis.captures[1].captureId = 7;
    EXPECT_EQ(verdictOf(diagnosis, capture), &diagnosis.captures[1]);
    capture.file = "unheard-of.pt";
    capture.id = 0;
    EXPECT_EQ(verdictOf(diagnosis, capture), nullptr);
}

} // namespace nanscope
