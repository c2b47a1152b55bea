// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/saving.h"

#include <span>

#include <QCoreApplication>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMainWindow>
#include <QMessageBox>
#include <QPointer>
#include <QRegularExpression>
#include <QStatusBar>

#include "core/base/try.h"
#include "core/platform/platform.h"
#include "ui/shared/copying.h"
#include "ui/shared/picture.h"
#include "ui/shared/table/tablefile.h"
#include "ui/shared/table/texttable.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

struct SavingWords
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::Saving)
};

QString& folder()
{
    static QString last;
    return last;
}

QString endingOf(const QString& path)
{
    return QFileInfo(path).suffix().toLower();
}

/// "png" of "PNG picture (*.png)".
QString endingOfKind(const QString& kind)
{
    static const QRegularExpression pattern(QStringLiteral("\\*\\.(\\w+)"));
    return pattern.match(kind).captured(1);
}

Result<void> saveBytes(const QByteArray& bytes, const QString& path)
{
    TRY(checkFolderOf(path));
    return platform::writeFileAtomically(path.toStdString(), std::as_bytes(std::span(bytes.data(), bytes.size())));
}

/// A name that keeps the ending of the kind before would be written in that.
void followKind(QFileDialog& dialog, const QString& kind)
{
    const QString ending = endingOfKind(kind);
    dialog.setDefaultSuffix(ending);
    const QStringList chosen = dialog.selectedFiles();
    if (!chosen.isEmpty() && !QFileInfo(chosen.front()).isDir()) {
        dialog.selectFile(QFileInfo(chosen.front()).completeBaseName() + QLatin1Char('.') + ending);
    }
}

/// Says for a few seconds in the status bar of the window around `widget` what was done, where that has one.
void sayDone(const QWidget& widget, const QString& sentence)
{
    constexpr int shownFor = 8000; // ms
    const QMainWindow* outermost = nullptr;
    for (const QWidget* each = &widget; each != nullptr; each = each->parentWidget()) {
        const auto* window = qobject_cast<const QMainWindow*>(each);
        outermost = window != nullptr ? window : outermost;
    }
    // Asked for by its class: QMainWindow::statusBar() makes one where there is none.
    if (auto* bar =
            outermost != nullptr ? outermost->findChild<QStatusBar*>(QString(), Qt::FindDirectChildrenOnly) : nullptr) {
        bar->showMessage(sentence, shownFor);
    }
}

void sayWritten(QWidget& parent, const QString& title, const QString& path, const Result<QString>& written)
{
    if (!written) {
        auto* box = new QMessageBox(
            QMessageBox::Warning, title, qstr(sentence(written.error())), QMessageBox::Ok, parent.window());
        box->setTextFormat(Qt::PlainText);
        box->setAttribute(Qt::WA_DeleteOnClose);
        box->open();
        return;
    }
    const QString saved = SavingWords::tr("Saved: %1").arg(shortPath(path));
    sayDone(parent, written->isEmpty() ? saved : SavingWords::tr("%1 (%2)").arg(saved, *written));
}

void write(QWidget& parent, const FileQuestion& question, const QString& path)
{
    setSaveFolder(QFileInfo(path).absolutePath());
    const auto done = [asker = QPointer(&parent), title = question.title, path](const Result<QString>& written) {
        if (asker) {
            sayWritten(*asker, title, path, written);
        }
    };
    if (question.start) {
        sayDone(parent, SavingWords::tr("Saving: %1…").arg(shortPath(path)));
        question.start(path, done);
    } else {
        done(question.write(path).map([] { return QString(); }));
    }
}

} // namespace

Result<void> savePicture(const Picture& picture, const QString& title, const QString& path)
{
    const auto bytes = encoded(picture, title, endingOf(path));
    if (!bytes) {
        return failure(bytes.error().kind, bytes.error().what, path.toStdString());
    }
    return saveBytes(*bytes, path);
}

Result<void> saveTable(const TextTable& table, const QString& path)
{
    auto file = TRY(TableFile::create(path, table.columns));
    for (const QStringList& row : table.rows) {
        TRY(file.add(row));
    }
    return file.commit();
}

QFileDialog* askAndSave(QWidget& parent, const FileQuestion& question)
{
    auto* dialog = new QFileDialog(&parent, question.title, saveFolder());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters(question.kinds);
    dialog->selectFile(question.stem + QLatin1Char('.') + endingOfKind(question.kinds.front()));
    dialog->setDefaultSuffix(endingOfKind(question.kinds.front()));
    QObject::connect(
        dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString& kind) { followKind(*dialog, kind); });
    QObject::connect(dialog, &QFileDialog::fileSelected, &parent,
        [&parent, question](const QString& path) { write(parent, question, path); });
    dialog->open();
    return dialog;
}

QStringList pictureKinds()
{
    QStringList kinds;
    for (const QString& ending : pictureEndings()) {
        kinds << SavingWords::tr("%1 picture (*.%2)").arg(ending.toUpper(), ending);
    }
    return kinds;
}

QStringList tableKinds()
{
    return {SavingWords::tr("Commas between (*.csv)"), SavingWords::tr("Tabs between (*.tsv)"),
        SavingWords::tr("JSON (*.json)")};
}

QString fileStem(const QStringList& parts)
{
    static const QRegularExpression disliked(QStringLiteral("[^\\w.+=-]+"));
    static const QRegularExpression ends(QStringLiteral("^[-.]+|-+$"));
    constexpr int longest = 120;
    QStringList clean;
    for (QString part : parts) {
        part = part.replace(disliked, QStringLiteral("-")).remove(ends).left(longest);
        if (!part.isEmpty()) {
            clean << part;
        }
    }
    return clean.join(QLatin1Char('-'));
}

QString saveFolder()
{
    return folder();
}

void setSaveFolder(const QString& path)
{
    folder() = path;
}

} // namespace nanscope
