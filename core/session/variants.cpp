// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/schema.h"
#include "core/session/sessionimpl.h"

namespace nanscope::session {

Result<std::vector<StoredVariant>> Session::variants() const
{
    return m_impl->attempt([&] {
        std::vector<StoredVariant> all;
        if (pragmaValue(m_impl->raw(), "user_version") < ownNamesVersion) {
            return all;
        }
        Statement rows(m_impl->raw(),
            "SELECT name, CASE WHEN length(CAST(definition AS BLOB)) <= ? THEN definition ELSE '' END FROM variants "
            "ORDER BY rowid LIMIT ?");
        rows.bind(maxDefinitionBytes, maxStoredVariants);
        while (rows.step()) {
            all.push_back({rows.text(0), rows.text(1)});
        }
        return all;
    });
}

Result<std::int64_t> Session::setVariant(const StoredVariant& variant, bool computesTheSame)
{
    return m_impl->attempt([&] {
        sqlite3* db = m_impl->raw();
        Transaction transaction(db);
        const auto dropped = computesTheSame ? 0 : deleteCellsWhere(db, "variant", variant.name);
        Statement(db,
            "INSERT INTO variants VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET definition = "
            "excluded.definition")
            .bind(variant.name, variant.definition)
            .run();
        transaction.commit();
        return dropped;
    });
}

} // namespace nanscope::session
