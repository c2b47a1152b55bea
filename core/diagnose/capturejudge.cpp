// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/capturejudge.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/diagnose/judgeone.h"
#include "core/diagnose/triage/triage.h"
#include "core/model/model.h"
#include "core/model/verdict.h"

namespace nanscope::diagnose {

std::vector<CaptureToJudge> capturesToJudge(const RunData& run)
{
    const CaptureIndex captures(run);
    std::vector<CaptureToJudge> result;
    for (const auto& verdict : triage(run)) {
        if (const auto* capture = captures.of(verdict); isRead(capture)) {
            result.push_back({capture, needsReplay(verdict, *capture)});
        }
    }
    return result;
}

struct CaptureJudge::State
{
    State(const RunData& of, DiagnoseOptions chosen, std::vector<Member> ran, const CancelToken& token)
        : run(of)
        , options(std::move(chosen))
        , given(std::move(ran))
        , triaged(triageRun(of, options.catalogue))
        , captures(of)
        , device(options.device ? options.device : std::shared_ptr<replay::Device>(replay::makeEigenDevice()))
        , words(wordsOf(of))
        , controls(captures, options.catalogue, *device, token)
    {
        job.cancel = token;
    }

    const RunData& run;
    DiagnoseOptions options;
    std::vector<Member> given;
    Diagnosis triaged;
    CaptureIndex captures;
    std::shared_ptr<replay::Device> device;
    HardwareEvents words;
    JobContext job;
    Controls controls;
    std::vector<std::string> leftToCpu; ///< no rank says it of its own
};

CaptureJudge::CaptureJudge(std::unique_ptr<State> state)
    : m_state(std::move(state))
{ }

CaptureJudge::CaptureJudge(CaptureJudge&& other) noexcept = default;
CaptureJudge& CaptureJudge::operator=(CaptureJudge&& other) noexcept = default;
CaptureJudge::~CaptureJudge() = default;

Result<CaptureJudge> CaptureJudge::make(const RunData& run, DiagnoseOptions options, const CancelToken& cancel)
{
    auto given = TRY(parseAllRan(options.ran, run, options.catalogue));
    return CaptureJudge(std::make_unique<State>(run, std::move(options), std::move(given), cancel));
}

Environment CaptureJudge::environment() const
{
    return m_state->device->environment();
}

Result<CaptureVerdict> CaptureJudge::judge(const std::string& name)
{
    auto& s = *m_state;
    const auto found = std::ranges::find(s.triaged.captures, name, &CaptureVerdict::capture);
    const auto* capture = found != s.triaged.captures.end() ? s.captures.of(*found) : nullptr;
    if (capture == nullptr) {
        return failure(ErrorKind::usage, fmt::format("the run has no capture '{}'", name));
    }
    const Bench bench {s.run, s.options, s.given, s.captures, *s.device, s.controls, s.words, s.job,
        s.options.device ? &s.leftToCpu : nullptr};
    auto verdict = *found;
    return judgeOne(verdict, *capture, bench, 0).map([&] { return std::move(verdict); });
}

} // namespace nanscope::diagnose
