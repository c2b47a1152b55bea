// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QThreadPool>

#include "core/model/capture.h"
#include "ui/heatmap/matrixpicture.h"
#include "ui/jobs/background.h"

namespace nanscope {

/// Reads the pictures of one matrix on a thread of its own; only the newest request is answered.
class TensorLoader : public QObject
{
    Q_OBJECT

public:
    explicit TensorLoader(QObject* parent = nullptr);
    ~TensorLoader() override;

    void load(const CaptureRef& capture, std::int64_t batch);
    void drop();
    bool busy() const { return m_jobs.busy(); }

Q_SIGNALS:
    void loaded(const nanscope::TensorPictures& pictures);
    void failed(const QString& sentence);

private:
    JobTracker m_jobs;
    QThreadPool m_pool;
};

/// Elements beyond this many are not held; the tile map still shows them. 64 MiB of floats per side.
constexpr std::int64_t mostElements = 16LL << 20;

} // namespace nanscope
