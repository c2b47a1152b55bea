// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QTextBrowser>

#include "core/model/model.h"

namespace nanscope {

/// Lines that speak for or against something, each with its source.
class EvidenceList : public QTextBrowser
{
    Q_OBJECT

public:
    explicit EvidenceList(QWidget* parent = nullptr);

    /// Hidden where there are none.
    void setLines(const std::vector<EvidenceLine>& lines);
    /// All of it, at this width.
    int heightOfAll(int width) const;
};

} // namespace nanscope
