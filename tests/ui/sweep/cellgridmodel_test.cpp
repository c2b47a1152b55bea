// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAbstractItemModelTester>
#include <QFont>
#include <QSignalSpy>

#include <gtest/gtest.h>

#include "tests/ui/samples.h"
#include "ui/shared/table/roles.h"
#include "ui/sweep/cellgridmodel.h"

namespace nanscope {

namespace {

const std::vector<Precision> twoFormats {Precision::fp64, Precision::fp16};

class CellGridTest : public testing::Test
{
protected:
    CellGridTest() { model.setGrid(test::makeGrid({"gns-gram", "keller-jordan"}, 1, twoFormats)); }

    QString text(int row, int column, int role = Qt::DisplayRole) const
    {
        return model.index(row, column).data(role).toString();
    }

    void put(const Cell& cell) { model.putCell(cell, test::askedFor(cell)); }

    void setPending()
    {
        std::vector<replay::CellRequest> all;
        for (int row = 0; row < model.rowCount(); ++row) {
            all.push_back(model.requestAt(model.index(row, 0)));
            all.push_back(model.requestAt(model.index(row, 1)));
        }
        model.setPending(all);
    }

    CellGridModel model;
};

Cell bornInGram()
{
    Cell cell = test::makeCell("keller-jordan", Precision::fp16, Outcome::inf);
    cell.firstNonFinite = NonFinite {3, OpName::gram, {4, 5}, ValueClass::negInf, 12};
    cell.birth = cell.firstNonFinite;
    return cell;
}

} // namespace

TEST_F(CellGridTest, KeepsTheRulesOfItemModels)
{
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    put(bornInGram());
    setPending();
    model.setGrid({});
    EXPECT_EQ(model.rowCount(), 0);
}

TEST_F(CellGridTest, SeveralDevicesHaveARowEach)
{
    const QStringList devices {QStringLiteral("cuda:0"), QStringLiteral("cpu")};
    model.setGrid(test::makeGrid({"gns-gram", "keller-jordan"}, 1, twoFormats, devices));
    ASSERT_EQ(model.rowCount(), 4);
    Cell cell = bornInGram();
    cell.device = "cuda:0";
    put(cell);
    EXPECT_EQ(text(2, 1), "−Inf");
    EXPECT_EQ(text(3, 1), "–") << "the CPU has not replayed it";
    EXPECT_EQ(model.headerData(3, Qt::Vertical).toString(), "keller-jordan · cpu");
    EXPECT_TRUE(model.headerData(1, Qt::Vertical, IdentifiedRole).toBool());
    EXPECT_FALSE(model.headerData(2, Qt::Vertical, IdentifiedRole).toBool());
    EXPECT_EQ(model.requestAt(model.index(3, 0)).variant, "keller-jordan");
    EXPECT_EQ(model.requestAt(model.index(3, 0)).device, "cpu");
    cell.device = "cuda:5";
    put(cell);
    EXPECT_EQ(model.doneCount(), 1) << "of a device that has no row";
}

TEST_F(CellGridTest, CellNamesOutcomeAndBirth)
{
    QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
    EXPECT_EQ(text(1, 1), "–");
    put(bornInGram());
    EXPECT_EQ(changed.size(), 1);
    EXPECT_EQ(text(1, 1), "−Inf");
    EXPECT_EQ(text(1, 1, BirthTextRole), "step 3 gram");
    EXPECT_TRUE(text(1, 1, Qt::ToolTipRole).contains("[4, 5]"));
    EXPECT_EQ(model.doneCount(), 1);
}

TEST_F(CellGridTest, NonFiniteInputIsNoBirth)
{
    Cell cell = bornInGram();
    cell.firstNonFinite->op = OpName::input;
    cell.birth.reset();
    put(cell);
    EXPECT_EQ(text(1, 1, BirthTextRole), "input");
}

TEST_F(CellGridTest, PendingCellsFillOneByOne)
{
    setPending();
    EXPECT_EQ(text(0, 0), "…");
    put(test::makeCell("gns-gram", Precision::fp64, Outcome::finite));
    EXPECT_EQ(text(0, 0), "finite");
    EXPECT_EQ(text(0, 1), "…");
    model.setPending({});
    EXPECT_EQ(text(0, 1), "–");
}

TEST_F(CellGridTest, ZeroIsNamedAsLoudlyAsNan)
{
    put(test::makeCell("gns-gram", Precision::fp16, Outcome::zero));
    EXPECT_EQ(text(0, 1), "all zero");
}

TEST_F(CellGridTest, FailedCellSaysWhy)
{
    Cell cell = test::makeCell("gns-gram", Precision::fp64, Outcome::finite);
    cell.error = "needs 9 GiB, 4 are free";
    put(cell);
    EXPECT_EQ(text(0, 0), "failed");
    EXPECT_TRUE(text(0, 0, Qt::ToolTipRole).contains("9 GiB"));
    EXPECT_FALSE(model.index(0, 0).data(OutcomeRole).isValid());
}

TEST_F(CellGridTest, UnknownVariantsAndFormatsAreLeftOut)
{
    put(test::makeCell("someone-elses", Precision::fp64, Outcome::nan));
    put(test::makeCell("gns-gram", Precision::tf32, Outcome::nan));
    EXPECT_EQ(model.doneCount(), 0);
}

TEST_F(CellGridTest, PlausibleVariantsAreBold)
{
    EXPECT_TRUE(model.headerData(0, Qt::Vertical, Qt::FontRole).value<QFont>().bold());
    EXPECT_FALSE(model.headerData(1, Qt::Vertical, Qt::FontRole).value<QFont>().bold());
}

} // namespace nanscope
