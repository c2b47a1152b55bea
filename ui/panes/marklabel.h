// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace nanscope {

/// Mark of a capture's role beside a headline.
class MarkLabel : public QWidget
{
    Q_OBJECT

public:
    explicit MarkLabel(QWidget* parent = nullptr);
    void setRole(int role);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int m_role = -1;
};

} // namespace nanscope
