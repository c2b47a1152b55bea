// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/findings/advisorylines.h"

#include <algorithm>
#include <functional>

#include <QUrl>

#include "ui/shared/followlink.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

constexpr std::size_t mostAdvisoryLines = 4;

QString statusWord(AdvisoryStatus status)
{
    switch (status) {
    case AdvisoryStatus::confirmed:
        return AdvisoryLines::tr("confirmed");
    case AdvisoryStatus::fixed:
        return AdvisoryLines::tr("fixed since");
    default:
        return AdvisoryLines::tr("suspected");
    }
}

QString reach(const AdvisoryMatch& advisory)
{
    const QString matched = qstr(advisory.matched).toHtmlEscaped();
    if (advisory.certain) {
        return AdvisoryLines::tr("matches %1").arg(matched);
    }
    const QString missing = windowText(advisory.missing).toHtmlEscaped();
    return matched.isEmpty() ? AdvisoryLines::tr("cannot tell without %1").arg(missing)
                             : AdvisoryLines::tr("matches %1; cannot tell without %2").arg(matched, missing);
}

// Links come from a file that anybody may extend.
QString linkHtml(const AdvisoryMatch& advisory)
{
    const QString link = qstr(advisory.link);
    return link.startsWith(QLatin1String("https://"))
        ? QStringLiteral(" <a href=\"%1\" style='color:%2'>%3</a>")
              .arg(link.toHtmlEscaped(), theme().accent.name(), AdvisoryLines::tr("Read more"))
        : QString();
}

QString lineHtml(const AdvisoryMatch& advisory)
{
    return QStringLiteral("<b>%1</b> (%2) · %3%4")
        .arg(qstr(advisory.title).toHtmlEscaped(), statusWord(advisory.status), reach(advisory), linkHtml(advisory));
}

} // namespace

AdvisoryLines::AdvisoryLines(QWidget* parent)
    : QLabel(parent)
{
    setTextFormat(Qt::RichText);
    setWordWrap(true);
    setTextInteractionFlags(Qt::TextBrowserInteraction);
    setContentsMargins(grid(3), 0, grid(3), grid(2));
    setAccessibleName(tr("Advisories"));
    connect(this, &QLabel::linkActivated, this, [this](const QString& link) { askToFollow(QUrl(link), this); });
    hide();
    onThemeChange(*this, [this] { showLines(); });
}

void AdvisoryLines::setAdvisories(const std::vector<AdvisoryMatch>& advisories)
{
    m_advisories = advisories;
    std::ranges::stable_sort(m_advisories, std::greater {}, &AdvisoryMatch::certain);
    showLines();
}

void AdvisoryLines::showLines()
{
    QStringList lines;
    QStringList tips;
    for (const AdvisoryMatch& advisory : m_advisories) {
        if (static_cast<std::size_t>(lines.size()) < mostAdvisoryLines) {
            lines << lineHtml(advisory);
        }
        tips << qstr(advisory.text).toHtmlEscaped();
    }
    const auto more = m_advisories.size() - static_cast<std::size_t>(lines.size());
    if (more > 0) {
        lines << tr("and %1 more in the report").arg(more);
    }
    setVisible(!lines.isEmpty());
    setText(lines.isEmpty()
            ? QString()
            : QStringLiteral("<span style='color:%1'>%2</span><br>%3")
                  .arg(theme().muted.name(), tr("Published problems of these packages; no evidence for this run"),
                      lines.join(QLatin1String("<br>"))));
    setToolTip(QStringLiteral("<p>%1</p>").arg(tips.join(QLatin1String("</p><p>"))));
}

} // namespace nanscope
