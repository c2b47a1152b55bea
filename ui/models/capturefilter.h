// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRegularExpression>
#include <QSortFilterProxyModel>
#include <QString>

namespace nanscope {

/// Sorts and filters captures. Words are joined by "and"; `rank:0`, `step:5`, `role:birth` and `shape:160` look at one
/// column, `/re/` is a regular expression, `!` before any of them excludes.
class CaptureFilter : public QSortFilterProxyModel
{
    Q_OBJECT

public:
    explicit CaptureFilter(QObject* parent = nullptr);

    void setText(const QString& text);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    struct Term
    {
        int column = -1; ///< -1: all of them
        bool exclude = false;
        QString word;
        QRegularExpression expression;
        bool isExpression = false;
    };

    static Term parse(QString word);
    bool matches(const Term& term, int row) const;

    QList<Term> m_terms;
};

} // namespace nanscope
