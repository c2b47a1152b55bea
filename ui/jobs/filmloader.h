// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <memory>

#include <QObject>
#include <QThreadPool>

#include "ui/film/film.h"
#include "ui/jobs/background.h"

namespace nanscope {

/// Reads the film of a cell from the session on a thread of its own; only the newest request is answered.
class FilmLoader : public QObject
{
    Q_OBJECT

public:
    explicit FilmLoader(QObject* parent = nullptr);
    ~FilmLoader() override;

    void load(const std::filesystem::path& session, const Cell& cell, int batch);
    void drop();
    bool busy() const { return m_jobs.busy(); }

Q_SIGNALS:
    void loaded(std::shared_ptr<const nanscope::Film> film);
    /// The session knows the cell, but no pictures of it.
    void unpictured();
    void failed(const QString& sentence);

private:
    JobTracker m_jobs;
    QThreadPool m_pool;
};

} // namespace nanscope
