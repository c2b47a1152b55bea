// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/faulttreetable.h"

#include <algorithm>
#include <tuple>

#include <QStringList>

#include "ui/text.h"

namespace nanscope {

namespace {

QString rankText(const FaultCapture& capture)
{
    return capture.rank ? QString::number(*capture.rank) : QString();
}

QString updateText(const FaultCapture& capture)
{
    if (!capture.step) {
        return {};
    }
    const auto [after, before] = *capture.step;
    return after == before ? QString::number(after) : QStringLiteral("%1–%2").arg(after).arg(before);
}

bool sameUpdate(const FaultCapture& a, const FaultCapture& b)
{
    return a.rank == b.rank && a.step == b.step;
}

} // namespace

QString faultTable(const RunData& run, std::vector<FaultCapture> captures)
{
    const auto captureOf = [&run](
                               int index) -> const Capture& { return run.captures[static_cast<std::size_t>(index)]; };
    std::ranges::stable_sort(captures, {}, [&](const FaultCapture& each) {
        const Capture& capture = captureOf(each.index);
        return std::tuple(each.rank, !each.step, each.step, capture.timestampMs, std::string_view(capture.file));
    });
    QStringList lines {QStringLiteral("rank\tupdate\tcall\trole\tfile\tcaused_by")};
    int call = 0;
    for (std::size_t i = 0; i < captures.size(); ++i) {
        const FaultCapture& shown = captures[i];
        call = i > 0 && sameUpdate(captures[i - 1], shown) ? call + 1 : 1;
        const QStringList cells {rankText(shown), updateText(shown), QString::number(call), qstr(name(shown.role)),
            qstr(captureOf(shown.index).file), shown.cause < 0 ? QString() : qstr(captureOf(shown.cause).file)};
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace nanscope
