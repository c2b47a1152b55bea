// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/reporter.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/reproduce/reproduce.h"
#include "ui/jobs/background.h"
#include "ui/jobs/progressgate.h"
#include "ui/text.h"

namespace nanscope {

namespace {

struct Made
{
    std::shared_ptr<const ReportInput> input;
    std::shared_ptr<const ReportPreview> preview;
};

Result<Made> make(const ReportSubject& subject, std::shared_ptr<const ReportInput> input, const ReportOptions& options)
{
    if (!input) {
        auto read = reportInput(subject);
        if (!read) {
            return tl::make_unexpected(read.error());
        }
        input = std::make_shared<const ReportInput>(std::move(*read));
    }
    auto preview = std::make_shared<const ReportPreview>(reportPreview(*input, options));
    return Made {std::move(input), std::move(preview)};
}

QString leftOut(BundledCapture capture)
{
    switch (capture) {
    case BundledCapture::tooLarge:
        return Reporter::tr("the capture is left out: with it the bundle would be larger than an issue takes");
    case BundledCapture::notReadable:
        return Reporter::tr("the capture is left out: it cannot be read");
    case BundledCapture::included:
    case BundledCapture::notAsked:
        break;
    }
    return {};
}

Result<QString> writeZip(const std::filesystem::path& path, const ReportInput& input, const BundleOptions& options)
{
    return writeBundle(path, input, options).map([](const WrittenBundle& bundle) {
        return bundle.reproducer
            ? leftOut(bundle.capture)
            : Reporter::tr("repro.py is left out: with it the bundle would be larger than an issue takes");
    });
}

Result<Reproducer> reproducerFor(const ReportInput& input, const BundleOptions& options, const JobContext& job)
{
    ReproducerOptions wanted;
    wanted.synthetic = !options.capture;
    wanted.hidden = options.report.redactions;
    return reproducerOrReason(input, wanted, job);
}

void enter(const JobContext& job, const char* phase)
{
    job.progress({"report", phase, 0, 0, {}, {}});
}

Result<QString> saveTo(const std::filesystem::path& path, const ReportInput& input, BundleOptions options,
    SaveJob& save, const JobContext& job)
{
    const bool bundle = path.extension() == ".zip";
    if (bundle) {
        enter(job, "replaying for repro.py");
        auto reproducer = reproducerFor(input, options, job);
        if (!reproducer) {
            return tl::make_unexpected(reproducer.error());
        }
        options.reproducer = std::move(*reproducer);
    }
    if (!save.decide()) {
        return failure(ErrorKind::cancelled, "cancelled");
    }
    enter(job, "writing the report");
    return bundle ? writeZip(path, input, options)
                  : writeReport(path, input, options.report).map([](const auto& /*files*/) { return QString(); });
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
}

void Reporter::setOptions(const BundleOptions& options)
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
        [subject = std::move(subject), input = m_input, options = m_options.report] {
            return make(subject, input, options);
        },
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
                [&](const ReportInput& input) { return qstr(markdownReport(input, options)); });
        },
        [this](const QString& text) { Q_EMIT issueText(text); });
}

JobContext Reporter::contextOf(const std::shared_ptr<SaveJob>& save)
{
    JobContext job;
    job.cancel = save->cancel;
    job.progress = [this, save, gate = std::make_shared<ProgressGate>()](const Progress& progress) {
        if (gate->opensFor(progress)) {
            QMetaObject::invokeMethod(
                this,
                [this, save, progress] {
                    if (std::ranges::find(m_saves, save) != m_saves.end()) {
                        Q_EMIT progressed(progress);
                    }
                },
                Qt::QueuedConnection);
        }
    };
    return job;
}

void Reporter::save(const QString& path)
{
    auto save = std::make_shared<SaveJob>();
    m_saves.push_back(save);
    ++m_running;
    Q_EMIT savingChanged();
    background(
        m_pool, this,
        [subject = m_subject(), options = m_options, path, save, job = contextOf(save)] {
            enter(job, "reading the run");
            return reportInput(subject).and_then(
                [&](const ReportInput& input) { return saveTo(path.toStdString(), input, options, *save, job); });
        },
        [this, path, save](const Result<QString>& note) {
            --m_running;
            if (!endSave(save)) {
                return;
            }
            if (note) {
                Q_EMIT written(path, *note);
            } else {
                Q_EMIT problem(qstr(sentence(note.error())), {});
            }
        });
}

/// False where it was cancelled: its end was told then.
bool Reporter::endSave(const std::shared_ptr<SaveJob>& save)
{
    if (std::erase(m_saves, save) == 0) {
        return false;
    }
    Q_EMIT savingChanged();
    return true;
}

void Reporter::cancel()
{
    const auto stopped = std::erase_if(m_saves, [](const std::shared_ptr<SaveJob>& save) {
        const bool mine = save->decide();
        if (mine) {
            save->cancel.cancel();
        }
        return mine;
    });
    if (stopped > 0) {
        Q_EMIT cancelled();
        Q_EMIT savingChanged();
    }
}

} // namespace nanscope
