// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QLabel>

#include "core/model/finding.h"
#include "core/model/model.h"

namespace nanscope {

/// Published problems that may concern the run, a line each: what matches, or what would have to be known. They are no
/// evidence, so they stand apart from the findings. Hidden where there are none.
class AdvisoryLines : public QLabel
{
    Q_OBJECT

public:
    explicit AdvisoryLines(QWidget* parent = nullptr);

    void setAdvisories(const std::vector<AdvisoryMatch>& advisories);

private:
    void showLines();

    std::vector<AdvisoryMatch> m_advisories;
};

} // namespace nanscope
