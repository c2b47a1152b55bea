// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Files that a user asks for: where they go, how they are called, and what is said when they cannot be written.
#pragma once

#include <functional>

#include <QString>
#include <QStringList>

#include "core/base/result.h"

class QFileDialog;
class QWidget;

namespace nanscope {

struct Picture;
struct TextTable;

/// In the form that the ending says. What is there already stays whole until all of the new is written.
Result<void> savePicture(const Picture& picture, const QString& title, const QString& path);
Result<void> saveTable(const TextTable& table, const QString& path);

struct FileQuestion
{
    QString title;
    QString stem; ///< of the suggested name
    QStringList kinds; ///< "PNG picture (*.png)", one ending each
    std::function<Result<void>(const QString& path)> write;
    /// In its place where that takes a while: comes back at once, and hands `done` what was written in a few words.
    std::function<void(const QString& path, const std::function<void(const Result<QString>&)>& done)> start = {};
};

/// Asks in the folder of the last file, writes, and says where it is, or in a sentence what went wrong. Gone with
/// `parent`.
QFileDialog* askAndSave(QWidget& parent, const FileQuestion& question);

QStringList pictureKinds();
QStringList tableKinds();

/// "rank0_step5-film-strip": without what file systems dislike.
QString fileStem(const QStringList& parts);

/// Of the last file; nothing before the first.
QString saveFolder();
void setSaveFolder(const QString& folder);

} // namespace nanscope
