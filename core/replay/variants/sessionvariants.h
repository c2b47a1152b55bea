// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The user's own variants that a session keeps beside the cells that were swept with them (docs/decisions/0009).
#pragma once

#include <string>
#include <vector>

#include "core/replay/variants/catalogue.h"
#include "core/replay/variants/variant.h"
#include "core/session/session.h"

namespace nanscope::replay {

struct KeptVariants
{
    std::vector<Variant> variants; ///< that can be made known
    std::vector<std::string> leftOut; ///< one sentence for each definition that is none, or of a name of Nanscope's own
};
Result<KeptVariants> keptVariants(const session::Session& session);

/// Why `other` cannot have its name beside what a session keeps.
std::string keptOtherwise(const Variant& kept, const Variant& other);

/// Makes known what the session keeps; the answer is what was left out. An error where a name is known already and
/// stands for another variant.
Result<std::vector<std::string>> takeVariants(const session::Session& session);

/// Keeps those of these names that were added (addVariant), for a session that may be written. The answer tells what
/// was dropped for it. An error where the session keeps another variant of that name.
Result<std::vector<std::string>> keepVariants(session::Session& session, const std::vector<std::string>& names);

/// The cells of a session, without those that were swept with another variant than the one their name stands for now.
Result<std::vector<Cell>> cellsThatHold(const session::Session& session);

} // namespace nanscope::replay
