// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the user says of the open run beside what it left: chosen, told to the workspace, remembered.
#include <algorithm>
#include <utility>

#include <QAction>
#include <QFileDialog>

#include "core/workflow/userfiles.h"
#include "ui/knowndialog.h"
#include "ui/mainwindow.h"
#include "ui/panes/messagebar.h"
#include "ui/text.h"

namespace nanscope {

namespace {

struct Asked
{
    workflow::UserFileKind kind;
    QString title;
    QString filter;
};

Asked asked(workflow::UserFileKind kind)
{
    const QString json = MainWindow::tr("JSON (*.json);;All files (*)");
    switch (kind) {
    case workflow::UserFileKind::variants:
        return {kind, MainWindow::tr("Add variants of your own"), json};
    case workflow::UserFileKind::parameters:
        return {kind, MainWindow::tr("Add names and shapes of the model's parameters"),
            MainWindow::tr("Lists of parameters (*.safetensors *.json *.txt *.pt);;All files (*)")};
    case workflow::UserFileKind::environment:
        return {kind, MainWindow::tr("Add what `nanscope env --json` wrote in the training environment"), json};
    case workflow::UserFileKind::advisories:
        break;
    }
    return {kind, MainWindow::tr("Add published problems of packages"), json};
}

bool severalOf(workflow::UserFileKind kind)
{
    return kind == workflow::UserFileKind::variants || kind == workflow::UserFileKind::advisories;
}

/// A run without a session is known by its folder.
QString keyOf(const LoadedRun& run)
{
    return exactText((run.session.empty() ? run.opened : run.session).string());
}

QString addedText(const std::vector<workflow::UserFile>& files)
{
    const auto all = std::ranges::count(files, false, &workflow::UserFile::always);
    const auto inForce = std::ranges::count_if(files, [](const auto& file) { return !file.always && !file.problem; });
    if (all == 0) {
        return {};
    }
    if (inForce < all) {
        return MainWindow::tr("%1 of %2 added files in force").arg(inForce).arg(all);
    }
    return all == 1 ? MainWindow::tr("1 file added") : MainWindow::tr("%1 files added").arg(all);
}

QString addedDetails(const std::vector<workflow::UserFile>& files)
{
    QStringList lines;
    for (const workflow::UserFile& file : files) {
        lines << QStringLiteral("%1: %2").arg(kindWord(file.kind), qstr(file.path));
    }
    return lines.join(QLatin1Char('\n'));
}

QStringList namesOf(const replay::Catalogue& kept)
{
    QStringList names;
    for (const auto& variant : kept.added()) {
        names << qstr(variant->name);
    }
    return names;
}

} // namespace

void MainWindow::connectKnown()
{
    const std::pair<QAction*, workflow::UserFileKind> adders[] = {
        {m_actions.addVariants, workflow::UserFileKind::variants},
        {m_actions.addParameters, workflow::UserFileKind::parameters},
        {m_actions.addEnvironment, workflow::UserFileKind::environment},
        {m_actions.addAdvisories, workflow::UserFileKind::advisories}};
    for (const auto& [action, kind] : adders) {
        connect(action, &QAction::triggered, this, [this, which = kind] { chooseKnown(which); });
    }
    connect(m_actions.showKnown, &QAction::triggered, this, [this] { showKnown(); });
    connect(&m_workspace, &Workspace::userFilesChanged, this, &MainWindow::onUserFilesChanged);
    connect(&m_workspace, &Workspace::findingsChanged, this,
        [this] { m_settings.setFindingChoices(keyOf(m_workspace.loaded()), m_workspace.loaded().choices); });
    connect(&m_workspace, &Workspace::userFileRefused, this, [this](const QString& sentence) {
        if (m_known) {
            m_known->showProblem(sentence);
        } else {
            m_messages->showMessage(sentence, {});
        }
    });
}

void MainWindow::chooseKnown(workflow::UserFileKind kind)
{
    QWidget* asking = m_known ? static_cast<QWidget*>(m_known) : this;
    const Asked question = asked(kind);
    const QStringList paths = severalOf(kind)
        ? QFileDialog::getOpenFileNames(asking, question.title, {}, question.filter)
        : QStringList {QFileDialog::getOpenFileName(asking, question.title, {}, question.filter)};
    if (!paths.join(QString()).isEmpty()) {
        m_messages->hide();
        m_workspace.addUserFiles(kind, paths);
    }
}

KnownDialog* MainWindow::showKnown()
{
    if (!m_known) {
        m_known = new KnownDialog(
            {m_actions.addVariants, m_actions.addParameters, m_actions.addEnvironment, m_actions.addAdvisories}, this);
        m_known->setAttribute(Qt::WA_DeleteOnClose);
        connect(m_known, &KnownDialog::removeRequested, &m_workspace, &Workspace::removeUserFile);
    }
    m_known->setFiles(m_workspace.loaded().userFilesAsRead, namesOf(m_workspace.loaded().kept));
    m_known->setJudging(m_workspace.judging());
    m_known->show();
    m_known->raise();
    m_known->activateWindow();
    return m_known;
}

UserContextOf MainWindow::userContextOf(const workflow::UserFiles& first) const
{
    return [settings = m_settings, first](const std::filesystem::path& session) {
        const QString key = exactText(session.string());
        return UserContext {workflow::joined(settings.known(key), first), settings.findingChoices(key)};
    };
}

void MainWindow::onUserFilesChanged()
{
    const LoadedRun& loaded = m_workspace.loaded();
    m_settings.setKnown(keyOf(loaded), loaded.userFiles);
    m_status.setKnown(addedText(loaded.userFilesAsRead), addedDetails(loaded.userFilesAsRead));
    if (m_known) {
        m_known->setFiles(loaded.userFilesAsRead, namesOf(m_workspace.loaded().kept));
    }
}

} // namespace nanscope
