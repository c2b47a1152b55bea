// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/about.h"

#include <QGuiApplication>
#include <QIcon>
#include <QMessageBox>

#include "ui/theme.h"

namespace nanscope {

namespace {

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::About)
};

QString licences()
{
    const std::pair<const char*, const char*> rows[] = {{"nanscope, core, worker", "Apache-2.0"},
        {"this window (ui, nanscope-gui)", "GPL-3.0-or-later"}, {"QCustomPlot", "GPL-3.0-or-later"},
        {"Qt 6", "LGPL-3.0"}, {"SQLite", "public domain"}, {"Eigen", "MPL-2.0"}, {"simdjson", "Apache-2.0"},
        {"nlohmann-json, {fmt}", "MIT"}, {"RE2, CLI11", "BSD-3-Clause"}, {"zlib, Zstandard", "zlib, BSD-3-Clause"}};
    QString table;
    for (const auto& [what, licence] : rows) {
        table += QStringLiteral("<tr><td style='padding-right:24px'>%1</td><td>%2</td></tr>")
                     .arg(QLatin1String(what), QLatin1String(licence));
    }
    return QStringLiteral("<table>%1</table>").arg(table);
}

} // namespace

void showAboutDialog(QWidget& parent)
{
    const QString text =
        Words::tr("<h3>Nanscope %1</h3><p>Says what went non-finite first in a training run with a Newton-Schulz step, "
                  "by whose fault, and what to do.</p><p>This window is free software: you may share and change it "
                  "under the GNU General Public License, version 3 or later. It comes without any warranty.</p>")
            .arg(QCoreApplication::applicationVersion());
    QMessageBox box(QMessageBox::NoIcon, Words::tr("About Nanscope"), text + licences(), QMessageBox::Close, &parent);
    box.setIconPixmap(QGuiApplication::windowIcon().pixmap(grid(16)));
    box.exec();
}

} // namespace nanscope
