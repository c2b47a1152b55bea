// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/findings/findingmodel.h"

#include <algorithm>

#include "ui/shared/marks.h"
#include "ui/shared/roles.h"
#include "ui/shared/text.h"

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

QString text(const Finding& finding, int column)
{
    switch (column) {
    case FindingModel::title:
        return qstr(finding.title);
    case FindingModel::id:
        return qstr(finding.id);
    case FindingModel::step:
        return orDash(finding.step);
    case FindingModel::rank:
        return orDash(finding.rank);
    default:
        return finding.state == FindingState::fired ? qstr(finding.confidence) : findingStateWord(finding.state);
    }
}

QString copyText(const Finding& finding, int column)
{
    const bool unknown =
        (column == FindingModel::step && !finding.step) || (column == FindingModel::rank && !finding.rank);
    return unknown ? QString() : text(finding, column);
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

void FindingModel::setFindings(std::vector<Finding> findings)
{
    beginResetModel();
    m_all = std::move(findings);
    std::ranges::stable_sort(m_all, {}, weightOf);
    choose();
    endResetModel();
}

void FindingModel::setShown(std::set<FindingState> states)
{
    beginResetModel();
    m_shown = std::move(states);
    choose();
    endResetModel();
}

void FindingModel::choose()
{
    m_rows.clear();
    for (std::size_t i = 0; i < m_all.size(); ++i) {
        if (m_shown.contains(m_all[i].state)) {
            m_rows.push_back(i);
        }
    }
}

int FindingModel::count(FindingState state) const
{
    return static_cast<int>(std::ranges::count(m_all, state, &Finding::state));
}

const Finding* FindingModel::findingAt(int row) const
{
    return row >= 0 && row < rowCount() ? &m_all[m_rows[static_cast<std::size_t>(row)]] : nullptr;
}

int FindingModel::rowOf(const QString& id) const
{
    for (int row = 0; row < rowCount(); ++row) {
        if (qstr(findingAt(row)->id) == id) {
            return row;
        }
    }
    return -1;
}

int FindingModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int FindingModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : NUM_COLUMNS;
}

QVariant FindingModel::data(const QModelIndex& index, int role) const
{
    const Finding* finding = index.isValid() ? findingAt(index.row()) : nullptr;
    if (!finding) {
        return {};
    }
    switch (role) {
    case Qt::DisplayRole:
        return text(*finding, index.column());
    case CopyRole:
        return copyText(*finding, index.column());
    case Qt::ToolTipRole:
        return plainTip(qstr(finding->reason.empty() ? finding->title : finding->reason));
    case StatusRole:
        return index.column() == title ? QVariant(static_cast<int>(markOf(*finding))) : QVariant();
    case Qt::AccessibleTextRole:
        return index.column() == title
            ? tr("%1, %2: %3").arg(findingStateWord(finding->state), qstr(finding->severity), qstr(finding->title))
            : QVariant();
    default:
        return {};
    }
}

QVariant FindingModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case title:
        return tr("Finding");
    case id:
        return tr("Card");
    case step:
        return tr("Step");
    case rank:
        return tr("Rank");
    default:
        return tr("Confidence");
    }
}

} // namespace nanscope
