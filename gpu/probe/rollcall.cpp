// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/rollcall.h"

#include <exception>
#include <numeric>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nanscope {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds betweenLooks {50};

std::string missingText(const std::vector<int>& missing)
{
    return missing.empty() ? "every rank has come to a failure"
                           : fmt::format("no word of rank {}", fmt::join(missing, ", "));
}

} // namespace

RollCall::RollCall(c10::intrusive_ptr<c10d::Store> store, const std::string& name, int rank, int size)
    : m_store(std::move(store))
    , m_prefix(fmt::format("nanscope/{}/", name))
    , m_rank(rank)
    , m_size(size)
{ }

std::string RollCall::keyOf(int rank) const
{
    return m_prefix + std::to_string(rank);
}

bool RollCall::someoneGaveUp() const noexcept
{
    try {
        return m_store && m_store->check({m_prefix + "over"});
    } catch (const std::exception&) {
        return false; // the collective's own failure says more
    }
}

std::string RollCall::giveUp(std::chrono::milliseconds patience) noexcept
{
    if (!m_store) {
        return {};
    }
    try {
        m_store->set(keyOf(m_rank), "here");
        m_store->set(m_prefix + "over", "1");
        return missingText(missingAfter(patience));
    } catch (const std::exception&) {
        return "the store does not answer either: the rank that keeps it may have ended";
    }
}

std::vector<int> RollCall::missingAfter(std::chrono::milliseconds patience)
{
    std::vector<int> missing(static_cast<std::size_t>(m_size));
    std::iota(missing.begin(), missing.end(), 0);
    const auto until = Clock::now() + patience;
    while (true) {
        std::erase_if(missing, [&](int rank) { return m_store->check({keyOf(rank)}); });
        if (missing.empty() || Clock::now() >= until) {
            return missing;
        }
        std::this_thread::sleep_for(betweenLooks);
    }
}

} // namespace nanscope
