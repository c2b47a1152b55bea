// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHeaderView>

namespace nanscope {

/// Names of variants beside a grid: bold for those that may have run, shortened in the middle where they are long.
class VariantHeader : public QHeaderView
{
    Q_OBJECT

public:
    explicit VariantHeader(QWidget* parent = nullptr);

    QSize sizeHint() const override;

protected:
    void paintSection(QPainter* painter, const QRect& rect, int section) const override;
};

} // namespace nanscope
