// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/meeting.h"

#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/base/try.h"

namespace nanscope::scaleout {

namespace {

using namespace std::chrono_literals;

constexpr auto longestGoodbye = 5s;
constexpr auto betweenListens = 50ms;

} // namespace

Meeting::Meeting(const Launch& launch, KeyValueStore& store, std::string subject, const CancelToken& cancel)
    : m_launch(launch)
    , m_store(store)
    , m_subject(std::move(subject))
    , m_cancel(cancel)
{ }

std::string Meeting::key(const std::string& what) const
{
    return fmt::format("nanscope/{}/{}/{}", m_subject, m_launch.start, what);
}

Result<void> Meeting::say(const std::string& what, const std::string& text)
{
    return m_store.append(key(what), text);
}

Result<std::optional<std::string>> Meeting::hear(const std::string& what, Clock::time_point until)
{
    for (;;) {
        const auto there = TRY(m_store.has(key(what)));
        if (there) {
            return m_store.get({key(what)}).map([](const auto& texts) { return std::optional(texts.front()); });
        }
        if (Clock::now() >= until || m_cancel.cancelled()) {
            return std::optional<std::string>();
        }
        std::this_thread::sleep_for(betweenListens);
    }
}

Result<void> Meeting::leave(std::span<const int> others)
{
    if (m_launch.rank != 0) {
        return say(fmt::format("left/{}", m_launch.rank), ".");
    }
    const auto until = Clock::now() + longestGoodbye;
    for (std::size_t i = 0; i < others.size() && m_launch.keepsStore; ++i) {
        TRY(hear(fmt::format("left/{}", others[i]), until));
    }
    return {};
}

} // namespace nanscope::scaleout
