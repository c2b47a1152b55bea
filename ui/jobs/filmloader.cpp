// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/filmloader.h"

#include "core/session/session.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

Result<std::vector<OpTrace>> tracesOf(const std::filesystem::path& path, const Cell& cell)
{
    const auto session = session::Session::open(path, session::OpenMode::readOnly);
    if (!session) {
        return tl::make_unexpected(session.error());
    }
    return session->findCell(cell).and_then([&](const std::optional<std::int64_t>& id) {
        return id ? session->opTraces(*id) : Result<std::vector<OpTrace>>();
    });
}

Result<std::shared_ptr<const Film>> filmOf(const std::filesystem::path& path, const Cell& cell, int batch)
{
    return tracesOf(path, cell).map([&](const std::vector<OpTrace>& ops) {
        return std::make_shared<const Film>(makeFilm(cell, ops, batch));
    });
}

} // namespace

FilmLoader::FilmLoader(QObject* parent)
    : QObject(parent)
{
    m_pool.setMaxThreadCount(1);
}

FilmLoader::~FilmLoader()
{
    m_pool.clear();
    m_pool.waitForDone();
}

void FilmLoader::load(const std::filesystem::path& session, const Cell& cell, int batch)
{
    m_pool.clear();
    background(
        m_pool, this, [session, cell, batch] { return filmOf(session, cell, batch); },
        [this, job = m_jobs.begin()](Result<std::shared_ptr<const Film>> film) {
            if (!m_jobs.end(job)) {
                return;
            }
            if (!film) {
                Q_EMIT failed(qstr(sentence(film.error())));
            } else if ((*film)->frames.empty()) {
                Q_EMIT unpictured();
            } else {
                Q_EMIT loaded(*film);
            }
        });
}

void FilmLoader::drop()
{
    m_pool.clear();
    m_jobs.drop();
}

} // namespace nanscope
