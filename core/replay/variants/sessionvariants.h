// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The user's own variants that a session keeps beside the cells that were swept with them (docs/decisions/0009).
#pragma once

#include <string>
#include <vector>

#include "core/replay/variants/catalogue.h"
#include "core/session/session.h"

namespace nanscope::replay {

/// Why `other` cannot have its name beside what a session keeps.
std::string keptOtherwise(const Variant& kept, const Variant& other);

/// Adds what the session keeps. The answer is one sentence for each definition that was left out: it is none, or of a
/// name of Nanscope's own. An error where the catalogue has another variant of a name.
Result<std::vector<std::string>> takeVariants(const session::Session& session, Catalogue& catalogue);

/// Keeps the user's own of these names, for a session that may be written. The answer tells what was dropped for it. An
/// error where the session keeps another variant of that name.
Result<std::vector<std::string>> keepVariants(
    session::Session& session, const Catalogue& catalogue, const std::vector<std::string>& names);

/// The cells of a session, without those that were swept with another variant than the one their name stands for.
Result<std::vector<Cell>> cellsThatHold(const session::Session& session, const Catalogue& catalogue);

} // namespace nanscope::replay
