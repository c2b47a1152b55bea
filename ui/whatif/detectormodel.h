// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "core/diagnose/whatif/detectorreplay.h"
#include "ui/shared/rowmodel.h"

namespace nanscope {

/// What a NaN detector would have done, one row per process; those with something to tell come first.
class DetectorModel : public RowModel<diagnose::DetectorReplay>
{
    Q_OBJECT

public:
    enum Column { process, action, step, rollback, leftOut, message };

    explicit DetectorModel(QObject* parent = nullptr);

    void setReplays(std::vector<diagnose::DetectorReplay> replays);
};

} // namespace nanscope
