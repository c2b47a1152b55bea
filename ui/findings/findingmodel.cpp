// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/findings/findingmodel.h"

#include <algorithm>
#include <iterator>

namespace nanscope {

namespace {

int weightOf(const Finding& finding)
{
    const int severity = finding.severity == "error" ? 0 : finding.severity == "warning" ? 1 : 2;
    return static_cast<int>(finding.state) * 3 + severity;
}

StatusMark markOf(const Finding& finding)
{
    switch (finding.state) {
    case FindingState::fired:
        return finding.severity == "error"  ? StatusMark::bad
            : finding.severity == "warning" ? StatusMark::caution
                                            : StatusMark::none;
    case FindingState::clear:
        return StatusMark::good;
    case FindingState::notCheckable:
        return StatusMark::unknown;
    default:
        return StatusMark::none;
    }
}

template <class T>
QString orDash(const std::optional<T>& value)
{
    return value ? QString::number(*value) : QStringLiteral("–");
}

/// Another program takes a missing number for one, not a dash.
template <class T>
QString orNothing(const std::optional<T>& value)
{
    return value ? QString::number(*value) : QString();
}

QString titleOf(const Finding& finding)
{
    return qstr(finding.title);
}

QString idOf(const Finding& finding)
{
    return qstr(finding.id);
}

QString confidenceOf(const Finding& finding)
{
    return finding.state == FindingState::fired ? qstr(finding.confidence) : findingStateWord(finding.state);
}

QString reasonOf(const Finding& finding)
{
    return qstr(finding.reason.empty() ? finding.title : finding.reason);
}

QString spokenTitle(const Finding& finding)
{
    return FindingModel::tr("%1, %2: %3")
        .arg(findingStateWord(finding.state), qstr(finding.severity), titleOf(finding));
}

} // namespace

QString findingStateWord(FindingState state)
{
    switch (state) {
    case FindingState::fired:
        return FindingModel::tr("fired");
    case FindingState::clear:
        return FindingModel::tr("clear");
    case FindingState::notCheckable:
        return FindingModel::tr("not checkable");
    default:
        return FindingModel::tr("silenced");
    }
}

FindingModel::FindingModel(QObject* parent)
    : RowModel(parent)
{
    setColumns({
        {.title = tr("Finding"), .text = titleOf, .tip = reasonOf, .mark = markOf, .spoken = spokenTitle},
        {.title = tr("Pattern"), .text = idOf, .tip = reasonOf},
        {.title = tr("Step"),
            .text = [](const Finding& finding) { return orDash(finding.step); },
            .tip = reasonOf,
            .copied = [](const Finding& finding) { return orNothing(finding.step); }},
        {.title = tr("Rank"),
            .text = [](const Finding& finding) { return orDash(finding.rank); },
            .tip = reasonOf,
            .copied = [](const Finding& finding) { return orNothing(finding.rank); }},
        {.title = tr("Confidence"), .text = confidenceOf, .tip = reasonOf},
    });
}

void FindingModel::setFindings(std::vector<Finding> findings)
{
    m_all = std::move(findings);
    std::ranges::stable_sort(m_all, {}, weightOf);
    choose();
}

void FindingModel::setShown(std::set<FindingState> states)
{
    m_shown = std::move(states);
    choose();
}

void FindingModel::choose()
{
    std::vector<Finding> chosen;
    std::ranges::copy_if(
        m_all, std::back_inserter(chosen), [this](const Finding& finding) { return m_shown.contains(finding.state); });
    setRows(std::move(chosen));
}

int FindingModel::count(FindingState state) const
{
    return static_cast<int>(std::ranges::count(m_all, state, &Finding::state));
}

int FindingModel::rowOf(const QString& id) const
{
    const auto found = std::ranges::find(rows(), id, idOf);
    return found == rows().end() ? -1 : static_cast<int>(found - rows().begin());
}

} // namespace nanscope
