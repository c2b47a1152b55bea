// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/session/capturenaming.h"
#include "core/session/codec.h"
#include "core/session/schema.h"
#include "core/session/sessionimpl.h"

namespace nanscope::session {

namespace {

std::optional<std::string> shapeOf(const std::optional<CaptureTensor>& tensor)
{
    return tensor ? std::optional(shapeText(tensor->shape)) : std::nullopt;
}

std::optional<std::string> dtypeOf(const std::optional<CaptureTensor>& tensor)
{
    return tensor ? std::optional(std::string(torchName(tensor->dtype))) : std::nullopt;
}

/// Stores captures one after the other with statements that are prepared once.
class CaptureStore
{
public:
    explicit CaptureStore(sqlite3* db)
        : m_upsert(db,
            "INSERT INTO captures (identity, file, path, rank, pid, timestamp_ms, timestamp_from_name, epsilon, "
            "input_shape, input_dtype, output_shape, output_dtype, variant, step) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (identity) DO UPDATE SET file = excluded.file, path = excluded.path, "
            "variant = excluded.variant, step = excluded.step RETURNING id")
        , m_dropScans(db, "DELETE FROM scans WHERE capture_id = ?")
        , m_dropPart(db, "DELETE FROM capture_parts WHERE capture_id = ?")
        , m_insertPart(db, "INSERT INTO capture_parts VALUES (?, ?)")
        , m_dropWord(db, "DELETE FROM captures_of_nothing_else WHERE capture_id = ?")
        , m_insertWord(db, "INSERT INTO captures_of_nothing_else VALUES (?)")
        , m_insertScan(db, "INSERT INTO scans VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    { }

    std::int64_t add(const Capture& c, const std::string& path)
    {
        m_upsert.bind(c.identity, c.file, path, c.rank, c.pid, c.timestampMs, c.timestampFromName, c.epsilon,
            shapeText(c.input.shape), std::string(torchName(c.input.dtype)), shapeOf(c.output), dtypeOf(c.output),
            c.variant, c.step);
        m_upsert.step();
        const auto id = m_upsert.integer(0);
        while (m_upsert.step()) { }
        m_dropScans.bind(id).run();
        m_dropPart.bind(id).run();
        if (!c.part.empty()) {
            m_insertPart.bind(id, c.part).run();
        }
        m_dropWord.bind(id).run();
        if (c.nothingElse) {
            m_insertWord.bind(id).run();
        }
        addScans(id, "input", c.input.batches);
        if (c.output) {
            addScans(id, "output", c.output->batches);
        }
        return id;
    }

private:
    void addScans(std::int64_t captureId, const char* side, const std::vector<Scan>& batches)
    {
        for (std::size_t batch = 0; batch < batches.size(); ++batch) {
            const auto& s = batches[batch];
            m_insertScan
                .bind(captureId, side, static_cast<std::int64_t>(batch), s.count, s.nan, s.posInf, s.negInf, s.zero,
                    s.subnormal, s.absmax, s.minNonzero, s.sumSquares, s.trace, s.firstNonFinite,
                    static_cast<int>(s.firstClass))
                .run();
        }
    }

    Statement m_upsert;
    Statement m_dropScans;
    Statement m_dropPart;
    Statement m_insertPart;
    Statement m_dropWord;
    Statement m_insertWord;
    Statement m_insertScan;
};

CaptureTensor readTensor(const Statement& row, int shapeColumn)
{
    CaptureTensor tensor;
    tensor.shape = parseShape(row.text(shapeColumn));
    tensor.dtype = parseDType(row.text(shapeColumn + 1)).value_or(DType::float32);
    return tensor;
}

Capture readCapture(const Statement& row)
{
    Capture c;
    c.id = row.integer(0);
    c.identity = row.text(1);
    c.file = row.text(2);
    c.path = row.text(3);
    c.rank = row.optional<int>(4);
    c.pid = row.optional<int>(5);
    c.timestampMs = row.optional<std::int64_t>(6);
    c.timestampFromName = row.integer(7) != 0;
    c.epsilon = row.optional<double>(8);
    c.input = readTensor(row, 9);
    if (!row.isNull(11)) {
        c.output = readTensor(row, 11);
    }
    c.variant = row.optional<std::string>(13);
    c.step = row.optional<std::int64_t>(14);
    return c;
}

void attachScans(sqlite3* db, std::vector<Capture>& captures)
{
    Statement scans(db,
        "SELECT count, nan, pos_inf, neg_inf, zero, subnormal, absmax, min_nonzero, sum_squares, trace, "
        "first_nonfinite, first_class, capture_id, side FROM scans ORDER BY capture_id, side, batch");
    auto at = captures.begin();
    while (scans.step()) {
        const auto id = scans.integer(12);
        at = std::find_if(at, captures.end(), [id](const Capture& c) { return c.id >= id; });
        if (at == captures.end() || at->id != id) {
            continue;
        }
        const bool input = scans.text(13) == "input";
        if (input || at->output) {
            (input ? at->input : *at->output).batches.push_back(readScan(scans, 0));
        }
    }
}

/// One text each, for the captures that have one. A session that is only read keeps the version it was written with.
void attachTexts(sqlite3* db, std::vector<Capture>& captures, std::int64_t sinceVersion, const char* sql,
    std::string Capture::*member)
{
    if (pragmaValue(db, "user_version") < sinceVersion) {
        return;
    }
    Statement texts(db, sql);
    auto at = captures.begin();
    while (texts.step()) {
        const auto id = texts.integer(0);
        at = std::find_if(at, captures.end(), [id](const Capture& c) { return c.id >= id; });
        if (at != captures.end() && at->id == id) {
            (*at).*member = texts.text(1);
        }
    }
}

void markNothingElse(sqlite3* db, std::vector<Capture>& captures)
{
    constexpr std::int64_t sinceVersion = 7;
    if (pragmaValue(db, "user_version") < sinceVersion) {
        return;
    }
    Statement ids(db, "SELECT capture_id FROM captures_of_nothing_else ORDER BY capture_id");
    auto at = captures.begin();
    while (ids.step()) {
        const auto id = ids.integer(0);
        at = std::find_if(at, captures.end(), [id](const Capture& c) { return c.id >= id; });
        if (at != captures.end() && at->id == id) {
            at->nothingElse = true;
        }
    }
}

} // namespace

Scan readScan(const Statement& row, int column)
{
    Scan s;
    s.count = row.integer(column);
    s.nan = row.integer(column + 1);
    s.posInf = row.integer(column + 2);
    s.negInf = row.integer(column + 3);
    s.zero = row.integer(column + 4);
    s.subnormal = row.integer(column + 5);
    s.absmax = row.real(column + 6);
    s.minNonzero = row.real(column + 7);
    s.sumSquares = row.real(column + 8);
    s.trace = row.real(column + 9);
    s.firstNonFinite = row.integer(column + 10);
    const auto kind = std::clamp<std::int64_t>(row.integer(column + 11), 0, static_cast<int>(ValueClass::negInf));
    s.firstClass = static_cast<ValueClass>(kind);
    return s;
}

std::vector<Capture> readCaptures(sqlite3* db)
{
    std::vector<Capture> captures;
    Statement rows(db,
        "SELECT id, identity, file, path, rank, pid, timestamp_ms, timestamp_from_name, epsilon, input_shape, "
        "input_dtype, output_shape, output_dtype, variant, step FROM captures ORDER BY id");
    while (rows.step()) {
        captures.push_back(readCapture(rows));
    }
    attachScans(db, captures);
    constexpr std::int64_t partsVersion = 4;
    attachTexts(
        db, captures, partsVersion, "SELECT capture_id, part FROM capture_parts ORDER BY capture_id", &Capture::part);
    attachTexts(db, captures, ownNamesVersion, "SELECT capture_id, name FROM capture_names ORDER BY capture_id",
        &Capture::file);
    markNothingElse(db, captures);
    return captures;
}

Result<std::unordered_set<std::string>> Session::knownCaptures() const
{
    return m_impl->attempt([&] {
        std::unordered_set<std::string> known;
        Statement all(m_impl->raw(), "SELECT identity FROM captures");
        while (all.step()) {
            known.insert(all.text(0));
        }
        return known;
    });
}

Result<bool> Session::knowsCapture(const std::string& identity, const std::string& path)
{
    return m_impl->attempt([&] {
        Statement find(m_impl->raw(), "SELECT path FROM captures WHERE identity = ?");
        if (!find.bind(identity).step()) {
            return false;
        }
        if (const auto kept = m_impl->stored(path); find.text(0) != kept) {
            find.reset();
            m_impl->moveCapture(identity, kept, std::filesystem::path(path).filename().string());
        }
        return true;
    });
}

void Session::Impl::moveCapture(const std::string& identity, const std::string& kept, const std::string& file)
{
    Transaction transaction(raw());
    CaptureNaming naming(raw(), ownFolder);
    const auto before = naming.find(identity);
    Statement(raw(), "UPDATE captures SET path = ?, file = ? WHERE identity = ?").bind(kept, file, identity).run();
    if (before) {
        naming.stored(before->id, {file, kept}, before);
    }
    naming.settle();
    transaction.commit();
}

Result<std::optional<std::string>> Session::captureName(const std::string& identity) const
{
    return m_impl->attempt([&] {
        const auto known = CaptureNaming(m_impl->raw(), m_impl->ownFolder).find(identity);
        return known ? std::optional(known->name) : std::nullopt;
    });
}

Result<bool> Session::isCaptureName(const std::string& name) const
{
    return m_impl->attempt([&] {
        return Statement(m_impl->raw(),
            "SELECT 1 FROM captures WHERE file = ?1 UNION ALL SELECT 1 FROM capture_names WHERE name = ?1")
            .bind(name)
            .step();
    });
}

Result<void> Session::addCaptures(std::vector<Capture>& captures)
{
    return m_impl->attempt([&] {
        std::vector<std::int64_t> ids;
        Transaction transaction(m_impl->raw());
        CaptureNaming naming(m_impl->raw(), m_impl->ownFolder);
        CaptureStore store(m_impl->raw());
        for (const auto& capture : captures) {
            const auto before = naming.find(capture.identity);
            const auto path = m_impl->stored(capture.path);
            ids.push_back(store.add(capture, path));
            naming.stored(ids.back(), {capture.file, path}, before);
        }
        naming.settle();
        transaction.commit();
        for (std::size_t i = 0; i < captures.size(); ++i) {
            captures[i].id = ids[i];
        }
    });
}

} // namespace nanscope::session
