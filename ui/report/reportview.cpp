// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/reportview.h"

#include <QFontDatabase>
#include <QImage>
#include <QRegularExpression>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextTable>

#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

/// At the width of the view.
QImage decodedPicture(const QByteArray& png, int width)
{
    const QImage image = QImage::fromData(png, "png");
    return image.width() > width ? image.scaledToWidth(width, Qt::SmoothTransformation) : image;
}

/// What a report folds, in an issue, is open here: a text document knows no folds, and shows no comments to whoever
/// pastes it.
QString unfolded(QString markdown)
{
    static const QRegularExpression comment(QStringLiteral("^<!-- .* -->$"), QRegularExpression::MultilineOption);
    markdown.remove(comment);
    markdown.replace(
        QStringLiteral("\n<details>\n<summary>Appendix</summary>\n"), QStringLiteral("\n---\n\n## Appendix\n"));
    return markdown.replace(QStringLiteral("\n</details>\n"), QStringLiteral("\n"));
}

/// The preview is small: a heading need not be larger than the names of the panes around it.
void tameHeadings(QTextDocument& document)
{
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        if (const int level = block.blockFormat().headingLevel(); level > 0) {
            QTextCharFormat format;
            format.setProperty(QTextFormat::FontSizeAdjustment, level == 1 ? 1 : 0);
            QTextCursor cursor(block);
            cursor.select(QTextCursor::BlockUnderCursor);
            cursor.mergeCharFormat(format);
        }
    }
}

/// A command or a table that is wider than the preview is read line by line, not by scrolling sideways.
void wrapCode(QTextDocument& document)
{
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        if (block.blockFormat().nonBreakableLines()) {
            QTextBlockFormat format;
            format.setNonBreakableLines(false);
            QTextCursor(block).mergeBlockFormat(format);
        }
    }
}

/// Without room between its cells a table of eight columns fits beside the choices.
void tightenTables(QTextDocument& document)
{
    for (QTextFrame* frame : document.rootFrame()->childFrames()) {
        if (auto* table = qobject_cast<QTextTable*>(frame)) {
            QTextTableFormat format = table->format();
            format.setCellSpacing(0);
            format.setCellPadding(2);
            format.setBorderCollapse(false);
            format.setBorder(0);
            table->setFormat(format);
        }
    }
}

} // namespace

ReportView::ReportView(QWidget* parent)
    : QTextBrowser(parent)
{
    setOpenLinks(false);
    setFrameShape(QFrame::NoFrame);
    setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    setAccessibleName(tr("Preview of the report"));
    document()->setDocumentMargin(grid(3));
}

template <class Show>
void ReportView::keepingPlace(Show show)
{
    const int place = verticalScrollBar()->value();
    show();
    verticalScrollBar()->setValue(place);
}

void ReportView::showRendered(const std::vector<report::ReportFile>& files)
{
    m_pictures.clear();
    for (std::size_t i = 1; i < files.size(); ++i) {
        m_pictures[qstr(files[i].name)] = QByteArray::fromStdString(files[i].bytes);
    }
    // One that is shown is laid out anew with every piece of text that is put into it: seconds for a long report.
    auto* rendered = new QTextDocument(this);
    rendered->setDocumentMargin(grid(3));
    rendered->setDefaultFont(font());
    rendered->setMarkdown(unfolded(qstr(files.front().bytes)),
        QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub) | QTextDocument::MarkdownNoHTML);
    tameHeadings(*rendered);
    wrapCode(*rendered);
    tightenTables(*rendered);
    keepingPlace([&] { setDocument(rendered); });
    // The one that the browser came with is its own to delete.
    delete std::exchange(m_rendered, rendered);
}

void ReportView::showSource(const std::string& text)
{
    m_pictures.clear();
    keepingPlace([&] {
        document()->setDefaultFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
        document()->setPlainText(qstr(text));
    });
}

QVariant ReportView::loadResource(int type, const QUrl& name)
{
    const auto found = m_pictures.find(name.toString());
    if (type != QTextDocument::ImageResource || found == m_pictures.end()) {
        return {};
    }
    return decodedPicture(found->second, std::max(grid(40), viewport()->width() - grid(8)));
}

} // namespace nanscope
