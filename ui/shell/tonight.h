// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "core/diagnose/recovery/rollback.h"
#include "ui/jobs/workspace.h"
#include "ui/shared/text.h"

namespace nanscope {

/// What to do tonight where there is nothing to go back from; empty where there is, or before the run is judged.
inline QString goOnText(const Workspace& workspace)
{
    const LoadedRun& loaded = workspace.loaded();
    const bool known = loaded.diagnosis && !workspace.rollback();
    return known ? qstr(diagnose::goOnTonight(*loaded.run, loaded.diagnosis->captures)) : QString();
}

} // namespace nanscope
