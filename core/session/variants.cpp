// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/schema.h"
#include "core/session/sessionimpl.h"

namespace nanscope {

namespace {

std::int64_t dropCellsOf(sqlite3* db, const std::string& variant)
{
    std::vector<std::int64_t> ids;
    Statement cells(db, "SELECT id FROM cells WHERE variant = ?");
    cells.bind(variant);
    while (cells.step()) {
        ids.push_back(cells.integer(0));
    }
    for (const auto id : ids) {
        deleteCell(db, id);
    }
    return static_cast<std::int64_t>(ids.size());
}

} // namespace

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
        const auto dropped = computesTheSame ? 0 : dropCellsOf(db, variant.name);
        Statement(db,
            "INSERT INTO variants VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET definition = "
            "excluded.definition")
            .bind(variant.name, variant.definition)
            .run();
        transaction.commit();
        return dropped;
    });
}

} // namespace nanscope
