// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QLayout>

namespace nanscope {

/// Widgets side by side, broken into rows where the width ends. Hidden ones take no room.
class VerdictFlow : public QLayout
{
    Q_OBJECT

public:
    explicit VerdictFlow(QWidget* parent = nullptr);
    ~VerdictFlow() override;

    /// Height of the first few rows at this width.
    int heightOfRows(int width, int rows) const;
    void insertAt(int index, QWidget* widget);

    void addItem(QLayoutItem* item) override;
    int count() const override;
    QLayoutItem* itemAt(int index) const override;
    QLayoutItem* takeAt(int index) override;
    Qt::Orientations expandingDirections() const override { return {}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize minimumSize() const override;
    QSize sizeHint() const override;
    void setGeometry(const QRect& rect) override;

private:
    using Iterator = std::vector<QLayoutItem*>::const_iterator;
    struct Row
    {
        Iterator end;
        int height = 0;
    };

    void arrange(const QRect& rect) const;
    Row rowFrom(Iterator begin, int width) const;
    void placeRow(Iterator begin, const Row& row, QPoint corner, int width) const;

    std::vector<QLayoutItem*> m_items;
};

} // namespace nanscope
