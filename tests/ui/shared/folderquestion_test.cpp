// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDir>
#include <QFileDialog>
#include <QLineEdit>
#include <QTemporaryDir>
#include <QTest>

#include <gtest/gtest.h>

#include "tests/ui/samples.h"
#include "ui/shared/folderquestion.h"

namespace nanscope {

namespace {

class FolderQuestion : public testing::Test
{
protected:
    void SetUp() override
    {
        ASSERT_TRUE(QDir(folder.path()).mkpath(QStringLiteral("runs/first")));
        ASSERT_TRUE(QDir(folder.path()).mkpath(QStringLiteral("runs/second run/inner")));
        QDir::setCurrent(shown);
    }
    ~FolderQuestion() override { QDir::setCurrent(before); }

    QFileDialog* ask()
    {
        auto* dialog = askForFolder(window, QStringLiteral("Which?"), [this](const QString& path) { chosen = path; });
        dialog->setDirectory(shown);
        QTest::qWait(200);
        return dialog;
    }

    /// As somebody does it who knows the name.
    QString typed(const QString& text)
    {
        chosen.clear();
        auto* dialog = ask();
        auto* line = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
        if (line == nullptr) {
            ADD_FAILURE() << "no line to type in";
            return {};
        }
        line->setFocus();
        line->selectAll();
        QTest::keyClicks(line, text);
        QTest::qWait(200);
        QTest::keyClick(line, Qt::Key_Return);
        if (!QTest::qWaitFor([this] { return !chosen.isEmpty(); }, 2000)) {
            dialog->reject();
        }
        return chosen;
    }

    QString before = QDir::currentPath();
    QTemporaryDir folder;
    QString shown = QDir(folder.path()).filePath(QStringLiteral("runs"));
    QWidget window;
    QString chosen;
};

} // namespace

TEST_F(FolderQuestion, WhatIsTypedIsOpenedWhereverItLies)
{
    EXPECT_EQ(typed(shown + QStringLiteral("/first")), shown + QStringLiteral("/first")) << "a child of what is shown";
    EXPECT_EQ(typed(QStringLiteral("first")), shown + QStringLiteral("/first"));
    EXPECT_EQ(typed(shown + QStringLiteral("/second run/")), shown + QStringLiteral("/second run"));
    EXPECT_EQ(typed(QStringLiteral("second run/inner")), shown + QStringLiteral("/second run/inner"));
    EXPECT_EQ(typed(folder.path()), folder.path());
}

} // namespace nanscope
