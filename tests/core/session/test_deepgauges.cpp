// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sqlite3.h>

#include "core/session/session.h"
#include "tests/core/session/oldersession.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

DeepGauges someGauges()
{
    DeepGauges deep;
    deep.batch = 3;
    deep.outputRange = {0.8461, 1.1236};
    deep.shares = {0.7, 0.011};
    deep.steps = {{1, 0.25, -4e-4, 0.0, 1e-5, {7.5, 0.5}}, {2, {}, 0.125, {}, {}, {}}};
    deep.seconds = 1.5;
    return deep;
}

Cell someCell()
{
    Cell cell;
    cell.capture = "a.pt";
    cell.variant = "gns-gram";
    cell.precision = Precision::fp16;
    cell.epsilon = 1e-7;
    cell.steps = 2;
    cell.gauges = {{1, 1.5, 2.0, 2.5, 0.5, 3.5, {}}, {2, {}, {}, {}, {}, 0.25, {}}};
    cell.environment = {"eigen 3.4.0", "cpu", "x86-64", "", 2, ""};
    return cell;
}

class DeepGaugesOfASession : public testing::Test
{
protected:
    session::Session open(session::OpenMode mode) const { return std::move(*session::Session::open(m_path, mode)); }

    std::optional<DeepGauges> stored() const { return open(session::OpenMode::readOnly).cells()->at(0).deep; }

    void change(const char* sql) const
    {
        sqlite3* db = nullptr;
        ASSERT_EQ(sqlite3_open(m_path.c_str(), &db), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
        sqlite3_close(db);
    }

    TemporaryFolder m_folder;
    std::filesystem::path m_path = m_folder / "a.nanscope";
};

TEST_F(DeepGaugesOfASession, ComeBackWithTheirGaps)
{
    auto cell = someCell();
    cell.deep = someGauges();
    ASSERT_TRUE(open(session::OpenMode::create).addCell(cell));
    const auto deep = stored();
    ASSERT_TRUE(deep);
    EXPECT_EQ(deep->batch, 3);
    EXPECT_THAT(deep->outputRange, ElementsAre(0.8461, 1.1236));
    EXPECT_THAT(deep->shares, ElementsAre(0.7, 0.011));
    EXPECT_EQ(deep->seconds, 1.5);
    ASSERT_THAT(deep->steps, SizeIs(2));
    EXPECT_EQ(deep->steps[0].iteration, 1);
    EXPECT_EQ(deep->steps[0].iterateDistance, 0.25);
    EXPECT_EQ(deep->steps[0].lambdaMin, -4e-4);
    EXPECT_EQ(deep->steps[0].symmetryError, 0.0) << "zero is a number";
    EXPECT_EQ(deep->steps[0].commutator, 1e-5);
    EXPECT_THAT(deep->steps[0].signalGains, ElementsAre(7.5, 0.5));
    EXPECT_EQ(deep->steps[1].lambdaMin, 0.125);
    EXPECT_FALSE(deep->steps[1].iterateDistance || deep->steps[1].symmetryError || deep->steps[1].commutator);
    EXPECT_THAT(deep->steps[1].signalGains, IsEmpty());
}

TEST_F(DeepGaugesOfASession, JoinTheCellTheyAreOf)
{
    auto session = open(session::OpenMode::create);
    auto cell = someCell();
    ASSERT_TRUE(session.addCell(cell));
    auto measured = someCell();
    measured.gauges.clear();
    measured.deep = someGauges();
    const auto joined = session.addDeepGauges(measured);
    ASSERT_TRUE(joined && *joined);
    EXPECT_EQ((*joined)->id, cell.id);
    EXPECT_THAT((*joined)->gauges, SizeIs(2));
    EXPECT_TRUE((*joined)->deep);
    ASSERT_TRUE(session.addDeepGauges(measured)) << "a second time they are replaced";
    measured.environment.threads = 64;
    EXPECT_EQ(session.addDeepGauges(measured).value().has_value(), false) << "no cell of that machine is there";
    EXPECT_THAT(session.cells()->at(0).deep->steps, SizeIs(2));
}

TEST_F(DeepGaugesOfASession, OutliveAReplayWithTheSameNumbersOnly)
{
    auto session = open(session::OpenMode::create);
    auto cell = someCell();
    cell.deep = someGauges();
    ASSERT_TRUE(session.addCell(cell));
    auto again = someCell();
    again.gauges.back().distanceToFp64 = 0.5;
    ASSERT_TRUE(session.addCell(again));
    EXPECT_TRUE(again.deep);
    EXPECT_TRUE(session.cells()->at(0).deep);
    auto other = someCell();
    other.gauges[0].absmaxX = 3.25;
    ASSERT_TRUE(session.addCell(other));
    EXPECT_THAT(session.cells().value(), SizeIs(1));
    EXPECT_FALSE(session.cells()->at(0).deep);
    EXPECT_EQ(session.query("SELECT count(*) FROM gauges_deep")->rows[0][0], "0");
}

TEST_F(DeepGaugesOfASession, OfTheFirstVersionIsReadAsItIs)
{
    auto cell = someCell();
    ASSERT_TRUE(open(session::OpenMode::create).addCell(cell));
    makeOlder(m_path, 1);
    const auto session = session::Session::open(m_path, session::OpenMode::readOnly);
    ASSERT_TRUE(session) << sentence(session.error());
    const auto cells = session->cells();
    ASSERT_TRUE(cells) << sentence(cells.error());
    ASSERT_THAT(*cells, SizeIs(1));
    EXPECT_THAT(cells->at(0).gauges, SizeIs(2));
    EXPECT_FALSE(cells->at(0).deep);
}

TEST_F(DeepGaugesOfASession, OfTheFirstVersionTakesThemOnceItIsWritten)
{
    auto cell = someCell();
    ASSERT_TRUE(open(session::OpenMode::create).addCell(cell));
    makeOlder(m_path, 1);
    cell.deep = someGauges();
    {
        auto session = session::Session::open(m_path, session::OpenMode::readWrite);
        ASSERT_TRUE(session) << sentence(session.error());
        EXPECT_FALSE(session->cells()->at(0).deep);
        ASSERT_TRUE(session->addDeepGauges(cell));
    }
    EXPECT_TRUE(stored());
    EXPECT_EQ(open(session::OpenMode::readOnly).query("SELECT count(*) FROM cells")->rows[0][0], "1");
}

TEST_F(DeepGaugesOfASession, CountsThatContradictTheBytesAreErrors)
{
    auto cell = someCell();
    cell.deep = someGauges();
    ASSERT_TRUE(open(session::OpenMode::create).addCell(cell));
    change("UPDATE cells_deep SET directions = 1000000000000");
    EXPECT_FALSE(open(session::OpenMode::readOnly).cells());
    change("UPDATE cells_deep SET directions = -1");
    EXPECT_FALSE(open(session::OpenMode::readOnly).cells());
}

} // namespace
} // namespace nanscope
