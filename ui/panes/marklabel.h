// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QWidget>

#include "core/model/model.h"

namespace nanscope {

/// Mark of a capture's role beside a headline, or of an outcome.
class MarkLabel : public QWidget
{
    Q_OBJECT

public:
    explicit MarkLabel(QWidget* parent = nullptr);
    void setRole(int role);
    void setOutcome(std::optional<Outcome> outcome);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int m_role = -1;
    std::optional<Outcome> m_outcome; ///< instead of a role
};

} // namespace nanscope
