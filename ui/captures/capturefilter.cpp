// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/captures/capturefilter.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "core/model/verdict.h"
#include "ui/captures/capturemodel.h"

namespace nanscope {

namespace {

constexpr std::pair<const char*, int> filterColumns[] = {{"role:", CaptureModel::RoleColumn},
    {"rank:", CaptureModel::RankColumn}, {"step:", CaptureModel::StepColumn}, {"shape:", CaptureModel::ShapeColumn},
    {"verdict:", CaptureModel::VerdictColumn}, {"file:", CaptureModel::FileColumn}};

/// Words; an expression between slashes and words between quotes may hold spaces.
QStringList split(const QString& text)
{
    static const QRegularExpression word(QStringLiteral(R"re(!?(?:[A-Za-z]+:)?(?:/[^/]+/(?=\s|$)|"[^"]*"|\S+))re"));
    QStringList words;
    for (auto match = word.globalMatch(text); match.hasNext();) {
        words << match.next().captured();
    }
    return words;
}

bool isEnclosed(const QString& word, QChar mark)
{
    return word.size() > 2 && word.startsWith(mark) && word.endsWith(mark);
}

/// The list shows dashes that no keyboard has.
QString withPlainDashes(QString text)
{
    return text.replace(QChar(0x2013), QLatin1Char('-'));
}

bool countsIn(int column)
{
    return column == CaptureModel::RankColumn || column == CaptureModel::StepColumn;
}

bool readBound(const QString& text, std::int64_t& bound)
{
    bool isNumber = false;
    const std::int64_t number = text.toLongLong(&isNumber);
    bound = isNumber ? number : bound;
    return isNumber || text.isEmpty();
}

/// "7", "2..7", "2..", "..7", and "6-7" as the list shows and copies it.
std::optional<CaptureFilter::Range> rangeOf(const QString& given)
{
    static const QRegularExpression shown(QStringLiteral("^(\\d+)[-\u2013](\\d+)$"));
    const QString text = QString(given).replace(shown, QStringLiteral("\\1..\\2"));
    const qsizetype dots = text.indexOf(QStringLiteral(".."));
    CaptureFilter::Range range {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
    range.whole = text != given;
    if (text.isEmpty() || !readBound(dots < 0 ? text : text.left(dots), range.low)) {
        return std::nullopt;
    }
    if (dots < 0) {
        range.high = range.low;
    } else if (!readBound(text.mid(dots + 2), range.high)) {
        return std::nullopt;
    }
    return range;
}

std::optional<std::pair<std::int64_t, std::int64_t>> extentOf(const CaptureModel& model, int row, int column)
{
    if (column == CaptureModel::StepColumn) {
        const CaptureVerdict* verdict = model.verdictAt(row);
        return verdict ? verdict->step : std::nullopt;
    }
    const auto rank = model.captureAt(row).rank;
    return rank ? std::optional(std::pair<std::int64_t, std::int64_t>(*rank, *rank)) : std::nullopt;
}

} // namespace

CaptureFilter::CaptureFilter(QObject* parent)
    : QSortFilterProxyModel(parent)
{ }

void CaptureFilter::setText(const QString& text)
{
    m_terms.clear();
    m_problem.clear();
    for (const QString& word : split(text)) {
        if (Term term = parse(word); !term.words.isEmpty() || !term.ranges.empty() || term.expression) {
            m_terms.push_back(std::move(term));
        }
    }
    // One new list instead of a signal per gap in the old one, which takes seconds with a hundred thousand rows.
    invalidate();
}

CaptureFilter::Term CaptureFilter::parse(const QString& text)
{
    Term term;
    QString word = text;
    if (word.startsWith(QLatin1Char('!'))) {
        term.exclude = true;
        word.remove(0, 1);
    }
    for (const auto& [prefix, column] : filterColumns) {
        if (term.column < 0 && word.startsWith(QLatin1String(prefix), Qt::CaseInsensitive)) {
            term.column = column;
            word.remove(0, QLatin1String(prefix).size());
        }
    }
    if (isEnclosed(word, QLatin1Char('/'))) {
        term.expression.emplace(word.mid(1, word.size() - 2),
            QRegularExpression::CaseInsensitiveOption | QRegularExpression::MultilineOption);
    }
    if (term.expression && term.expression->isValid()) {
        return term;
    }
    if (term.expression) {
        m_problem = tr("%1 is searched for as it stands, since it is no regular expression: %2")
                        .arg(word, term.expression->errorString());
    } else if (term.column < 0) {
        sayUnknownColumn(word);
    }
    term.expression.reset();
    if (isEnclosed(word, QLatin1Char('"'))) {
        term.words << withPlainDashes(word.mid(1, word.size() - 2).toLower());
    } else {
        parseAlternatives(term, word);
    }
    return term;
}

void CaptureFilter::sayUnknownColumn(const QString& word)
{
    static const QRegularExpression column(QStringLiteral("^[A-Za-z]+:"));
    const auto match = column.match(word);
    if (!match.hasMatch()) {
        return;
    }
    QStringList known;
    std::ranges::transform(
        filterColumns, std::back_inserter(known), [](const auto& one) { return QString::fromLatin1(one.first); });
    m_problem = tr("%1 is no column, and is searched for as it stands; columns are %2")
                    .arg(match.captured(), known.join(QLatin1Char(' ')));
}

void CaptureFilter::parseAlternatives(Term& term, const QString& word)
{
    for (const QString& part : term.column < 0 ? QStringList(word) : word.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
        // "rank:1" must not find rank 10, and step 6 lies in the update "5–6".
        if (const auto range = countsIn(term.column) ? rangeOf(part) : std::nullopt) {
            term.ranges.push_back(*range);
        } else if (term.column == CaptureModel::ShapeColumn) {
            term.words << part.toLower().replace(QLatin1Char('x'), QChar(0x00d7));
        } else if (!part.isEmpty()) {
            term.words << withPlainDashes(part.toLower());
        }
    }
}

bool CaptureFilter::matches(const Term& term, const CaptureModel& model, int row)
{
    if (!term.ranges.empty()) {
        const auto extent = extentOf(model, row, term.column);
        const bool inside = extent && std::ranges::any_of(term.ranges, [&](const Range& range) {
            return range.whole ? range.low <= extent->first && extent->second <= range.high
                               : extent->first <= range.high && extent->second >= range.low;
        });
        if (inside || term.words.isEmpty()) {
            return inside;
        }
    }
    const QString text = term.column < 0 ? model.searchText(row) : model.text(row, term.column).toLower();
    if (term.expression) {
        return term.expression->match(text).hasMatch();
    }
    const QString searched = withPlainDashes(text).replace(QLatin1Char('\n'), QLatin1Char(' '));
    return std::ranges::any_of(term.words, [&](const QString& word) { return searched.contains(word); });
}

bool CaptureFilter::filterAcceptsRow(int row, const QModelIndex& /*parent*/) const
{
    const auto& model = *static_cast<const CaptureModel*>(sourceModel());
    return std::ranges::all_of(m_terms, [&](const Term& term) { return matches(term, model, row) != term.exclude; });
}

bool CaptureFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const
{
    return static_cast<const CaptureModel*>(sourceModel())->less(left.row(), right.row(), left.column());
}

} // namespace nanscope
