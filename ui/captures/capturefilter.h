// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QRegularExpression>
#include <QSortFilterProxyModel>
#include <QString>

namespace nanscope {

class CaptureModel;

/// Sorts and filters captures. Words are joined by "and"; `rank:0`, `step:5`, `role:birth`, `shape:160`,
/// `verdict:numerics` and `file:rank0` look at one column, where `a,b` means either and, for rank and step, `2..7`,
/// `2..` and `..7` a range. `/re/` is a regular expression, `"two words"` belong together, `!` before any of them
/// excludes.
class CaptureFilter : public QSortFilterProxyModel
{
    Q_OBJECT

public:
    explicit CaptureFilter(QObject* parent = nullptr);

    void setText(const QString& text);
    /// What of the text is not understood, and searched for as it stands; empty for nothing.
    const QString& problem() const { return m_problem; }

    /// Both ends belong to it.
    struct Range
    {
        std::int64_t low = 0;
        std::int64_t high = 0;
        bool whole = false; ///< "6-7" as the list shows it: not of what lies in it in part
    };

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
    struct Term
    {
        int column = -1; ///< -1: all of them
        bool exclude = false;
        QStringList words; ///< one of them is enough
        std::vector<Range> ranges; ///< as are these
        std::optional<QRegularExpression> expression;
    };

    Term parse(const QString& word);
    void sayUnknownColumn(const QString& word);
    static void parseAlternatives(Term& term, const QString& word);
    static bool matches(const Term& term, const CaptureModel& model, int row);

    std::vector<Term> m_terms;
    QString m_problem;
};

} // namespace nanscope
