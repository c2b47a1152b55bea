// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <QObject>
#include <QThreadPool>

#include "core/diagnose/whatif/detectorreplay.h"
#include "core/diagnose/whatif/guardwhatif.h"
#include "ui/jobs/background.h"
#include "ui/jobs/runloader.h"

namespace nanscope {

/// What is asked of both parts.
struct WhatIfQuestion
{
    diagnose::DetectorQuestion detector {};
    diagnose::GuardQuestion guard {};
};

struct WhatIfAnswer
{
    WhatIfQuestion question;
    std::vector<diagnose::DetectorReplay> detector;
    std::string noDetector; ///< why there is none
    diagnose::GuardWhatIf guard;
    std::string noGuard; ///< why there is none
    std::optional<std::int64_t> newestPoints; ///< of each series that was read; none for all
};

WhatIfAnswer answerWhatIf(const RunData& run, const WhatIfQuestion& question);

/// Asks what-ifs of the open run on a thread of its own, while somebody looks. One at a time: of the questions that
/// come meanwhile the newest is asked next.
class WhatIfJob : public QObject
{
    Q_OBJECT

public:
    explicit WhatIfJob(QObject* parent = nullptr);
    ~WhatIfJob() override;

    /// The run as it is now; what was read of it before is forgotten.
    void setRun(const LoadedRun& run);
    void setQuestion(const WhatIfQuestion& question);
    /// False while nobody looks: nothing is asked then, and no points are kept.
    void setWatched(bool watched);
    bool busy() const { return m_asking; }

Q_SIGNALS:
    void started();
    void answered(std::shared_ptr<const nanscope::WhatIfAnswer> answer);
    void failed(const QString& sentence);

private:
    struct Done
    {
        std::shared_ptr<const RunData> run; ///< with its points
        std::shared_ptr<const WhatIfAnswer> answer;
    };

    void ask();
    void onDone(int change, const Result<Done>& done);

    std::optional<LoadedRun> m_loaded;
    std::shared_ptr<const RunData> m_points; ///< kept while only the question changes
    WhatIfQuestion m_question;
    bool m_watched = false;
    bool m_asking = false;
    bool m_stale = true; ///< the last answer is not that of this run and question
    int m_changes = 0; ///< of the run
    QThreadPool m_pool; ///< last member: its thread ends before anything it uses
};

} // namespace nanscope
