// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "ui/panes/faulttreetable.h"
#include "ui/panes/faulttreeview.h"
#include "ui/text.h"

namespace nanscope {

namespace {

std::size_t at(int index)
{
    return static_cast<std::size_t>(index);
}

} // namespace

QString FaultTreeView::keysTitle() const
{
    return tr("Fault tree");
}

std::vector<KeyHint> FaultTreeView::keyHints() const
{
    return {{{Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down}, tr("the next capture in that direction"), {}},
        {{Qt::Key_Home, Qt::Key_End}, tr("the first and the last"), {}},
        {{Qt::Key_PageUp, Qt::Key_PageDown}, tr("scroll by a page"), {}},
        {{Qt::Key_Return, Qt::Key_Enter, Qt::Key_Space}, tr("select it, again for the next one at the same place"), {}},
        {{}, tr("select a capture, again for the next one at the same place"), tr("click")}};
}

QString FaultTreeView::emptySentence() const
{
    if (!m_run) {
        return tr("Open a run to see which capture follows from which");
    }
    if (m_run->captures.empty()) {
        return tr("This run holds no captures, so there is nothing to trace back");
    }
    return tr("The captures are not sorted into births and descendants yet");
}

QString FaultTreeView::laneLabel(const FaultLane& lane) const
{
    if (!lane.first) {
        return tr("no rank");
    }
    return lane.ranks == 1 ? tr("rank %1").arg(*lane.first)
                           : tr("ranks %1–%2 (%3)").arg(*lane.first).arg(*lane.last).arg(lane.ranks);
}

QString FaultTreeView::stepText(const FaultColumn& column) const
{
    if (!column.step) {
        return QStringLiteral("?");
    }
    const auto [after, before] = *column.step;
    return after == before ? QString::number(after) : QStringLiteral("%1–%2").arg(after).arg(before);
}

QString FaultTreeView::captureText(int capture) const
{
    const Capture& shown = m_run->captures[at(capture)];
    const auto verdict = std::ranges::find_if(m_diagnosis->captures, [&](const CaptureVerdict& v) {
        return v.captureId != 0 && shown.id != 0 ? v.captureId == shown.id : v.capture == shown.file;
    });
    QString text = QStringLiteral("<b>%1</b>").arg(qstr(shown.file).toHtmlEscaped());
    if (verdict != m_diagnosis->captures.end()) {
        text += QStringLiteral("<br>%1<br>%2")
                    .arg(placeSentence(shown, *verdict).toHtmlEscaped(),
                        sentenceCase(qstr(verdict->summary)).toHtmlEscaped());
    }
    return text;
}

QString FaultTreeView::table() const
{
    return m_run ? faultTable(*m_run, m_captures) : QString();
}

QString FaultTreeView::describe(int node) const
{
    const FaultNode& shown = m_tree.nodes[at(node)];
    const FaultColumn& column = m_tree.columns[at(shown.column)];
    const QString step = column.step ? tr("update %1").arg(stepText(column)) : tr("step not recorded");
    const auto count = static_cast<int>(shown.captures.size());
    const QString place = tr("%1, %2: %3").arg(laneLabel(m_tree.lanes[at(shown.lane)]), step, roleWord(shown.role));
    return count == 1 ? place : tr("%1, %2 captures").arg(place).arg(count);
}

QString FaultTreeView::toolTipOf(int node) const
{
    constexpr std::size_t mostFiles = 3;
    const std::vector<int>& captures = m_tree.nodes[at(node)].captures;
    QStringList parts;
    if (captures.size() > 1) {
        parts << describe(node).toHtmlEscaped();
    }
    for (std::size_t i = 0; i < std::min(captures.size(), mostFiles); ++i) {
        parts << captureText(captures[i]);
    }
    if (captures.size() > mostFiles) {
        parts << tr("and %1 more; click again for the next").arg(captures.size() - mostFiles);
    }
    return QStringLiteral("<qt>%1</qt>").arg(parts.join(QStringLiteral("<br>")));
}

} // namespace nanscope
