// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/rollback/rollbackpane.h"

#include <algorithm>

#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>

#include "tests/core/workflow/brokenrun.h"
#include "tests/ui/openwindow.h"
#include "ui/verdict/verdictpane.h"

namespace nanscope {
namespace {

class Rollbacks : public test::OpenWindow
{
protected:
    RollbackPane& pane() { return *window->panes().rollback; }

    /// The card above the tabs says where to resume.
    bool cardResumesFrom(int step)
    {
        const QString words = QStringLiteral("resume from step %1 ").arg(step);
        const auto labels = window->panes().verdict->findChildren<QLabel*>();
        return std::ranges::any_of(labels, [&](const QLabel* label) { return label->text().contains(words); });
    }

    QString statusOf(int row) { return pane().model()->index(row, RollbackPane::status).data().toString(); }

    /// Without a capture it is the log alone that speaks, so that only the loss of later steps proves a checkpoint.
    bool openBroken()
    {
        start();
        return open(broken.folder.path());
    }

    BrokenRun broken;
};

TEST(RollbackPane, ScrollsRatherThanCutsItsAnswerInALowWindow)
{
    Rollback rollback;
    rollback.tonight = std::string(400, 'x');
    for (std::size_t i = 8; i < rollback.tonight.size(); i += 8) {
        rollback.tonight[i] = ' ';
    }
    rollback.reason = "no checkpoint was found";
    rollback.checkpoints.resize(3);
    RollbackPane pane;
    pane.setRollback(rollback, true);
    pane.resize(500, 170);
    pane.show();
    QCoreApplication::processEvents();
    const auto* headline = pane.findChild<QLabel*>(QStringLiteral("headline"));
    ASSERT_TRUE(headline);
    EXPECT_GE(headline->height(), headline->heightForWidth(headline->width()));
    EXPECT_LE(pane.height(), 170);
}

TEST_F(Rollbacks, ReadsCheckpointsWhenAskedAndRemembersThem)
{
    broken.write(100, good);
    broken.write(200, bad);
    ASSERT_TRUE(openBroken());
    ASSERT_EQ(pane().model()->rowCount(), 2);
    EXPECT_TRUE(pane().verifyButton()->isEnabled());
    const QString before = statusOf(0);

    EXPECT_TRUE(cardResumesFrom(200));
    pane().verifyButton()->click();
    EXPECT_EQ(pane().verifyButton()->text(), QStringLiteral("Cancel"));
    EXPECT_FALSE(pane().progress().isEmpty());
    ASSERT_TRUE(settle());
    EXPECT_NE(statusOf(0), before);
    EXPECT_TRUE(cardResumesFrom(100));
    EXPECT_EQ(statusOf(0), QStringLiteral("poisoned"));
    EXPECT_EQ(statusOf(1), QStringLiteral("safe"));
    EXPECT_EQ(pane().resume(), QStringLiteral("Resume with torchtitan: --checkpoint.load_step=100"));
    EXPECT_EQ(pane().verifyButton()->text(), QStringLiteral("Verify checkpoints"));
    EXPECT_TRUE(pane().progress().isEmpty());
    pane().copyButton()->click();
    EXPECT_TRUE(QGuiApplication::clipboard()->text().endsWith(QStringLiteral("--checkpoint.load_step=100")));

    ASSERT_TRUE(openBroken());
    EXPECT_EQ(statusOf(0), QStringLiteral("poisoned")) << "what an earlier visit read is known";
    EXPECT_TRUE(cardResumesFrom(100));
}

TEST_F(Rollbacks, ACancelKeepsWhatIsShown)
{
    broken.write(100, good);
    ASSERT_TRUE(openBroken());
    const QString before = pane().reason();
    pane().verifyButton()->click();
    pane().verifyButton()->click();
    EXPECT_EQ(pane().verifyButton()->text(), QStringLiteral("Verify checkpoints"));
    ASSERT_TRUE(settle());
    QTest::qWait(100); // the thread that was cancelled has answered
    EXPECT_EQ(pane().reason(), before);
    EXPECT_EQ(sentence(), QString()) << "a cancel is no problem";
}

TEST_F(Rollbacks, SaysWhyThereIsNothingToRead)
{
    ASSERT_TRUE(openBroken());
    EXPECT_FALSE(pane().verifyButton()->isEnabled());
    EXPECT_TRUE(pane().verifyButton()->toolTip().contains(QStringLiteral("none to read")));
}

} // namespace
} // namespace nanscope
