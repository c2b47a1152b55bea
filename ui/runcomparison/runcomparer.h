// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <QObject>
#include <QThreadPool>

#include "core/diagnose/compareruns.h"
#include "ui/jobs/background.h"
#include "ui/jobs/runloader.h"

namespace nanscope {

/// Another rank of one of two runs.
struct DrawnRank
{
    std::string run;
    int rank = 0;
};

/// Two runs held against each other, with what a timeline needs to draw both: the first as rank 0, the other, moved by
/// the shift, as rank 1, and what else is to be seen as rank 2 and on.
struct ComparedRuns
{
    std::string nameA;
    std::string nameB;
    std::int64_t shift = 0;
    bool same = false; ///< one folder, compared with itself
    bool partial = false; ///< one of them has more points than are read
    diagnose::RunComparison comparison;
    RunData both;
    std::vector<DrawnRank> others; ///< ranks that go bad first and do not stand for their run
};

/// The curve of how far two runs are apart in a series; `both` has it where they are at all.
std::string differenceName(std::string_view series);

std::shared_ptr<const ComparedRuns> comparedRuns(const RunData& a, const RunData& b, std::int64_t shift);

/// Reads another run beside the open one and compares them, on a thread of its own. The newest request counts.
class RunComparer : public QObject
{
    Q_OBJECT

public:
    explicit RunComparer(QObject* parent = nullptr);
    ~RunComparer() override;

    void compare(const LoadedRun& open, const std::filesystem::path& other);
    /// The same two once more.
    void shift(std::int64_t steps);
    void cancel();
    bool busy() const { return m_busy; }

Q_SIGNALS:
    void compared(std::shared_ptr<const nanscope::ComparedRuns> runs);
    void failed(const QString& sentence);

private:
    struct Pair
    {
        RunData a;
        RunData b;
    };
    using Answer = Result<std::shared_ptr<const ComparedRuns>>;

    template <class Work>
    void start(Work work);

    JobTracker m_jobs;
    CancelToken m_cancel;
    bool m_busy = false;
    std::shared_ptr<const Pair> m_runs; ///< as they were read
    QThreadPool m_pool; ///< last member: its thread ends before anything it uses
};

} // namespace nanscope
