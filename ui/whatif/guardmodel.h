// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <optional>

#include "core/diagnose/whatif/guardwhatif.h"
#include "ui/shared/rowmodel.h"

namespace nanscope {

/// Points into the answer.
struct GuardRow
{
    const diagnose::GuardStep* step = nullptr;
    std::optional<probe::Layout> layout {}; ///< none where every layout is ruled out
    std::array<const diagnose::GuardOutcome*, 3> outcomes {}; ///< by scope
};

/// Which ranks would have left an update out, one row per cause and layout, one column per guard.
class GuardModel : public RowModel<GuardRow>
{
    Q_OBJECT

public:
    enum Column { update, layout, stack, local, group, full };

    explicit GuardModel(QObject* parent = nullptr);

    void setWhatIf(diagnose::GuardWhatIf whatIf);
    const diagnose::GuardWhatIf& whatIf() const { return m_whatIf; }
    const diagnose::GuardStep* stepAt(int row) const;
    int causes() const;

private:
    QString layoutTip(const GuardRow& row) const;

    diagnose::GuardWhatIf m_whatIf;
};

} // namespace nanscope
