// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify/memberreplays.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/replay/analysis/forecast.h"

namespace nanscope::diagnose {

namespace {

bool sameGramSteps(const replay::Variant& a, const replay::Variant& b)
{
    return a.form == b.form && a.steps == b.steps && a.restarts == b.restarts;
}

} // namespace

MemberReplays::MemberReplays(const Bench& bench, std::function<void(const Member&)> watch)
    : m_bench(bench)
    , m_watch(std::move(watch))
{ }

Result<std::vector<MemberResult>> MemberReplays::all(const std::vector<Member>& members)
{
    std::vector<std::size_t> order(members.size());
    std::iota(order.begin(), order.end(), std::size_t {0});
    std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return !foreseeable(members[i]); });
    std::vector<MemberResult> results(members.size());
    for (const auto i : order) {
        auto result = of(members[i]);
        if (!result) {
            return tl::make_unexpected(result.error());
        }
        results[i] = std::move(*result);
    }
    return results;
}

/// A replay of another form or schedule will do for it.
bool MemberReplays::foreseeable(const Member& member) const
{
    const auto forecast = foretold(member, nullptr);
    return forecast && keepsClear(*forecast);
}

Result<MemberResult> MemberReplays::of(const Member& member)
{
    const auto work = workOf(member, m_bench.element, m_bench.epsilon);
    auto same = m_done.find(work);
    if (same == m_done.end()) {
        auto result = replayed(member);
        if (!result) {
            return result;
        }
        same = m_done.emplace(work, std::move(*result)).first;
    }
    auto result = same->second;
    result.variant = member.variant->name;
    result.published = member.variant->published;
    result.recordedEpsilon = member.recordedEpsilon;
    return result;
}

Result<MemberResult> MemberReplays::replayed(const Member& member)
{
    const auto* sibling = m_bench.forecasts ? siblingOf(member) : nullptr;
    auto forecast = foretold(member, sibling);
    if (forecast && sibling != nullptr && keepsClear(*forecast)) {
        forecast->forecastBy = sibling->variant;
        return std::move(*forecast);
    }
    m_watch(member);
    const auto begun = m_bench.own.find(member.variant);
    const bool ownFormat = member.precision == member.variant->precision && !member.recordedEpsilon;
    auto result = replayMember(member, m_bench.element, m_bench.epsilon, m_bench.enough, m_bench.device, m_bench.cancel,
        ownFormat && begun != m_bench.own.end() ? &begun->second : nullptr);
    if (result && (isGram(member) || forecast)) {
        m_replayed.push_back({member, isGram(member) || agrees(*result, *forecast), *result});
    }
    return result;
}

/// A replay that the forecast for this member may go by: for a Gram form one of the same steps, else any that came
/// out as it was forecast, as long as none of its format did not.
const MemberResult* MemberReplays::siblingOf(const Member& member) const
{
    const auto alike = [&](const Done& done) {
        const auto& other = done.member;
        const bool sameForm = isGram(other) == isGram(member) && other.precision == member.precision;
        return sameForm && (!isGram(member) || sameGramSteps(*other.variant, *member.variant));
    };
    const MemberResult* found = nullptr;
    for (const auto& done : m_replayed) {
        if (alike(done)) {
            if (!done.held) {
                return nullptr;
            }
            found = found == nullptr ? &done.result : found;
        }
    }
    return found;
}

std::optional<MemberResult> MemberReplays::foretold(const Member& member, const MemberResult* sibling) const
{
    return m_bench.forecasts ? forecastMember(member, m_bench.element, m_bench.epsilon, sibling) : std::nullopt;
}

bool MemberReplays::isGram(const Member& member) const
{
    return replay::isGramForm(*member.variant, m_bench.element.shape.rows == m_bench.element.shape.cols);
}

} // namespace nanscope::diagnose
