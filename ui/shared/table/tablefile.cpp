// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/table/tablefile.h"

#include <span>
#include <utility>

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>

#include "core/base/try.h"
#include "ui/shared/table/texttable.h"

namespace nanscope {

namespace {

struct TableFileWords
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::TableFile)
};

} // namespace

Result<void> checkFolderOf(const QString& path)
{
    if (!QFileInfo(path).dir().exists()) {
        return failure(ErrorKind::io,
            TableFileWords::tr("The folder of the file is not there; choose another one").toStdString(),
            path.toStdString());
    }
    return {};
}

Result<TableFile::Form> TableFile::formOf(const QString& path)
{
    const QString ending = QFileInfo(path).suffix().toLower();
    if (ending == QStringLiteral("csv")) {
        return Form::csv;
    }
    if (ending == QStringLiteral("tsv")) {
        return Form::tsv;
    }
    if (ending == QStringLiteral("json")) {
        return Form::json;
    }
    return failure(ErrorKind::usage,
        TableFileWords::tr("A table's name has to end in .csv, .tsv or .json").toStdString(), path.toStdString());
}

TableFile::TableFile(Form form, platform::AtomicFile file, const QStringList& columns)
    : m_form(form)
    , m_file(std::move(file))
    , m_columns(columns)
{
    m_waiting = form == Form::json ? QByteArray("[\n") : (form == Form::csv ? csvLine : tsvLine)(columns).toUtf8();
}

Result<TableFile> TableFile::create(const QString& path, const QStringList& columns)
{
    const auto form = TRY(formOf(path));
    TRY(checkFolderOf(path));
    auto file = TRY(platform::AtomicFile::create(path.toStdString()));
    return TableFile(form, std::move(file), columns);
}

Result<void> TableFile::add(const QStringList& row)
{
    if (m_form == Form::json) {
        m_waiting += std::exchange(m_empty, false) ? "" : ",\n";
        m_waiting += jsonObject(m_columns, row).toUtf8();
    } else {
        m_waiting += (m_form == Form::csv ? csvLine : tsvLine)(row).toUtf8();
    }
    constexpr qsizetype piece = 1 << 20;
    return m_waiting.size() < piece ? Result<void> {} : flush();
}

Result<void> TableFile::flush()
{
    const QByteArray bytes = std::exchange(m_waiting, {});
    return m_file.write(std::as_bytes(std::span(bytes.data(), static_cast<std::size_t>(bytes.size()))));
}

Result<void> TableFile::commit()
{
    if (m_form == Form::json) {
        m_waiting += m_empty ? "]\n" : "\n]\n";
    }
    TRY(flush());
    return m_file.commit();
}

} // namespace nanscope
