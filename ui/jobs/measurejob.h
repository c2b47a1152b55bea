// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include <QObject>
#include <QString>

#include "core/instruments/measure.h"
#include "core/replay/variants/catalogue.h"
#include "ui/jobs/background.h"

namespace nanscope {

/// What is measured of whom: a replay, or a function of the user's.
struct MeasureOrder
{
    instruments::MeasureRequest request;
    instruments::CellChoice cell; ///< replayed, or what the function claims to be; an empty variant: not said
    std::optional<instruments::FunctionChoice> impl;
    std::filesystem::path worker {}; ///< that has the devices which core lacks
};

/// In the words of `nanscope measure`.
struct MeasureResult
{
    MeasureOrder order;
    instruments::MeasureAnswer answer;
    QString text;
    QString json;
};

/// Puts instruments to captures on a thread of its own, one at a time. Replays run on core's CPU device or in the
/// worker, a function in a child process, so that none takes the window down.
class MeasureJob : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    void start(const MeasureOrder& order);
    /// Says cancelled() at once; what still runs ends unheard.
    void cancel();
    bool busy() const { return m_job.busy(); }

Q_SIGNALS:
    void started();
    void progressed(int done, int total);
    void answered(std::shared_ptr<const nanscope::MeasureResult> result);
    void failed(const QString& sentence);
    void cancelled();

private:
    NewestJob m_job;
};

/// What a picture of a measurement says besides its answer.
struct MeasureFacts
{
    QString target; ///< "gns-gram · fp16 · fused", "python:mine:f"
    QString capture; ///< path
    std::optional<double> epsilon; ///< it was called with; none: whoever answered used its own
    replay::Catalogue catalogue {}; ///< of the variants
};

MeasureFacts factsOf(const MeasureResult& result);

} // namespace nanscope
