// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <QObject>
#include <QThreadPool>

#include "core/base/job.h"
#include "core/model/fwd.h"
#include "core/report/reportfiles.h"
#include "ui/jobs/runloader.h"

namespace nanscope {

/// What a report is made of, as it is when it is asked for.
struct ReportSubject
{
    LoadedRun run;
    std::string about; ///< as in ReportInput
};

/// What would leave the window now.
struct ReportPreview
{
    std::string about; ///< file name of the capture it is about, empty without captures
    std::string issue; ///< the body of an issue: without pictures, which it cannot hold
    std::vector<report::ReportFile> files; ///< the Markdown as saved under its suggested name, and its pictures
    std::vector<report::Redaction> redactions; ///< made in the issue text
};

/// "RUN-report.md", which also names the pictures.
std::string suggestedReportName(const RunData& run);

/// Where to go back to by the verdicts as they are weighed now, by ticks and by what was seen; none where the run was
/// not advised on. Reads the points of the run.
Result<std::optional<Rollback>> adviceOf(const LoadedRun& run);

/// Reads the run afresh from its session.
Result<report::ReportInput> reportInput(const ReportSubject& subject);

/// A report on its way to a file: made first, then written. Whether it is written is decided in the thread of the
/// window, in between, so that a cancel which was taken is final however fast the work is.
struct SaveJob
{
    std::filesystem::path path;
    report::BundleOptions options; ///< with the reproducer, once it is made
    CancelToken cancel;
    std::shared_ptr<const report::ReportInput> input; ///< once it is made
    bool writing = false;
};

/// Makes reports on a thread of its own: previews while somebody looks, of which only the newest arrives, copies and
/// files. All of them by the same options.
class Reporter : public QObject
{
    Q_OBJECT

public:
    explicit Reporter(std::function<ReportSubject()> subject, QObject* parent = nullptr);
    ~Reporter() override;

    const report::BundleOptions& options() const { return m_options; }
    void setOptions(const report::BundleOptions& options);
    /// False while nobody looks: no preview is made and none is kept.
    void setWatched(bool watched);
    /// What the report is made of is no longer what it was.
    void subjectChanged();
    /// Only its cells are others: a preview measures nothing anew.
    void cellsChanged();

    void copyIssueText();
    /// A report by the ending of the name, a bundle where that is .zip.
    void save(const QString& path);
    /// Says cancelled() at once of what is not yet being written; nothing is left of it.
    void cancel();
    bool saving() const { return !m_saves.empty(); }
    bool busy() const { return m_running > 0; }

Q_SIGNALS:
    void previewed(std::shared_ptr<const nanscope::ReportPreview> preview);
    void issueText(const QString& text);
    /// `note` says what was left out, or nothing.
    void written(const QString& path, const QString& note);
    void problem(const QString& sentence, const QStringList& details);
    void progressed(const nanscope::Progress& progress);
    void savingChanged();
    void cancelled();

private:
    template <class Work, class Done>
    void run(Work work, Done done);
    void preview();
    JobContext contextOf(const std::shared_ptr<SaveJob>& save);
    void write(const std::shared_ptr<SaveJob>& save, const JobContext& job);
    void endSave(const std::shared_ptr<SaveJob>& save, const Result<QString>& note);

    std::function<ReportSubject()> m_subject;
    report::BundleOptions m_options;
    /// Of the preview, kept while only the options or the cells change; belongs to the thread that makes one.
    std::shared_ptr<report::ReportInput> m_input;
    bool m_watched = false;
    bool m_previewing = false;
    bool m_stale = false; ///< something changed while a preview was made
    bool m_cellsChanged = false; ///< since the preview was begun
    int m_changes = 0; ///< of the subject
    int m_running = 0;
    std::vector<std::shared_ptr<SaveJob>> m_saves; ///< those that nobody cancelled
    QThreadPool m_pool; ///< last member: its threads end before anything they use
};

} // namespace nanscope
