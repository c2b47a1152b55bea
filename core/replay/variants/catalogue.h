// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
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

    Catalogue();

    /// Fails with the nearest names for an unknown one. NAME[@STEPS][@EPSILON] is the variant NAME with those numbers
    /// in place of its own and of its caller's (variantname.h). It lives as long as a catalogue or an Entry holds it.
    Result<const Variant*> find(std::string_view name) const;

    /// Puts NAME[@STEPS][@EPSILON] among all(), so that outputs are compared with it, too. Other names that are known
    /// are there.
    Result<void> include(std::string_view name);

    /// The user's own of this name, or what was included; null where there is none.
    const Variant* own(std::string_view name) const;

    /// The same one again changes nothing; another one of a name that is taken is refused, and so is what cannot be
    /// run (checkVariant).
    Result<void> add(Variant variant);

    /// The same, where another one of the user's own under this name makes way for it.
    Result<void> put(Variant variant);

    /// The user's own, in the order in which they were added.
    const std::vector<Entry>& added() const { return m_added; }

    /// The built-in ones, the user's own and what was included.
    std::vector<const Variant*> all() const;

    /// The same names stand for the same variants; the entries need not be shared.
    bool operator==(const Catalogue& other) const;

private:
    struct Derived;

    Result<const Variant*> derive(std::string_view name) const;

    std::vector<Entry> m_added;
    std::vector<const Variant*> m_included; ///< of m_derived
    std::shared_ptr<Derived> m_derived; ///< every NAME[@STEPS][@EPSILON] that was asked for
};

} // namespace nanscope::replay
