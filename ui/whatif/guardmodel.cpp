// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/whatif/guardmodel.h"

#include <algorithm>
#include <utility>

#include "core/diagnose/whatif/whatifwords.h"

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

QString updateText(const GuardRow& row)
{
    return qstr(diagnose::guardStepTitle(*row.step));
}

QString layoutText(const GuardRow& row)
{
    return row.layout ? qstr(probe::name(*row.layout)) : GuardModel::tr("ruled out");
}

QString stackText(const GuardRow& row)
{
    const auto any = std::ranges::find_if(row.outcomes, [](const auto* outcome) { return outcome; });
    return any == row.outcomes.end() ? nothing : qstr((*any)->stack);
}

RowColumn<GuardRow> scopeColumn(const QString& title, std::size_t scope)
{
    const auto scopes = diagnose::guardScopes();
    return {.title = title,
        .text =
            [scope](const GuardRow& row) {
                const diagnose::GuardOutcome* outcome = row.outcomes[scope];
                return outcome ? qstr(diagnose::guardOutcome(*row.step, *outcome)) : nothing;
            },
        .headingTip = scope < scopes.size() ? sentenceCase(qstr(scopes[scope].text)) : QString(),
        .mark =
            [scope](const GuardRow& row) {
                const diagnose::GuardOutcome* outcome = row.outcomes[scope];
                return outcome ? std::optional(markOf(*outcome)) : std::nullopt;
            }};
}

} // namespace

GuardModel::GuardModel(QObject* parent)
    : RowModel(parent)
{
    setColumns({
        {.title = tr("Update"), .text = updateText},
        {.title = tr("Layout"), .text = layoutText, .tip = [this](const GuardRow& row) { return layoutTip(row); }},
        {.title = tr("Guard sees"),
            .text = stackText,
            .tip = [](const GuardRow&) { return tr("The stack of results that the guard looks at"); }},
        scopeColumn(tr("Local guard"), 0),
        scopeColumn(tr("Group guard"), 1),
        scopeColumn(tr("Full guard"), 2),
    });
}

QString GuardModel::layoutTip(const GuardRow& row) const
{
    if (!row.layout) {
        return layoutText(row);
    }
    const auto found = std::ranges::find(m_whatIf.layouts, *row.layout, &diagnose::GuardLayout::layout);
    return found == m_whatIf.layouts.end()
        ? QString()
        : tr("%1. The guard sees %2").arg(sentenceCase(qstr(found->why)), stackText(row));
}

void GuardModel::setWhatIf(diagnose::GuardWhatIf whatIf)
{
    setRows({});
    m_whatIf = std::move(whatIf);
    std::vector<GuardRow> rows;
    for (const diagnose::GuardStep& step : m_whatIf.steps) {
        if (!diagnose::isCause(step)) {
            continue;
        }
        const std::size_t begin = rows.size();
        for (const diagnose::GuardOutcome& outcome : step.outcomes) {
            if (rows.size() == begin || rows.back().layout != outcome.layout) {
                rows.push_back({&step, outcome.layout});
            }
            rows.back().outcomes[static_cast<std::size_t>(outcome.scope)] = &outcome;
        }
        if (rows.size() == begin) {
            rows.push_back({&step});
        }
    }
    setRows(std::move(rows));
}

const diagnose::GuardStep* GuardModel::stepAt(int row) const
{
    const GuardRow* found = rowAt(row);
    return found ? found->step : nullptr;
}

int GuardModel::causes() const
{
    return static_cast<int>(std::ranges::count_if(m_whatIf.steps, diagnose::isCause));
}

} // namespace nanscope
