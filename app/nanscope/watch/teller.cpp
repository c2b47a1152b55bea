// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/watch/teller.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace nanscope {

Teller::Teller(Terminal& terminal, std::string command, std::optional<WatchEvent::Kind> until)
    : m_terminal(terminal)
    , m_until(until)
    , m_commands(std::move(command), [this](const std::string& why) {
        const std::lock_guard lock(m_mutex);
        m_terminal.say(LogLevel::warning, why);
    })
{ }

void Teller::print(const WatchEvent& event)
{
    const std::lock_guard lock(m_mutex);
    m_terminal.print(m_terminal.json() ? event.json() + '\n' : event.line());
    if (!m_terminal.flushed()) {
        m_unwritable = true;
        m_over = true;
    }
}

void Teller::tell(const WatchEvent& event)
{
    print(event);
    ++m_told.at(static_cast<std::size_t>(event.kind()));
    const bool frames = event.kind() == WatchEvent::Kind::watching || event.kind() == WatchEvent::Kind::end;
    if (!frames) {
        m_commands.run(event);
    }
    if (event.kind() == m_until) {
        m_over = true;
    }
}

void Teller::say(const std::string& text)
{
    const std::lock_guard lock(m_mutex);
    if (std::exchange(m_said, text) != text) {
        m_terminal.say(LogLevel::warning, text);
    }
}

void Teller::settled()
{
    const std::lock_guard lock(m_mutex);
    m_said.clear();
}

void Teller::sayUnkept(const std::string& why)
{
    {
        const std::lock_guard lock(m_mutex);
        if (std::exchange(m_unkept, true)) {
            return;
        }
    }
    say("The run is watched without its session for now; what it tells is stored once the session can be written. "
        + why);
}

void Teller::kept()
{
    const std::lock_guard lock(m_mutex);
    m_unkept = false;
}

JobContext Teller::job()
{
    return {[this](const Progress& progress) {
                const std::lock_guard lock(m_mutex);
                m_terminal.progress(progress);
            },
        m_terminal.cancelToken()};
}

void Teller::finish()
{
    const auto dropped = m_commands.finish([this] { return m_terminal.cancelToken().cancelled(); });
    if (dropped > 0) {
        say(fmt::format("The command was not run for {}", counted(static_cast<std::int64_t>(dropped), "event")));
    }
}

} // namespace nanscope
