// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What bounds a job of many processes: the ledger as it is, over a store and processes whose time is simulated. The
// store serves one request after the other; what it takes was measured with c10d's TCPStore (docs/scale.md).
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/scaleout/ledger.h"

namespace nanscope::scaleout {

namespace {

constexpr double roundTrip = 200e-6; ///< seconds between two nodes, without the store's own work
constexpr double service = 11e-6; ///< seconds of the store's one thread for a request
constexpr double perByte = 4e-9; ///< seconds of it for each byte that it sends
constexpr double beatEvery = 5;
constexpr double lookEvery = 2;

/// A store whose answers come at a simulated time.
class SimulatedStore final : public KeyValueStore
{
public:
    void setTime(double now) { m_now = now; }
    double time() const { return m_now; }
    double busy() const { return m_busy; }
    std::int64_t requests() const { return m_requests; }

    Result<std::int64_t> add(const std::string& key, std::int64_t amount) override
    {
        serve(0);
        return m_numbers[key] += amount;
    }
    Result<void> append(const std::string& key, const std::string& text) override
    {
        serve(0);
        m_texts[key] += text;
        return {};
    }
    Result<bool> has(const std::string& key) override
    {
        serve(0);
        return m_texts.contains(key);
    }
    Result<std::vector<std::string>> get(const std::vector<std::string>& keys) override
    {
        std::vector<std::string> values;
        std::size_t bytes = 0;
        for (const auto& key : keys) {
            values.push_back(m_texts[key]);
            bytes += values.back().size();
        }
        serve(bytes);
        return values;
    }

private:
    void serve(std::size_t bytes)
    {
        const double work = service + perByte * static_cast<double>(bytes);
        m_now = finished(m_now + roundTrip / 2, work) + roundTrip / 2;
        m_busy += work;
        ++m_requests;
    }

    /// When a request is answered that comes at this time. Requests are simulated process by process, not in the order
    /// of their times, so that the store's time is kept in slices, each filled up as requests fall into it.
    double finished(double arrival, double work)
    {
        auto slice = static_cast<std::size_t>(arrival / sliceLength);
        for (;; ++slice) {
            m_slices.resize(std::max(m_slices.size(), slice + 1));
            auto& used = m_slices[slice];
            const double part = std::min(work, sliceLength - used);
            used += part;
            work -= part;
            if (work <= 0) {
                return std::max(arrival, static_cast<double>(slice) * sliceLength + used);
            }
        }
    }

    static constexpr double sliceLength = 1e-3;
    std::vector<double> m_slices; ///< seconds of each that are taken
    double m_now = 0;
    double m_busy = 0;
    std::int64_t m_requests = 0;
    std::map<std::string, std::int64_t> m_numbers;
    std::map<std::string, std::string> m_texts;
};

struct Setting
{
    std::int64_t processes;
    std::int64_t blocks;
    double seconds; ///< of a block, in the middle
    double spread; ///< of their logarithms
    double deaths; ///< share of the processes that are killed on the way
};

struct Outcome
{
    double time = 0;
    double work = 0; ///< of all blocks, once
    std::int64_t twice = 0;
    double storeBusy = 0; ///< share of the time
    std::int64_t requests = 0;
};

Ledger::Clock::time_point at(double seconds)
{
    return Ledger::Clock::time_point(
        std::chrono::duration_cast<Ledger::Clock::duration>(std::chrono::duration<double>(seconds)));
}

class Simulation
{
public:
    explicit Simulation(const Setting& setting)
        : m_setting(setting)
        , m_random(1)
        , m_times(static_cast<std::size_t>(setting.blocks), 0)
    {
        std::lognormal_distribution<double> length(std::log(setting.seconds), setting.spread);
        for (std::int64_t i = 0; i < setting.blocks; ++i) {
            m_seconds.push_back(length(m_random));
        }
    }

    Outcome run();

private:
    struct Process
    {
        std::unique_ptr<Ledger> ledger;
        std::int64_t holds = -1;
        double beaten = 0;
        double until = 0; ///< end of what it does
        double dies = INFINITY;
    };
    using Event = std::pair<double, std::size_t>; ///< time, process

    void begin(std::size_t number);
    void act(double now, std::size_t number);
    void wait(std::size_t number, double now, double time);

    Setting m_setting;
    std::mt19937_64 m_random;
    SimulatedStore m_store;
    std::vector<double> m_seconds;
    std::vector<int> m_times;
    std::vector<Process> m_processes;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> m_events;
    double m_end = 0;
};

void Simulation::begin(std::size_t number)
{
    auto ledger = Ledger::join(
        m_store, {"job/", m_setting.blocks}, [] { return std::vector<std::int64_t>(); }, [] { return false; });
    auto& process = m_processes[number];
    process.ledger = std::make_unique<Ledger>(std::move(*ledger));
    const double whole = m_setting.seconds * static_cast<double>(m_setting.blocks / m_setting.processes);
    if (std::uniform_real_distribution<double>()(m_random) < m_setting.deaths) {
        process.dies = whole * std::uniform_real_distribution<double>()(m_random);
    }
    m_events.push({m_store.time(), number});
}

/// Until `time`, with a beat in between where that is long.
void Simulation::wait(std::size_t number, double now, double time)
{
    auto& process = m_processes[number];
    process.until = time;
    m_events.push({std::min(time, std::max(now, process.beaten + beatEvery)), number});
}

void Simulation::act(double now, std::size_t number)
{
    auto& process = m_processes[number];
    if (now > process.dies) {
        return;
    }
    m_store.setTime(now);
    if (now - process.beaten >= beatEvery) {
        process.beaten = now;
        process.ledger->beat();
    }
    if (now < process.until) {
        return wait(number, now, process.until);
    }
    if (process.holds >= 0) {
        ++m_times[static_cast<std::size_t>(process.holds)];
        process.ledger->finish(process.holds);
        process.holds = -1;
        m_end = std::max(m_end, m_store.time());
    }
    const auto next = process.ledger->next(at(m_store.time()));
    if (next->turn == Ledger::Turn::block) {
        process.holds = next->block;
        wait(number, now, m_store.time() + m_seconds[static_cast<std::size_t>(next->block)]);
    } else if (next->turn == Ledger::Turn::wait) {
        wait(number, now, m_store.time() + lookEvery);
    }
}

Outcome Simulation::run()
{
    m_processes.resize(static_cast<std::size_t>(m_setting.processes));
    for (std::size_t i = 0; i < m_processes.size(); ++i) {
        m_store.setTime(0);
        begin(i);
    }
    while (!m_events.empty()) {
        const auto [now, number] = m_events.top();
        m_events.pop();
        act(now, number);
    }
    Outcome outcome;
    outcome.time = m_end;
    for (std::size_t i = 0; i < m_seconds.size(); ++i) {
        outcome.work += m_seconds[i];
        outcome.twice += m_times[i] > 1 ? 1 : 0;
    }
    outcome.storeBusy = m_store.busy() / m_end;
    outcome.requests = m_store.requests();
    return outcome;
}

void print(const Setting& setting)
{
    const auto outcome = Simulation(setting).run();
    const double ideal = outcome.work / static_cast<double>(setting.processes);
    fmt::print("{:>9} {:>8} {:>8.3g} {:>6.2g} {:>7.3g} {:>9.4g} {:>9.4g} {:>10.1f} {:>6} {:>9.1f} {:>9}\n",
        setting.processes, setting.blocks, setting.seconds, setting.spread, 100 * setting.deaths, ideal, outcome.time,
        100 * ideal / outcome.time, outcome.twice, 100 * outcome.storeBusy, outcome.requests);
}

} // namespace

} // namespace nanscope::scaleout

int main()
{
    using nanscope::scaleout::Setting;
    fmt::print("{:>9} {:>8} {:>8} {:>6} {:>7} {:>9} {:>9} {:>10} {:>6} {:>9} {:>9}\n", "processes", "blocks", "s/block",
        "spread", "die, %", "ideal, s", "time, s", "of ideal,%", "twice", "store, %", "requests");
    // 10,000 captures under 34 variants: 340,000 of them, some of which go together where processes are few.
    for (const std::int64_t processes : {1, 8, 64, 256, 1000, 2000}) {
        const auto perBlock = std::clamp<std::int64_t>(340000 / (64 * processes), 1, 34);
        for (const double cell : {0.02, 0.2}) {
            for (const double deaths : {0.0, 0.01}) {
                if (processes > 8 || deaths == 0) {
                    print(
                        Setting {processes, 340000 / perBlock, 5 * cell * static_cast<double>(perBlock), 0.5, deaths});
                }
            }
        }
    }
    return 0;
}
