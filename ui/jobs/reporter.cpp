// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/reporter.h"

#include <algorithm>
#include <filesystem>
#include <type_traits>
#include <utility>

#include "core/base/try.h"
#include "core/base/utf8.h"
#include "core/platform/platform.h"
#include "core/report/document/commandwords.h"
#include "core/report/input/reportinput.h"
#include "core/reproduce/reproduce.h"
#include "core/session/session.h"
#include "core/workflow/judgement.h"
#include "ui/jobs/background.h"
#include "ui/jobs/readrun.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

/// What is known now; a report written while the replays still run says which captures wait for them.
Diagnosis diagnosisOf(const LoadedRun& loaded)
{
    auto diagnosis = loaded.known() ? *loaded.known() : Diagnosis {};
    for (auto& verdict : diagnosis.captures) {
        if (verdict.summary.empty()) {
            verdict.summary = "not judged yet: this was written before its replays were done";
        }
    }
    return diagnosis;
}

/// What would make the same report; where the run and the user's files lie is theirs.
std::string commandLine(const LoadedRun& loaded, const std::string& about)
{
    const auto opened = loaded.opened.lexically_normal();
    const auto name = opened.has_filename() ? opened.filename() : opened.parent_path().filename();
    auto text = "nanscope report " + platform::shellQuoted(name.string()) + report::captureWords(about)
        + report::variantFileWords(loaded.userFiles.variants, true);
    const auto add = [&text](const char* option, const std::filesystem::path& path) {
        text += path.empty() ? std::string() : option + platform::shellQuoted(path.filename().string());
    };
    add(" --env ", loaded.userFiles.environment);
    for (const auto& path : loaded.userFiles.advisories) {
        add(" --advisories ", path);
    }
    add(" --params ", loaded.userFiles.parameters);
    return text + workflow::findingWords(loaded.choices);
}

/// What is done with the session of a run, or with none where it has none.
template <class Work>
std::invoke_result_t<Work, const session::Session*> withSession(const LoadedRun& loaded, Work work)
{
    if (loaded.session.empty()) {
        return work(nullptr);
    }
    const auto session = TRY(session::openSessionOfRun(loaded.session, session::OpenMode::readOnly, loaded.key()));
    return work(&session);
}

} // namespace

Result<std::optional<Rollback>> adviceOf(const LoadedRun& run)
{
    return runWithPoints(run).map([&](RunData whole) {
        workflow::addEnvironment(whole, workflow::readUserFiles(run.userFiles, run.kept));
        return workflow::weighed(diagnosisOf(run), run.observed, whole, run.userFiles, run.catalogue, false).rollback;
    });
}

std::string suggestedReportName(const RunData& run)
{
    return printable(run.name) + "-report.md";
}

Result<report::ReportInput> reportInput(const ReportSubject& subject)
{
    const LoadedRun& loaded = subject.run;
    auto whole = TRY(runWithPoints(loaded));
    workflow::addEnvironment(whole, workflow::readUserFiles(loaded.userFiles, loaded.kept));
    auto diagnosis = diagnosisOf(loaded);
    if (loaded.findingsDue()) {
        diagnosis = workflow::findAgain(std::move(diagnosis), whole, loaded.choices);
    }
    workflow::ReportSource source {
        std::move(whole), std::move(diagnosis), loaded.observed, loaded.cells, loaded.userFiles};
    source.commandLine = commandLine(loaded, subject.about);
    source.about = subject.about;
    source.catalogue = loaded.catalogue;
    return withSession(loaded,
        [&](const session::Session* session) { return nanscope::workflow::reportInput(std::move(source), session); });
}

namespace {

/// For a report that is otherwise as it was.
Result<void> refreshCells(report::ReportInput& input, const ReportSubject& subject)
{
    const LoadedRun& loaded = subject.run;
    return withSession(loaded, [&](const session::Session* session) {
        return workflow::takeCells(input, loaded.cells, session, loaded.catalogue);
    });
}

ReportPreview reportPreview(const report::ReportInput& input, const report::ReportOptions& options)
{
    const Capture* capture = report::mainCapture(input);
    return {capture ? capture->file : std::string(), report::markdownReport(input, options),
        report::reportFiles(input, options, report::ReportFormat::markdown, suggestedReportName(input.run)),
        report::reportRedactions(input, options)};
}

struct Made
{
    std::shared_ptr<report::ReportInput> input;
    std::shared_ptr<const ReportPreview> preview;
};

Result<Made> make(const ReportSubject& subject, std::shared_ptr<report::ReportInput> input, bool cellsChanged,
    const report::ReportOptions& options)
{
    if (!input) {
        input = std::make_shared<report::ReportInput>(TRY(reportInput(subject)));
    } else if (cellsChanged) {
        TRY(refreshCells(*input, subject));
    }
    auto preview = std::make_shared<const ReportPreview>(reportPreview(*input, options));
    return Made {std::move(input), std::move(preview)};
}

QString leftOut(report::BundledCapture capture)
{
    switch (capture) {
    case report::BundledCapture::tooLarge:
        return Reporter::tr("the capture is left out: with it the bundle would be larger than an issue takes");
    case report::BundledCapture::notReadable:
        return Reporter::tr("the capture is left out: it cannot be read");
    case report::BundledCapture::included:
    case report::BundledCapture::notAsked:
        break;
    }
    return {};
}

Result<QString> writeZip(
    const std::filesystem::path& path, const report::ReportInput& input, const report::BundleOptions& options)
{
    return report::writeBundle(path, input, options).map([](const report::WrittenBundle& bundle) {
        return bundle.reproducer
            ? leftOut(bundle.capture)
            : Reporter::tr("repro.py is left out: with it the bundle would be larger than an issue takes");
    });
}

Result<report::Reproducer> reproducerFor(const report::ReportInput& input, const report::BundleOptions& options,
    const replay::Catalogue& catalogue, const JobContext& job)
{
    reproduce::ReproducerOptions wanted;
    wanted.synthetic = !options.capture;
    wanted.hidden = options.report.redactions;
    wanted.catalogue = catalogue;
    return reproduce::reproducerOrReason(input, wanted, job);
}

void enter(const JobContext& job, const char* phase)
{
    job.progress({"report", phase, 0, 0, {}, {}});
}

bool isBundle(const SaveJob& save)
{
    return save.path.extension() == ".zip";
}

Result<void> prepare(const ReportSubject& subject, SaveJob& save, const JobContext& job)
{
    enter(job, "reading the run");
    auto input = TRY(reportInput(subject));
    if (isBundle(save)) {
        enter(job, "replaying for repro.py");
        save.options.reproducer = TRY(reproducerFor(input, save.options, subject.run.catalogue, job));
    }
    save.input = std::make_shared<const report::ReportInput>(std::move(input));
    return {};
}

Result<QString> writePrepared(const SaveJob& save)
{
    return isBundle(save)
        ? writeZip(save.path, *save.input, save.options)
        : report::writeReport(save.path, *save.input, save.options.report).map([](const auto& /*files*/) {
              return QString();
          });
}

} // namespace

Reporter::Reporter(std::function<ReportSubject()> subject, QObject* parent)
    : QObject(parent)
    , m_subject(std::move(subject))
{ }

Reporter::~Reporter()
{
    // What is being saved is saved; what was cancelled ends soon.
    m_pool.waitForDone();
    for (const auto& save : m_saves) {
        if (save->input && !save->writing) {
            (void)writePrepared(*save);
        }
    }
}

void Reporter::setOptions(const report::BundleOptions& options)
{
    m_options = options;
    preview();
}

void Reporter::setWatched(bool watched)
{
    m_watched = watched;
    if (watched) {
        preview();
    } else {
        m_input.reset();
    }
}

void Reporter::subjectChanged()
{
    ++m_changes;
    m_input.reset();
    preview();
}

void Reporter::cellsChanged()
{
    m_cellsChanged = true;
    preview();
}

// One at a time: a slow one must not be followed by a queue of others that nobody waits for any more.
void Reporter::preview()
{
    if (!m_watched || m_previewing) {
        m_stale = m_previewing;
        return;
    }
    ReportSubject subject = m_subject();
    if (!subject.run.run) {
        return;
    }
    m_previewing = true;
    ++m_running;
    background(
        m_pool, this,
        [subject = std::move(subject), input = m_input, cells = std::exchange(m_cellsChanged, false),
            options = m_options.report] { return make(subject, input, cells, options); },
        [this, change = m_changes](Result<Made> made) {
            --m_running;
            m_previewing = false;
            m_input = made && m_watched && change == m_changes ? made->input : nullptr;
            if (std::exchange(m_stale, false)) {
                preview();
            } else if (!made) {
                Q_EMIT problem(qstr(sentence(made.error())), {});
            } else if (m_watched) {
                Q_EMIT previewed(made->preview);
            }
        });
}

template <class Work, class Done>
void Reporter::run(Work work, Done done)
{
    ++m_running;
    background(m_pool, this, std::move(work), [this, done = std::move(done)](auto result) {
        --m_running;
        if (result) {
            done(*result);
        } else {
            Q_EMIT problem(qstr(sentence(result.error())), {});
        }
    });
}

void Reporter::copyIssueText()
{
    run(
        [subject = m_subject(), options = m_options.report] {
            return reportInput(subject).map(
                [&](const report::ReportInput& input) { return qstr(report::markdownReport(input, options)); });
        },
        [this](const QString& text) { Q_EMIT issueText(text); });
}

JobContext Reporter::contextOf(const std::shared_ptr<SaveJob>& save)
{
    return gatedJob(this, save->cancel, [this, save](const Progress& progress) {
        if (std::ranges::find(m_saves, save) != m_saves.end()) {
            Q_EMIT progressed(progress);
        }
    });
}

void Reporter::save(const QString& path)
{
    auto save = std::make_shared<SaveJob>();
    save->path = path.toStdString();
    save->options = m_options;
    m_saves.push_back(save);
    ++m_running;
    Q_EMIT savingChanged();
    const auto job = contextOf(save);
    background(
        m_pool, this, [subject = m_subject(), save, job] { return prepare(subject, *save, job); },
        [this, save, job](const Result<void>& prepared) {
            if (prepared) {
                write(save, job);
            } else {
                endSave(save, tl::make_unexpected(prepared.error()));
            }
        });
}

void Reporter::write(const std::shared_ptr<SaveJob>& save, const JobContext& job)
{
    if (std::ranges::find(m_saves, save) == m_saves.end()) {
        endSave(save, failure(ErrorKind::cancelled, "cancelled"));
        return;
    }
    save->writing = true;
    background(
        m_pool, this,
        [save, job] {
            enter(job, "writing the report");
            return writePrepared(*save);
        },
        [this, save](const Result<QString>& note) { endSave(save, note); });
}

/// The end of one that was cancelled was told then.
void Reporter::endSave(const std::shared_ptr<SaveJob>& save, const Result<QString>& note)
{
    --m_running;
    if (std::erase(m_saves, save) == 0) {
        return;
    }
    Q_EMIT savingChanged();
    if (note) {
        Q_EMIT written(qstr(save->path.string()), *note);
    } else {
        Q_EMIT problem(qstr(sentence(note.error())), {});
    }
}

void Reporter::cancel()
{
    const auto stopped = std::erase_if(m_saves, [](const std::shared_ptr<SaveJob>& save) {
        if (!save->writing) {
            save->cancel.cancel();
        }
        return !save->writing;
    });
    if (stopped > 0) {
        Q_EMIT cancelled();
        Q_EMIT savingChanged();
    }
}

} // namespace nanscope
