// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/sessionvariants.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/try.h"
#include "core/replay/variants/catalogue.h"
#include "core/replay/variants/variant.h"
#include "core/replay/variants/variantfields.h"
#include "core/replay/variants/variantjson.h"

namespace nanscope::replay {

namespace {

bool computeTheSame(const Variant& one, const Variant& other)
{
    return differingKeys(one, other).empty();
}

tl::unexpected<Error> contradiction(const session::Session& session, const Variant& kept, const Variant& known)
{
    return failure(ErrorKind::usage, keptOtherwise(kept, known), session.path().string());
}

/// One variant of the name it is kept under.
Result<Variant> definitionOf(const session::StoredVariant& stored)
{
    return variantsFromText(stored.definition, {}).and_then([&](std::vector<Variant> read) -> Result<Variant> {
        if (read.size() != 1 || read.front().name != stored.name) {
            return failure(ErrorKind::format, "it is another one's");
        }
        return std::move(read.front());
    });
}

Result<Variant> ownDefinitionOf(const session::StoredVariant& stored)
{
    auto read = definitionOf(stored);
    return read && builtInVariant(stored.name) != nullptr
        ? failure(ErrorKind::usage, "Nanscope has one of this name itself")
        : std::move(read);
}

std::string leftOut(const std::string& name, const std::string& why)
{
    constexpr std::size_t longestName = 64;
    return fmt::format("The variant '{}' that the session keeps is left out: {}", name.substr(0, longestName), why);
}

std::optional<Variant> keptAs(const std::vector<session::StoredVariant>& stored, const std::string& name)
{
    const auto found = std::ranges::find(stored, name, &session::StoredVariant::name);
    const auto read = found == stored.end() ? Result<Variant>(failure(ErrorKind::format, "")) : definitionOf(*found);
    return read ? std::optional(*read) : std::nullopt;
}

bool isKept(const std::vector<session::StoredVariant>& stored, const std::string& name)
{
    return std::ranges::find(stored, name, &session::StoredVariant::name) != stored.end();
}

/// Whether cells of this name are of what the name stands for now.
bool holds(const std::vector<session::StoredVariant>& stored, const Catalogue& catalogue, const std::string& name)
{
    const auto known = catalogue.find(name);
    if (!known) {
        return true;
    }
    if (!isKept(stored, name)) {
        return builtInVariant(name) != nullptr;
    }
    const auto kept = keptAs(stored, name);
    return kept && computeTheSame(*kept, **known);
}

} // namespace

std::string keptOtherwise(const Variant& kept, const Variant& other)
{
    return fmt::format("the session keeps another variant '{}' ({}); give yours another name, or use another session",
        kept.name, differText(differingKeys(kept, other)));
}

Result<std::vector<std::string>> takeVariants(const session::Session& session, Catalogue& catalogue)
{
    const auto stored = TRY(session.variants());
    std::vector<std::string> notes;
    for (const auto& one : stored) {
        const auto kept = ownDefinitionOf(one);
        const auto* known = kept ? catalogue.own(one.name) : nullptr;
        if (known != nullptr && !computeTheSame(*kept, *known)) {
            return contradiction(session, *kept, *known);
        }
        const auto taken = kept.and_then(
            [&](const Variant& variant) { return known != nullptr ? Result<void>() : catalogue.add(variant); });
        if (!taken) {
            notes.push_back(leftOut(one.name, taken.error().what));
        }
    }
    return notes;
}

Result<std::vector<std::string>> keepVariants(
    session::Session& session, const Catalogue& catalogue, const std::vector<std::string>& names)
{
    const auto stored = TRY(session.variants());
    std::vector<std::string> notes;
    for (const auto& variant : catalogue.added()) {
        if (std::ranges::find(names, variant->name) == names.end()) {
            continue;
        }
        const auto kept = keptAs(stored, variant->name);
        if (kept && !computeTheSame(*kept, *variant)) {
            return contradiction(session, *kept, *variant);
        }
        if (kept == *variant) {
            continue;
        }
        const auto dropped = TRY(session.setVariant({variant->name, variantToJson(*variant).dump()}, kept.has_value()));
        if (dropped > 0) {
            notes.push_back(
                fmt::format("Dropped {} of '{}', kept without a definition, which may have been another; sweep again",
                    counted(dropped, "cell"), variant->name));
        }
    }
    return notes;
}

Result<std::vector<Cell>> cellsThatHold(const session::Session& session, const Catalogue& catalogue)
{
    auto cells = TRY(session.cells());
    const auto stored = TRY(session.variants());
    std::map<std::string, bool> known;
    std::erase_if(cells, [&](const Cell& cell) {
        const auto [place, isNew] = known.try_emplace(cell.variant, false);
        if (isNew) {
            place->second = holds(stored, catalogue, cell.variant);
        }
        return !place->second;
    });
    return cells;
}

} // namespace nanscope::replay
