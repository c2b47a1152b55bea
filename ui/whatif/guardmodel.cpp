// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/whatif/guardmodel.h"

#include <algorithm>
#include <utility>

#include "core/diagnose/whatif/whatifwords.h"
#include "ui/shared/marks.h"
#include "ui/shared/roles.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

const QString nothing = QStringLiteral("–");

StatusMark markOf(const diagnose::GuardOutcome& outcome)
{
    switch (outcome.consequence) {
    case diagnose::Consequence::none:
        return StatusMark::good;
    case diagnose::Consequence::drift:
    case diagnose::Consequence::torn:
        return StatusMark::bad;
    case diagnose::Consequence::unknown:
        break;
    }
    return StatusMark::unknown;
}

QString scopeTip(int column)
{
    const auto scopes = diagnose::guardScopes();
    const auto place = static_cast<std::size_t>(column - GuardModel::local);
    return place < scopes.size() ? sentenceCase(qstr(scopes[place].text)) : QString();
}

} // namespace

void GuardModel::setWhatIf(diagnose::GuardWhatIf whatIf)
{
    beginResetModel();
    m_whatIf = std::move(whatIf);
    m_rows.clear();
    for (std::size_t i = 0; i < m_whatIf.steps.size(); ++i) {
        const diagnose::GuardStep& step = m_whatIf.steps[i];
        if (!diagnose::isCause(step)) {
            continue;
        }
        const std::size_t begin = m_rows.size();
        for (const diagnose::GuardOutcome& outcome : step.outcomes) {
            if (m_rows.size() == begin || m_rows.back().layout != outcome.layout) {
                m_rows.push_back({i, outcome.layout});
            }
            m_rows.back().outcomes[static_cast<std::size_t>(outcome.scope)] = &outcome;
        }
        if (m_rows.size() == begin) {
            m_rows.push_back({i});
        }
    }
    endResetModel();
}

const GuardModel::Row* GuardModel::rowAt(int row) const
{
    return row >= 0 && row < rowCount() ? &m_rows[static_cast<std::size_t>(row)] : nullptr;
}

const diagnose::GuardStep* GuardModel::stepAt(int row) const
{
    const Row* found = rowAt(row);
    return found ? &m_whatIf.steps[found->step] : nullptr;
}

int GuardModel::causes() const
{
    return static_cast<int>(std::ranges::count_if(m_whatIf.steps, diagnose::isCause));
}

int GuardModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int GuardModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : NUM_COLUMNS;
}

QString GuardModel::text(const Row& row, int column) const
{
    const diagnose::GuardStep& step = m_whatIf.steps[row.step];
    if (column == update) {
        return qstr(diagnose::guardStepTitle(step));
    }
    if (column == layout) {
        return row.layout ? qstr(probe::name(*row.layout)) : tr("ruled out");
    }
    if (column == stack) {
        const auto any =
            std::ranges::find_if(row.outcomes, [](const diagnose::GuardOutcome* outcome) { return outcome; });
        return any == row.outcomes.end() ? nothing : qstr((*any)->stack);
    }
    const diagnose::GuardOutcome* outcome = row.outcomes[static_cast<std::size_t>(column - local)];
    return outcome ? qstr(diagnose::guardOutcome(step, *outcome)) : nothing;
}

QString GuardModel::tip(const Row& row, int column) const
{
    if (column >= local) {
        return text(row, column);
    }
    if (column != layout || !row.layout) {
        return column == stack ? tr("The stack of results that the guard looks at") : text(row, column);
    }
    const auto found = std::ranges::find(m_whatIf.layouts, *row.layout, &diagnose::GuardLayout::layout);
    return found == m_whatIf.layouts.end()
        ? QString()
        : tr("%1. The guard sees %2").arg(sentenceCase(qstr(found->why)), text(row, stack));
}

QVariant GuardModel::data(const QModelIndex& index, int role) const
{
    const Row* row = index.isValid() ? rowAt(index.row()) : nullptr;
    if (!row) {
        return {};
    }
    switch (role) {
    case Qt::DisplayRole:
        return text(*row, index.column());
    case Qt::ToolTipRole:
        return plainTip(tip(*row, index.column()));
    case StatusRole: {
        const diagnose::GuardOutcome* outcome =
            index.column() >= local ? row->outcomes[static_cast<std::size_t>(index.column() - local)] : nullptr;
        return outcome ? QVariant(static_cast<int>(markOf(*outcome))) : QVariant();
    }
    default:
        return {};
    }
}

QVariant GuardModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::ToolTipRole) {
        return section >= local ? scopeTip(section) : QString();
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case update:
        return tr("Update");
    case layout:
        return tr("Layout");
    case stack:
        return tr("Guard sees");
    case local:
        return tr("Local guard");
    case group:
        return tr("Group guard");
    default:
        return tr("Full guard");
    }
}

} // namespace nanscope
