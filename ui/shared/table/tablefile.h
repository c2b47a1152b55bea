// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QStringList>

#include "core/platform/platform.h"

namespace nanscope {

/// A failure where the folder of a file that is to be written is not there.
Result<void> checkFolderOf(const QString& path);

/// A table that is written row by row, in the form that the ending of its name says. What is there already stays whole
/// until commit().
class TableFile
{
public:
    static Result<TableFile> create(const QString& path, const QStringList& columns);

    Result<void> add(const QStringList& row);
    Result<void> commit();

private:
    enum class Form { csv, tsv, json };

    TableFile(Form form, platform::AtomicFile file, const QStringList& columns);
    static Result<Form> formOf(const QString& path);
    Result<void> flush();

    Form m_form;
    platform::AtomicFile m_file;
    QStringList m_columns;
    QByteArray m_waiting; ///< to be written in larger pieces
    bool m_empty = true;
};

} // namespace nanscope
