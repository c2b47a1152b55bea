// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/endingplaces.h"

namespace nanscope {

namespace {

Result<diagnose::EndsLike> endingsOf(
    const CaptureRef& capture, int batch, const std::string& variant, const replay::Catalogue& catalogue)
{
    return tensorfile::openCapture(capture).and_then([&](const tensorfile::CaptureFile& file) {
        return file.output ? diagnose::endingLike(file, batch, {variant}, catalogue) : Result<diagnose::EndsLike>();
    });
}

} // namespace

EndingPlaces::EndingPlaces(QObject* parent)
    : QObject(parent)
{
    m_pool.setMaxThreadCount(1);
}

EndingPlaces::~EndingPlaces()
{
    m_pool.clear();
    m_pool.waitForDone();
}

void EndingPlaces::find(
    const CaptureRef& capture, int batch, const std::string& variant, const replay::Catalogue& catalogue)
{
    m_pool.clear();
    m_busy = true;
    background(
        m_pool, this, [capture, batch, variant, catalogue] { return endingsOf(capture, batch, variant, catalogue); },
        [this, job = m_jobs.begin()](const Result<diagnose::EndsLike>& endings) {
            if (!m_jobs.isCurrent(job)) {
                return;
            }
            m_busy = false;
            if (endings) {
                Q_EMIT found(*endings);
            }
        });
}

} // namespace nanscope
