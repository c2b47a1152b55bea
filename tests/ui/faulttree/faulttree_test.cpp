// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <array>

#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include <gtest/gtest.h>

#include "core/model/verdict.h"
#include "tests/ui/samples.h"
#include "ui/faulttree/faulttree.h"
#include "ui/faulttree/faulttreepane.h"
#include "ui/faulttree/faulttreeview.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

FaultCapture fault(int index, int rank, std::int64_t step, Role role, int cause = -1)
{
    return {index, rank, StepPair {step, step + 1}, role, cause};
}

/// A birth on rank 0 at step 5; what follows on both ranks, twice on rank 1 at step 6.
std::vector<FaultCapture> smallRun()
{
    return {fault(0, 0, 5, Role::birth), fault(1, 1, 6, Role::downstream, 0), fault(2, 1, 6, Role::downstream, 0),
        fault(3, 0, 6, Role::downstream, 0), fault(4, 1, 7, Role::downstream, 0)};
}

/// Every rank has one descendant per step of one birth.
std::vector<FaultCapture> wideRun(int ranks, int steps, int birthRank)
{
    std::vector<FaultCapture> captures {fault(0, birthRank, 0, Role::birth)};
    for (int rank = 0; rank < ranks; ++rank) {
        for (int step = 1; step <= steps; ++step) {
            captures.push_back(fault(static_cast<int>(captures.size()), rank, step, Role::downstream, 0));
        }
    }
    return captures;
}

const FaultNode& nodeHolding(const FaultTree& tree, int capture)
{
    return tree.nodes[static_cast<std::size_t>(nodeOf(tree, capture))];
}

bool hasEdge(const FaultTree& tree, int from, int to, bool along)
{
    return std::ranges::any_of(tree.edges, [&](const FaultEdge& edge) {
        return edge.from == nodeOf(tree, from) && edge.to == nodeOf(tree, to) && edge.along == along;
    });
}

/// The pane with the three captures of the samples: a birth on rank 0, descendants on ranks 10 and 1.
class FaultTreeWindow : public testing::Test
{
protected:
    void SetUp() override
    {
        m_pane.resize(420, 220);
        m_pane.setRun(test::makeRun(), test::makeDiagnosis());
        m_pane.show();
    }

    FaultTreeView& view() { return *m_pane.view(); }
    int node(int capture) { return nodeOf(view().tree(), capture); }
    void click(int capture)
    {
        QTest::mouseClick(view().viewport(), Qt::LeftButton, {}, view().positionOf(node(capture)));
    }

    FaultTreePane m_pane;
};

} // namespace

TEST(FaultTreeLayout, RanksAreLanesAndUpdatesColumns)
{
    const FaultTree tree = layOutFaults(smallRun(), 16);
    ASSERT_EQ(tree.lanes.size(), 2U);
    EXPECT_EQ(tree.lanes[1].first, 1);
    ASSERT_EQ(tree.columns.size(), 3U);
    EXPECT_EQ(tree.columns[0].step, (StepPair {5, 6}));
    ASSERT_EQ(tree.nodes.size(), 4U);
    EXPECT_EQ(nodeHolding(tree, 0).role, Role::birth);
    EXPECT_EQ(nodeHolding(tree, 0).lane, 0);
    EXPECT_EQ(nodeHolding(tree, 4).lane, 1);
    EXPECT_EQ(nodeHolding(tree, 4).column, 2);
    EXPECT_EQ(nodeHolding(tree, 1).captures, (std::vector<int> {1, 2})) << "one rank, one update: a stack";
}

TEST(FaultTreeLayout, ArrowsLeadFromTheCauseOncePerLaneAndThenAlongIt)
{
    const FaultTree tree = layOutFaults(smallRun(), 16);
    EXPECT_TRUE(hasEdge(tree, 0, 1, false));
    EXPECT_TRUE(hasEdge(tree, 0, 3, true)) << "in the birth's own lane";
    EXPECT_TRUE(hasEdge(tree, 1, 4, true));
    EXPECT_EQ(tree.edges.size(), 3U);
    ASSERT_EQ(tree.trunks.size(), 1U);
    EXPECT_EQ(tree.trunks[0].lastLane, 1);
}

TEST(FaultTreeLayout, EachBirthHasItsOwnDescendants)
{
    auto captures = smallRun();
    captures.push_back(fault(5, 2, 5, Role::birth));
    captures.push_back(fault(6, 2, 6, Role::downstream, 5));
    const FaultTree tree = layOutFaults(captures, 16);
    EXPECT_TRUE(hasEdge(tree, 5, 6, true));
    EXPECT_FALSE(hasEdge(tree, 0, 6, false));
    EXPECT_TRUE(hasEdge(tree, 0, 1, false));
}

TEST(FaultTreeLayout, RolesOfOneUpdateStandSideBySideWithTheBirthFirst)
{
    const FaultTree tree = layOutFaults(
        {fault(0, 0, 5, Role::downstream, 1), fault(1, 0, 5, Role::birth), fault(2, 1, 5, Role::padding)}, 16);
    ASSERT_EQ(tree.columns.size(), 1U);
    EXPECT_EQ(tree.columns[0].roles, (std::vector<Role> {Role::birth, Role::padding, Role::downstream}));
    EXPECT_EQ(nodeHolding(tree, 1).slot, 0);
    EXPECT_EQ(nodeHolding(tree, 0).slot, 2);
    EXPECT_EQ(nodeHolding(tree, 2).slot, 1);
    const FaultGeometry geometry = placeFaults(tree, {300, 100}, 30, 26);
    EXPECT_LT(geometry.centerOf(nodeHolding(tree, 1)).x(), geometry.centerOf(nodeHolding(tree, 0)).x());
}

TEST(FaultTreeLayout, UnknownStepsStandLastAndUnknownRanksFirst)
{
    auto captures = smallRun();
    captures.push_back({5, std::nullopt, std::nullopt, Role::downstream, 0});
    const FaultTree tree = layOutFaults(captures, 16);
    EXPECT_EQ(tree.lanes.front().first, std::nullopt);
    EXPECT_EQ(tree.columns.back().step, std::nullopt);
    EXPECT_EQ(nodeHolding(tree, 5).column, 3);
}

TEST(FaultTreeLayout, ManyRanksShareLanesButNotWhereSomethingBegan)
{
    auto captures = wideRun(512, 3, 45);
    captures.push_back(fault(static_cast<int>(captures.size()), 200, 2, Role::padding));
    const FaultTree tree = layOutFaults(captures, 16);
    EXPECT_LE(tree.lanes.size(), 20U);
    EXPECT_EQ(tree.ranks, 512);
    int next = 0;
    int alone = 0;
    for (const FaultLane& lane : tree.lanes) {
        EXPECT_EQ(lane.first, next) << "no rank is left out, none comes twice";
        EXPECT_EQ(*lane.last - *lane.first + 1, lane.ranks);
        next = *lane.last + 1;
        const bool own = std::ranges::count(std::array {45, 200}, *lane.first) > 0;
        EXPECT_EQ(lane.ranks == 1, own) << *lane.first;
        alone += own ? 1 : 0;
    }
    EXPECT_EQ(next, 512);
    EXPECT_EQ(alone, 2);
    std::size_t held = 0;
    for (const FaultNode& node : tree.nodes) {
        held += node.captures.size();
    }
    EXPECT_EQ(held, captures.size());
    EXPECT_EQ(layOutFaults(captures, 512).lanes.size(), 512U);
}

TEST(FaultTreeLayout, TheGeometryFillsTheRoomAndGrowsBeyondIt)
{
    const FaultTree small = layOutFaults(smallRun(), 16);
    EXPECT_DOUBLE_EQ(placeFaults(small, {120, 80}, 30, 26).size.width(), 120);
    EXPECT_DOUBLE_EQ(placeFaults(small, {120, 80}, 30, 26).laneHeight, 40);
    const FaultTree wide = layOutFaults(wideRun(1, 10000, 0), 16);
    EXPECT_DOUBLE_EQ(placeFaults(wide, {500, 80}, 30, 26).size.width(), 10001 * 26.0);
}

TEST(FaultTreeLayout, OnlyNodesInTheRangeAreVisited)
{
    const FaultTree tree = layOutFaults(wideRun(1, 10000, 0), 16);
    const FaultGeometry geometry = placeFaults(tree, {500, 80}, 30, 26);
    const auto [begin, end] = nodesBetween(tree, geometry, 0, 5000 * 26.0, 5020 * 26.0);
    EXPECT_GE(begin, 4998);
    EXPECT_LE(end - begin, 24);
    const QPointF center = geometry.centerOf(tree.nodes[5005]);
    EXPECT_EQ(nodeAt(tree, geometry, center + QPointF(3, -2), 13), 5005);
    EXPECT_EQ(nodeAt(tree, geometry, center + QPointF(0, 14), 13), -1);
    EXPECT_EQ(nodeAt(tree, geometry, {center.x(), -5}, 13), -1);
}

TEST(FaultTreeLayout, ArrowKeysStayInTheTree)
{
    const FaultTree tree = layOutFaults(smallRun(), 16);
    const int birth = nodeOf(tree, 0);
    EXPECT_EQ(nodeAfter(tree, birth, FaultMove::left), birth);
    EXPECT_EQ(nodeAfter(tree, birth, FaultMove::right), nodeOf(tree, 3));
    EXPECT_EQ(nodeAfter(tree, nodeOf(tree, 3), FaultMove::right), nodeOf(tree, 3)) << "not into the next lane";
    EXPECT_EQ(nodeAfter(tree, nodeOf(tree, 3), FaultMove::down), nodeOf(tree, 1)) << "the same update";
    EXPECT_EQ(nodeAfter(tree, nodeOf(tree, 4), FaultMove::up), nodeOf(tree, 3)) << "the nearest update";
    EXPECT_EQ(nodeAfter(tree, birth, FaultMove::up), birth);
    EXPECT_EQ(nodeAfter(tree, nodeOf(tree, 1), FaultMove::last), nodeOf(tree, 4));
    EXPECT_EQ(nodeAfter(tree, nodeOf(tree, 4), FaultMove::first), nodeOf(tree, 1));
}

TEST(FaultTreeLayout, AStackIsGoneThroughOneByOne)
{
    const FaultNode stack {0, 0, 0, Role::downstream, {4, 7, 9}};
    EXPECT_EQ(captureToSelect(stack, -1), 4);
    EXPECT_EQ(captureToSelect(stack, 4), 7);
    EXPECT_EQ(captureToSelect(stack, 9), 4);
}

TEST(FaultTreeLayout, TheSummaryCountsWhatIsDamaged)
{
    EXPECT_EQ(faultSummary({25, 1, 0, 24, 0}), QStringLiteral("25 → 1"));
    EXPECT_EQ(faultSummary({25, 1, 0, 20, 0}), QStringLiteral("21 → 1")) << "healthy ones do not come down to it";
    EXPECT_EQ(faultSummary({3, 3, 0, 0, 0}), QStringLiteral("3")) << "none follows from another";
    EXPECT_EQ(faultSummary({3, 0, 1, 2, 0}), QStringLiteral("3 → 1")) << "an upstream is where it began";
    EXPECT_EQ(faultSummary({2, 0, 0, 0, 0}), QString());
}

TEST(FaultTreeLayout, CausesAreFoundByTheNameOfTheFile)
{
    const auto captures = faultCaptures(*test::makeRun(), *test::makeDiagnosis());
    ASSERT_EQ(captures.size(), 3U);
    EXPECT_EQ(captures[0].cause, 2);
    EXPECT_EQ(captures[2].cause, -1);
    EXPECT_EQ(captures[2].role, Role::birth);
    EXPECT_EQ(captures[1].step, (StepPair {6, 7}));
}

TEST_F(FaultTreeWindow, ClickSelectsTheCapture)
{
    QSignalSpy activated(&m_pane, &FaultTreePane::captureActivated);
    click(1);
    ASSERT_EQ(activated.size(), 1);
    EXPECT_EQ(activated.first().first().toInt(), 1);
    EXPECT_EQ(view().selected(), 1);
    QTest::mouseClick(view().viewport(), Qt::LeftButton, {}, QPoint(2, 2));
    EXPECT_EQ(activated.size(), 1) << "labels are no captures";
}

TEST_F(FaultTreeWindow, KeysMoveAndEnterSelects)
{
    QSignalSpy activated(&m_pane, &FaultTreePane::captureActivated);
    QTest::keyClick(&view(), Qt::Key_Down);
    EXPECT_EQ(view().current(), node(2)) << "begins at the birth";
    QTest::keyClick(&view(), Qt::Key_Down);
    EXPECT_EQ(view().current(), node(0));
    EXPECT_TRUE(view().accessibleDescription().contains(QStringLiteral("rank 1")));
    EXPECT_TRUE(view().accessibleDescription().contains(QStringLiteral("downstream")));
    EXPECT_EQ(activated.size(), 0) << "moving selects nothing";
    QTest::keyClick(&view(), Qt::Key_Return);
    ASSERT_EQ(activated.size(), 1);
    EXPECT_EQ(activated.first().first().toInt(), 0);
}

TEST_F(FaultTreeWindow, TheTableHasOneRowForEachCapture)
{
    EXPECT_EQ(view().table(),
        QStringLiteral("rank\tupdate\tcall\trole\tfile\tcaused_by\n"
                       "0\t5–6\t1\tbirth\tbirth.pt\t\n"
                       "1\t7–8\t1\tdownstream\ta.pt\tbirth.pt\n"
                       "10\t6–7\t1\tdownstream\tb.pt\tbirth.pt"));
}

TEST(FaultTableTest, CallsOfOneUpdateAreCountedByTime)
{
    RunData run;
    for (const char* file : {"late.pt", "early.pt", "next.pt", "unknown.pt"}) {
        run.captures.push_back({});
        run.captures.back().file = file;
    }
    run.captures[0].timestampMs = 20;
    run.captures[1].timestampMs = 10;
    const FaultCapture unknown {3, std::nullopt, std::nullopt, Role::downstream, 1};
    const QString table = faultTable(run,
        {fault(0, 0, 5, Role::downstream, 1), fault(1, 0, 5, Role::birth), fault(2, 0, 6, Role::padding), unknown});
    EXPECT_EQ(table.section(QLatin1Char('\n'), 1),
        QStringLiteral("\t\t1\tdownstream\tunknown.pt\tearly.pt\n"
                       "0\t5–6\t1\tbirth\tearly.pt\t\n"
                       "0\t5–6\t2\tdownstream\tlate.pt\tearly.pt\n"
                       "0\t6–7\t1\tzero input\tnext.pt\t"));
}

TEST_F(FaultTreeWindow, ToolTipTellsFilePlaceAndSummary)
{
    const QString tip = view().toolTipOf(node(2));
    EXPECT_TRUE(tip.contains(QStringLiteral("birth.pt")));
    EXPECT_TRUE(tip.contains(QStringLiteral("between the log lines of steps 5")));
    EXPECT_TRUE(tip.contains(QStringLiteral("Every plausible variant stays finite")));
}

TEST_F(FaultTreeWindow, FileNamesAreNeverTakenForHtml)
{
    const auto run = test::makeRun();
    run->captures[2].file = "<img src=x>.pt";
    const auto diagnosis = test::makeDiagnosis();
    diagnosis->captures[0].capture = "<img src=x>.pt";
    m_pane.setRun(run, diagnosis);
    EXPECT_FALSE(view().toolTipOf(node(2)).contains(QStringLiteral("<img")));
}

TEST_F(FaultTreeWindow, ManyCapturesScrollToTheSelectedOne)
{
    auto run = std::make_shared<RunData>();
    auto diagnosis = std::make_shared<Diagnosis>();
    for (const FaultCapture& capture : wideRun(512, 19, 37)) {
        const std::string file = std::to_string(capture.index) + ".pt";
        Capture stored;
        stored.file = file;
        stored.rank = capture.rank;
        run->captures.push_back(stored);
        CaptureVerdict verdict;
        verdict.capture = file;
        verdict.rank = capture.rank;
        verdict.step = capture.step;
        verdict.role = capture.role;
        verdict.causedBy = capture.cause < 0 ? "" : "0.pt";
        diagnosis->captures.push_back(verdict);
    }
    m_pane.setRun(run, diagnosis);
    EXPECT_TRUE(m_pane.mergeButton()->isVisibleTo(&m_pane));
    m_pane.mergeButton()->setChecked(true);
    EXPECT_EQ(view().tree().lanes.size(), 512U);
    const int last = static_cast<int>(run->captures.size()) - 1;
    m_pane.setSelected(last);
    EXPECT_TRUE(view().viewport()->rect().contains(view().positionOf(node(last))));
    EXPECT_GT(view().verticalScrollBar()->value(), 10000);
    m_pane.setSelected(0);
    EXPECT_TRUE(view().viewport()->rect().contains(view().positionOf(node(0))));
}

TEST_F(FaultTreeWindow, EmptyRunsSayWhatIsMissing)
{
    m_pane.setRun(std::make_shared<RunData>(), std::make_shared<Diagnosis>());
    EXPECT_TRUE(view().accessibleDescription().contains(QStringLiteral("no captures")));
    EXPECT_FALSE(m_pane.grab().isNull());
    QTest::keyClick(&view(), Qt::Key_Return);
    m_pane.setRun(nullptr, nullptr);
    EXPECT_TRUE(view().accessibleDescription().contains(QStringLiteral("Open a run")));
    EXPECT_TRUE(view().tree().nodes.empty());
}

TEST_F(FaultTreeWindow, TheBirthIsPaintedInTheBirthColourOfEachTheme)
{
    for (const ThemeChoice choice : {ThemeChoice::dark, ThemeChoice::light}) {
        applyTheme(choice);
        const QImage picture = view().viewport()->grab().toImage();
        EXPECT_EQ(picture.pixelColor(view().positionOf(node(2))), theme().birth);
        EXPECT_NE(picture.pixelColor(view().positionOf(node(0))), theme().birth);
    }
}

TEST_F(FaultTreeWindow, NamesItself)
{
    EXPECT_EQ(view().accessibleName(), QStringLiteral("Fault tree, 3 → 1"));
}

} // namespace nanscope
