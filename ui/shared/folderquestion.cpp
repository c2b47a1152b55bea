// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/folderquestion.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>

namespace nanscope {

namespace {

/// What is typed counts: Qt's own dialog asks its list first, which may not have followed yet, and hands over the
/// folder that it shows where nothing is selected there. A dialog of the desktop has no such line, and answers for
/// itself.
QString folderIn(const QFileDialog& dialog, const QString& selected)
{
    const auto* line = dialog.findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
    const QString typed = line ? line->text() : QString();
    const QString path = QDir::cleanPath(dialog.directory().absoluteFilePath(typed));
    return !typed.isEmpty() && QFileInfo(path).isDir() ? path : selected;
}

} // namespace

QFileDialog* askForFolder(QWidget& parent, const QString& title, const std::function<void(const QString& path)>& chosen)
{
    auto* dialog = new QFileDialog(&parent, title);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    dialog->setOption(QFileDialog::ShowDirsOnly);
    QObject::connect(dialog, &QFileDialog::fileSelected, &parent,
        [dialog, chosen](const QString& path) { chosen(folderIn(*dialog, path)); });
    dialog->open();
    return dialog;
}

} // namespace nanscope
