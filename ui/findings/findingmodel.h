// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <set>
#include <vector>

#include "core/model/finding.h"
#include "core/model/model.h"
#include "ui/shared/rowmodel.h"

namespace nanscope {

/// The finding cards of a run, those of the chosen states; what fired comes first, the gravest on top.
class FindingModel : public RowModel<Finding>
{
    Q_OBJECT

public:
    enum Column { title, id, step, rank, confidence };

    explicit FindingModel(QObject* parent = nullptr);

    void setFindings(std::vector<Finding> findings);
    void setShown(std::set<FindingState> states);
    int count(FindingState state) const;
    int rowOf(const QString& id) const;

private:
    void choose();

    std::vector<Finding> m_all;
    std::set<FindingState> m_shown {FindingState::fired};
};

QString findingStateWord(FindingState state);

} // namespace nanscope
