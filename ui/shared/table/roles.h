// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QtCore/qnamespace.h>

namespace nanscope {

/// Roles of the item models beyond Qt's own.
enum ItemRole {
    SortRole = Qt::UserRole + 1, ///< comparable value, so that sorting never parses text
    CaptureRole, ///< index into RunData::captures
    CaptureRoleRole, ///< int(Role), or -1 while the capture is not judged
    OutcomeRole, ///< int(Outcome) of a done cell
    CellStateRole, ///< int(CellState)
    BirthTextRole, ///< "step 3 gram", empty when nothing was born
    SideRole, ///< "A" or "B" of a cell that is compared, empty for another
    IdentifiedRole, ///< true for a variant of the plausible set
    StatusRole, ///< int(StatusMark) before the text of a cell
    CopyRole, ///< machine words for the clipboard where they are not what is displayed
};

} // namespace nanscope
