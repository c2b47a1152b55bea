// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/verdict/evidencelist.h"

#include <QScrollBar>

#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

/// What the command line names by its option, the user has said here.
QString sourceText(const EvidenceLine& line)
{
    return line.source.starts_with("--") ? EvidenceList::tr("you") : qstr(line.source);
}

QString rowHtml(const EvidenceLine& line)
{
    return QStringLiteral("<tr><td style='padding:1px 16px 1px 0; color:%1; white-space:nowrap'>%2</td><td "
                          "style='padding:1px 0'>%3</td></tr>")
        .arg(theme().muted.name(), sourceText(line).toHtmlEscaped(), qstr(line.text).toHtmlEscaped());
}

QString tableHtml(const std::vector<EvidenceLine>& lines)
{
    QString rows;
    for (const EvidenceLine& line : lines) {
        rows += rowHtml(line);
    }
    return lines.empty() ? QString() : QStringLiteral("<table cellspacing='0'>%1</table>").arg(rows);
}

} // namespace

EvidenceList::EvidenceList(QWidget* parent)
    : QTextBrowser(parent)
{
    setFrameShape(QFrame::NoFrame);
    setAccessibleName(tr("Evidence"));
    setOpenLinks(false);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    document()->setDocumentMargin(2);
    viewport()->setAutoFillBackground(false);
}

void EvidenceList::setLines(const std::vector<EvidenceLine>& lines)
{
    setHtml(tableHtml(lines));
    setVisible(!lines.empty());
    verticalScrollBar()->setValue(0);
}

int EvidenceList::heightOfAll(int width) const
{
    document()->setTextWidth(width);
    return static_cast<int>(document()->size().height()) + 2;
}

} // namespace nanscope
