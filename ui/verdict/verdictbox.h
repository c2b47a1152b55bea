// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCheckBox>

namespace nanscope {

/// A check box that can be seen on every theme. With a text it is a chip.
class VerdictBox : public QCheckBox
{
    Q_OBJECT

public:
    using QCheckBox::QCheckBox;

    /// Drawn with a rim in the colour of a warning.
    void setSuspect(bool suspect);
    bool suspect() const { return m_suspect; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool hitButton(const QPoint& position) const override { return rect().contains(position); }

private:
    bool isChip() const { return !text().isEmpty(); }
    void paintRim(QPainter& painter) const;
    void paintBox(QPainter& painter, const QRectF& box) const;

    bool m_suspect = false;
};

} // namespace nanscope
