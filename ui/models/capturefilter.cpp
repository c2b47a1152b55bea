// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/capturefilter.h"

#include <algorithm>
#include <utility>

#include "ui/models/capturemodel.h"
#include "ui/models/roles.h"

namespace nanscope {

CaptureFilter::CaptureFilter(QObject* parent)
    : QSortFilterProxyModel(parent)
{
    setSortRole(SortRole);
}

void CaptureFilter::setText(const QString& text)
{
    m_terms.clear();
    for (const QString& word : text.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
        if (const Term term = parse(word); !term.word.isEmpty()) {
            m_terms << term;
        }
    }
    invalidateFilter();
}

CaptureFilter::Term CaptureFilter::parse(QString word)
{
    Term term;
    if (word.startsWith(QLatin1Char('!'))) {
        term.exclude = true;
        word.remove(0, 1);
    }
    constexpr std::pair<const char*, int> columns[] = {{"role:", CaptureModel::RoleColumn},
        {"rank:", CaptureModel::RankColumn}, {"step:", CaptureModel::StepColumn}, {"shape:", CaptureModel::ShapeColumn},
        {"verdict:", CaptureModel::VerdictColumn}};
    for (const auto& [prefix, column] : columns) {
        if (word.startsWith(QLatin1String(prefix), Qt::CaseInsensitive)) {
            term.column = column;
            word.remove(0, QLatin1String(prefix).size());
        }
    }
    if (word.size() > 2 && word.startsWith(QLatin1Char('/')) && word.endsWith(QLatin1Char('/'))) {
        term.expression = QRegularExpression(word.mid(1, word.size() - 2), QRegularExpression::CaseInsensitiveOption);
        term.isExpression = term.expression.isValid();
    }
    term.word = word;
    return term;
}

bool CaptureFilter::matches(const Term& term, int row) const
{
    const QModelIndex index = sourceModel()->index(row, std::max(term.column, 0));
    const QString text = index.data(term.column < 0 ? int(FilterTextRole) : int(Qt::DisplayRole)).toString();
    if (term.isExpression) {
        return text.contains(term.expression);
    }
    // "rank:1" must not find rank 10.
    if (term.column == CaptureModel::RankColumn) {
        return text == term.word;
    }
    QString word = term.word;
    if (term.column == CaptureModel::ShapeColumn) {
        word.replace(QLatin1Char('x'), QChar(0x00d7));
    }
    return text.contains(word, Qt::CaseInsensitive);
}

bool CaptureFilter::filterAcceptsRow(int row, const QModelIndex& parent) const
{
    Q_UNUSED(parent)
    return std::ranges::all_of(m_terms, [&](const Term& term) { return matches(term, row) != term.exclude; });
}

} // namespace nanscope
