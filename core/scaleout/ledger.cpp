// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/ledger.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/try.h"

namespace nanscope::scaleout {

namespace {

// The words of a log: "+12 " took a block, "-12 " did it, "!12 " could not, "~" lives, "." left.
constexpr char took = '+';
constexpr char did = '-';
constexpr char failed = '!';
constexpr char alive = '~';
constexpr char gone = '.';

constexpr int mostFailures = 2;

std::string wordOf(char what, std::int64_t block)
{
    return fmt::format("{}{} ", what, block);
}

} // namespace

Ledger::Ledger(KeyValueStore& store, LedgerOptions options)
    : m_store(&store)
    , m_options(std::move(options))
    , m_done(static_cast<std::size_t>(m_options.blocks), false)
    , m_failures(static_cast<std::size_t>(m_options.blocks), 0)
{ }

Result<Ledger> Ledger::join(KeyValueStore& store, LedgerOptions options,
    const std::function<std::vector<std::int64_t>()>& doneBefore, const std::function<bool()>& pause)
{
    Ledger ledger(store, std::move(options));
    const auto number = TRY(store.add(ledger.key("members"), 1));
    ledger.m_number = number - 1;
    // What is in the roster has a log.
    TRY(ledger.beat().and_then(
        [&] { return store.append(ledger.key("roster"), fmt::format("{} ", ledger.m_number)); }));
    if (ledger.m_number == 0) {
        const auto before = doneBefore();
        TRY(store.append(ledger.key("before"), fmt::format("{} ", fmt::join(before, " "))));
    }
    for (bool wait = true; wait; wait = pause()) {
        const auto said = TRY(store.has(ledger.key("before")));
        if (said) {
            return ledger.readDoneBefore().map([&] { return std::move(ledger); });
        }
    }
    return ledger;
}

Result<void> Ledger::readDoneBefore()
{
    return m_store->get({key("before")}).map([this](const std::vector<std::string>& said) {
        const auto& text = said.front();
        for (const char *at = text.data(), *end = at + text.size(); at < end; ++at) {
            std::int64_t block = -1;
            at = std::from_chars(at, end, block).ptr;
            markDone(block);
        }
    });
}

std::string Ledger::logKey(std::int64_t number) const
{
    return key(fmt::format("log/{}", number));
}

Result<void> Ledger::write(const std::string& text) const
{
    return m_store->append(logKey(m_number), text);
}

Result<void> Ledger::beat() const
{
    return write(std::string(1, alive));
}

Result<void> Ledger::finish(std::int64_t block)
{
    markDone(block);
    return write(wordOf(did, block));
}

Result<void> Ledger::fail(std::int64_t block)
{
    m_failedHere.insert(block);
    return write(wordOf(failed, block));
}

Result<void> Ledger::leave()
{
    return write(std::string(1, gone));
}

/// Takes from the counter what is not done; false once it is at its end.
Result<bool> Ledger::handOut(Next& next)
{
    for (;;) {
        const auto count = TRY(m_store->add(key("next"), 1));
        const auto block = count - 1;
        if (block >= m_options.blocks) {
            return false;
        }
        if (!m_done[static_cast<std::size_t>(block)]) {
            next = {Turn::block, block};
            return true;
        }
    }
}

Result<Ledger::Next> Ledger::next(Clock::time_point now)
{
    if (!m_allHandedOut) {
        Next next;
        const auto handedOut = TRY(handOut(next));
        if (handedOut) {
            return take(next.block);
        }
        m_allHandedOut = true;
        const auto idle = TRY(m_store->add(key("idle"), 1));
        m_stays = idle <= m_options.watchers;
    }
    if (!m_stays) {
        return Next {Turn::over, -1};
    }
    return readLogs(now).and_then([&]() -> Result<Next> {
        const auto next = nextOrphan(now);
        return next.turn == Turn::block ? take(next.block) : next;
    });
}

Ledger::Next Ledger::nextOrphan(Clock::time_point now)
{
    const auto block = orphan(now);
    if (block) {
        return {Turn::block, *block};
    }
    const bool onlyFailed = m_doneCount + static_cast<std::int64_t>(m_failedHere.size()) >= m_options.blocks;
    const bool over = m_doneCount == m_options.blocks || (onlyFailed && !othersLive(now));
    return {over ? Turn::over : Turn::wait, -1};
}

Result<Ledger::Next> Ledger::take(std::int64_t block) const
{
    return write(wordOf(took, block)).map([block] { return Next {Turn::block, block}; });
}

Result<bool> Ledger::isDone(std::int64_t block, Clock::time_point now)
{
    return readLogs(now).map([&]() -> bool { return m_done[static_cast<std::size_t>(block)]; });
}

Result<bool> Ledger::othersAreGone(Clock::time_point now)
{
    return readLogs(now).map([&] { return !othersLive(now); });
}

bool Ledger::othersLive(Clock::time_point now) const
{
    return std::any_of(m_members.begin(), m_members.end(),
        [&](const Member& member) { return member.number != m_number && lives(member, now); });
}

Result<void> Ledger::readLogs(Clock::time_point now)
{
    const auto roster = TRY(m_store->get({key("roster")}));
    addMembers(roster.front(), now);
    std::vector<std::string> keys;
    std::vector<Member*> members;
    for (auto& member : m_members) {
        if (!member.left) {
            keys.push_back(logKey(member.number));
            members.push_back(&member);
        }
    }
    return m_store->get(keys).map([&](const std::vector<std::string>& logs) {
        for (std::size_t i = 0; i < logs.size(); ++i) {
            apply(*members[i], logs[i], now);
        }
    });
}

void Ledger::addMembers(const std::string& roster, Clock::time_point now)
{
    const char* end = roster.data() + roster.size();
    for (const char* at = roster.data() + m_rosterRead; at < end; ++at) {
        std::int64_t number = -1;
        at = std::from_chars(at, end, number).ptr;
        m_members.push_back({number, 0, now, {}, now, false});
    }
    m_rosterRead = roster.size();
}

void Ledger::apply(Member& member, const std::string& log, Clock::time_point now)
{
    if (log.size() <= member.read) {
        return;
    }
    const char* end = log.data() + log.size();
    for (const char* at = log.data() + member.read; at < end; ++at) {
        const char what = *at;
        std::int64_t block = -1;
        if (what == took || what == did || what == failed) {
            at = std::from_chars(at + 1, end, block).ptr;
        }
        apply(member, what, block, now);
    }
    member.read = log.size();
    member.heard = now;
}

void Ledger::apply(Member& member, char what, std::int64_t block, Clock::time_point now)
{
    if (what == gone) {
        member.left = true;
        member.holds.reset();
    } else if (what == took) {
        member.holds = block;
        member.since = now;
    } else if (what == did || what == failed) {
        member.holds.reset();
        const bool givenUp =
            what == failed && contains(block) && ++m_failures[static_cast<std::size_t>(block)] >= mostFailures;
        if (what == did || givenUp) {
            markDone(block);
        }
    }
}

void Ledger::markDone(std::int64_t block)
{
    if (contains(block) && !m_done[static_cast<std::size_t>(block)]) {
        m_done[static_cast<std::size_t>(block)] = true;
        ++m_doneCount;
    }
}

bool Ledger::lives(const Member& member, Clock::time_point now) const
{
    return !member.left && now - member.heard < m_options.silence;
}

bool Ledger::isHeld(std::int64_t block, Clock::time_point now) const
{
    const auto holders = std::count_if(m_members.begin(), m_members.end(),
        [&](const Member& member) { return member.holds == block && lives(member, now); });
    const auto patient = std::count_if(m_members.begin(), m_members.end(), [&](const Member& member) {
        return member.holds == block && lives(member, now) && now - member.since < m_options.patience;
    });
    return patient > 0 || holders > 1;
}

/// What failed here is left to others, while there are any.
bool Ledger::isOpen(std::int64_t block, Clock::time_point now) const
{
    return !m_done[static_cast<std::size_t>(block)] && !isHeld(block, now) && !m_failedHere.contains(block);
}

/// A block that nobody does. One that the counter has just handed out is in nobody's log yet, so that it has to be
/// found open at two looks. Each process begins to look at another place, lest all take the same.
std::optional<std::int64_t> Ledger::orphan(Clock::time_point now)
{
    std::set<std::int64_t> open;
    std::optional<std::int64_t> found;
    const auto members = std::max<std::int64_t>(1, static_cast<std::int64_t>(m_members.size()));
    const auto first = m_options.blocks * m_number / members;
    for (std::int64_t i = 0; i < m_options.blocks; ++i) {
        const auto block = (first + i) % m_options.blocks;
        if (isOpen(block, now)) {
            open.insert(block);
            found = !found && m_suspects.contains(block) ? block : found;
        }
    }
    m_suspects = std::move(open);
    return found;
}

} // namespace nanscope::scaleout
