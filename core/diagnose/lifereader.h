// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/diagnose/trouble.h"

namespace nanscope {

/// What the weights of the process lived through, as far as its losses tell.
ProcessLife readLife(const RunData& run, const Trail& trail);

} // namespace nanscope
