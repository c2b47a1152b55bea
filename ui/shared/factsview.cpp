// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/factsview.h"

#include <algorithm>

#include <QUrl>

#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

QString titleHtml(const QString& title)
{
    return QStringLiteral("<p style='margin:4px 2px'><b>%1</b></p>").arg(title.toHtmlEscaped());
}

} // namespace

FactsView::FactsView(const QString& name, QWidget* parent)
    : QTextBrowser(parent)
{
    setAccessibleName(name);
    setOpenLinks(false);
    setFrameShape(QFrame::NoFrame);
    document()->setDocumentMargin(grid(2));
    connect(this, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
        bool isNumber = false;
        const std::size_t number = link.toString().toUInt(&isNumber);
        if (isNumber && number < m_links.size()) {
            Q_EMIT factActivated(*m_links[number]);
        }
    });
    onThemeChange(*this, [this] { fill(); });
}

void FactsView::setFacts(const QString& heading, std::vector<FactSection> sections, const std::string& onlyLog)
{
    m_onlyLog = qstr(onlyLog);
    m_heading = heading;
    m_sections = std::move(sections);
    fill();
}

/// A link by its number: what a file says never becomes an address.
QString FactsView::linkHtml(const diagnose::AnswerFact& fact, std::size_t number) const
{
    const auto [file, line] = placeOfSource(fact.source);
    // Without a space, so that the two words stay together.
    const QString words = line > 0 && file == m_onlyLog ? tr("line\u00a0%1").arg(line) : qstr(fact.source);
    return QStringLiteral(" <a style='color:%1' href='%2'>%3</a>")
        .arg(theme().accent.name())
        .arg(number)
        .arg(words.toHtmlEscaped());
}

/// All sentences begin at the same place, whichever table they are in.
int FactsView::widthOfLabels() const
{
    int width = 0;
    for (const FactSection& section : m_sections) {
        for (const diagnose::AnswerFact& fact : section.facts) {
            width = std::max(width, fontMetrics().horizontalAdvance(qstr(fact.label)));
        }
    }
    return width + grid(2);
}

void FactsView::fill()
{
    m_links.clear();
    const int labels = widthOfLabels();
    QString text = m_heading.isEmpty() ? QString() : titleHtml(m_heading);
    for (const FactSection& section : m_sections) {
        text += section.title.isEmpty() ? QString() : titleHtml(section.title);
        QString rows;
        for (const diagnose::AnswerFact& fact : section.facts) {
            QString sentence = htmlText(fact.text);
            if (!fact.source.empty()) {
                sentence += linkHtml(fact, m_links.size());
                m_links.push_back(&fact);
            }
            rows += QStringLiteral("<tr><td width='%1' style='color:%2'>%3</td><td>%4</td></tr>")
                        .arg(labels)
                        .arg(theme().muted.name(), htmlText(fact.label), sentence + htmlText(fact.tail));
        }
        text += QStringLiteral("<table cellspacing='0' cellpadding='2'>%1</table>").arg(rows);
    }
    setHtml(text);
}

QString factsText(const QString& heading, const std::vector<FactSection>& sections)
{
    QString text = heading + QLatin1Char('\n');
    for (const FactSection& section : sections) {
        text += section.title.isEmpty() ? QString() : QLatin1Char('\n') + section.title + QLatin1Char('\n');
        for (const diagnose::AnswerFact& fact : section.facts) {
            const QString source = fact.source.empty() ? QString() : QStringLiteral(" [%1]").arg(qstr(fact.source));
            const QString label = fact.label.empty() ? QString() : qstr(fact.label) + QStringLiteral(": ");
            text += QStringLiteral("  ") + label + qstr(fact.text) + source + qstr(fact.tail) + QLatin1Char('\n');
        }
    }
    return text;
}

std::pair<QString, qint64> placeOfSource(const std::string& source)
{
    const QString text = qstr(source);
    const qsizetype colon = text.lastIndexOf(QLatin1Char(':'));
    bool isNumber = false;
    const qint64 line = colon > 0 ? text.mid(colon + 1).toLongLong(&isNumber) : 0;
    return isNumber && line > 0 ? std::pair(text.left(colon), line) : std::pair(text, qint64 {0});
}

} // namespace nanscope
