// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/reporter.h"

#include <filesystem>
#include <utility>

#include "core/reproduce/reproduce.h"
#include "ui/jobs/background.h"
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

Result<QString> saveBundle(const std::filesystem::path& path, const ReportInput& input, BundleOptions options)
{
    ReproducerOptions wanted;
    wanted.synthetic = !options.capture;
    wanted.hidden = options.report.redactions;
    auto reproducer = reproducerOrReason(input, wanted);
    if (!reproducer) {
        return tl::make_unexpected(reproducer.error());
    }
    options.reproducer = std::move(*reproducer);
    return writeBundle(path, input, options).map([](const WrittenBundle& bundle) {
        return bundle.reproducer
            ? leftOut(bundle.capture)
            : Reporter::tr("repro.py is left out: with it the bundle would be larger than an issue takes");
    });
}

Result<QString> saveTo(const std::filesystem::path& path, const ReportInput& input, const BundleOptions& options)
{
    if (path.extension() == ".zip") {
        return saveBundle(path, input, options);
    }
    return writeReport(path, input, options.report).map([](const auto& /*files*/) { return QString(); });
}

} // namespace

Reporter::Reporter(std::function<ReportSubject()> subject, QObject* parent)
    : QObject(parent)
    , m_subject(std::move(subject))
{ }

Reporter::~Reporter()
{
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

void Reporter::save(const QString& path)
{
    run(
        [subject = m_subject(), options = m_options, path] {
            return reportInput(subject).and_then(
                [&](const ReportInput& input) { return saveTo(path.toStdString(), input, options); });
        },
        [this, path](const QString& note) { Q_EMIT written(path, note); });
}

} // namespace nanscope
