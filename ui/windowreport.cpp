// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// How a report leaves the window.
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>

#include "ui/mainwindow.h"
#include "ui/panes/reportchoices.h"
#include "ui/panes/reportpane.h"
#include "ui/text.h"

namespace nanscope {

void MainWindow::connectReport()
{
    Reporter* reporter = &m_workspace.reporter();
    connect(reporter, &Reporter::written, this, [this](const QString& path, const QString& note) {
        const QString text = tr("Report written: %1").arg(shortPath(path));
        m_status.say(note.isEmpty() ? text : tr("%1; %2").arg(text, note));
    });
    connect(reporter, &Reporter::issueText, this, [this](const QString& text) {
        QApplication::clipboard()->setText(text);
        m_status.say(tr("Issue text copied, %1 characters").arg(text.size()));
    });
    connect(panes().report, &ReportPane::saveRequested, this, &MainWindow::chooseReport);
    connect(panes().report, &ReportPane::bundleRequested, this, &MainWindow::chooseBundle);
    connect(panes().report, &ReportPane::cancelRequested, reporter, &Reporter::cancel);
    const report::BundleOptions options = restoreReportOptions(m_settings.report());
    panes().report->setOptions(options);
    reporter->setOptions(options);
    connect(panes().report, &ReportPane::optionsChanged, this,
        [this](const report::BundleOptions& changed) { m_settings.setReport(saveReportOptions(changed)); });
}

void MainWindow::exportTo(const QString& path)
{
    m_workspace.reporter().save(path);
}

void MainWindow::chooseReport()
{
    saveReportAs(tr("Export report"), QStringLiteral(".md"), tr("Markdown (*.md);;Web page (*.html);;JSON (*.json)"));
}

void MainWindow::chooseBundle()
{
    saveReportAs(tr("Export report bundle"), QStringLiteral(".zip"), tr("Bundle (*.zip)"));
}

void MainWindow::saveReportAs(const QString& title, const QString& ending, const QString& kinds)
{
    if (!m_workspace.hasRun()) {
        return;
    }
    const QString stem = QFileInfo(qstr(suggestedReportName(*m_workspace.loaded().run))).completeBaseName();
    const QString path = QFileDialog::getSaveFileName(this, title, stem + ending, kinds);
    if (!path.isEmpty()) {
        exportTo(QFileInfo(path).suffix().isEmpty() ? path + ending : path);
    }
}

} // namespace nanscope
