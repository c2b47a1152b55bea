// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/replay/variants/variant.h"

namespace nanscope::replay {

/// The built-in variants and the user's own, as a value: copies share their entries, which never change, and are
/// independent otherwise. One catalogue is used by one thread at a time; another thread gets a copy.
class Catalogue
{
public:
    using Entry = std::shared_ptr<const Variant>;

    /// Fails with the nearest names for an unknown one. The variant lives as long as a catalogue or an Entry holds it.
    Result<const Variant*> find(std::string_view name) const;

    /// The same one again changes nothing; another one of a name that is taken is refused, and so is what cannot be
    /// run (checkVariant).
    Result<void> add(Entry variant);

    /// The same, where another one of the user's own under this name makes way for it.
    Result<void> put(Entry variant);

    /// Built-in ones stay.
    void forget(std::string_view name);

    /// The user's own, in the order in which they were added.
    const std::vector<Entry>& added() const { return m_added; }

    /// The built-in ones and the user's own.
    std::vector<const Variant*> all() const;

private:
    std::vector<Entry>::const_iterator own(std::string_view name) const;

    std::vector<Entry> m_added;
};

/// Of the built-in ones and those that were added; fails with the nearest names for an unknown one.
Result<const Variant*> findVariant(std::string_view name);

/// Makes a variant of the user's known by its name for as long as the process lives; from any thread. The same one
/// again changes nothing; another one of a name that is taken is refused, and so is what cannot be run (checkVariant).
Result<void> addVariant(Variant variant);

/// The same, where another one that was added under this name makes way for it.
Result<void> putVariant(Variant variant);

/// One that was added is no longer known by its name; who holds it may go on.
void forgetVariant(std::string_view name);

/// Those that were added, in that order.
std::vector<const Variant*> addedVariants();

/// The built-in ones and those that were added: whatever an output may be compared with.
std::vector<const Variant*> knownVariants();

} // namespace nanscope::replay
