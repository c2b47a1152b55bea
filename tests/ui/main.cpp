// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>

#include <QApplication>
#include <QSettings>
#include <QStandardPaths>
#include <QStyleFactory>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include "ui/shared/theme.h"

int main(int argc, char** argv)
{
    ::testing::InitGoogleTest(&argc, argv);
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    // Sessions and settings of the person who runs the tests stay out of it.
    const QTemporaryDir home;
    qputenv("XDG_DATA_HOME", home.path().toUtf8());
    qputenv("XDG_CONFIG_HOME", home.path().toUtf8());
    qputenv("NANSCOPE_WORKER", "");
    QStandardPaths::setTestModeEnabled(true);
    // Test mode has one settings folder for all processes, and ctest runs several.
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, home.path());
    QLocale::setDefault(QLocale::c());
    QApplication app(argc, argv);
    QCoreApplication::setApplicationName(QStringLiteral("nanscope-test"));
    QCoreApplication::setOrganizationName(QStringLiteral("nanscope-test"));
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    nanscope::applyTheme(nanscope::ThemeChoice::light);
    return RUN_ALL_TESTS();
}
