// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/scaleout/c10dstore.h"

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "gpu/patientthread.h"
#include "gpu/torchguard.h"

namespace nanscope {

namespace {

using Store = c10::intrusive_ptr<c10d::Store>;

std::string secondsText(std::chrono::milliseconds time)
{
    return fmt::format("{:g} s", std::chrono::duration<double>(time).count());
}

class C10dStore final : public scaleout::KeyValueStore
{
public:
    C10dStore(Store store, std::string place, std::unique_ptr<PatientThread> thread, std::chrono::milliseconds patience)
        : m_store(std::move(store))
        , m_place(std::move(place))
        , m_thread(std::move(thread))
        , m_patience(patience)
    { }

    Result<std::int64_t> add(const std::string& key, std::int64_t amount) override
    {
        return asked([key, amount](c10d::Store& store) { return store.add(key, amount); });
    }

    Result<void> append(const std::string& key, const std::string& text) override
    {
        return asked([key, text](c10d::Store& store) {
            store.append(key, {text.begin(), text.end()});
            return true;
        }).map([](bool) {});
    }

    Result<bool> has(const std::string& key) override
    {
        return asked([key](c10d::Store& store) { return store.check({key}); });
    }

    Result<std::vector<std::string>> get(const std::vector<std::string>& keys) override
    {
        return asked([keys](c10d::Store& store) {
            std::vector<std::string> values;
            for (const auto& value : store.multiGet(keys)) {
                values.emplace_back(value.begin(), value.end());
            }
            return values;
        });
    }

private:
    /// The work may outlive the call, so it holds all that it needs.
    template <class Work>
    auto asked(Work work) -> Result<decltype(work(std::declval<c10d::Store&>()))>
    {
        try {
            if (auto done = m_thread->run([store = m_store, work] { return work(*store); }, m_patience)) {
                return std::move(*done);
            }
            return gone("no answer within " + secondsText(m_patience));
        } catch (const std::exception& error) {
            return gone(firstLine(error.what()));
        }
    }

    tl::unexpected<Error> gone(const std::string& why) const
    {
        return failure(ErrorKind::io,
            fmt::format("the store at {} does not answer any more: the process that keeps it may have ended. What was "
                        "computed is kept; start the job again, and it goes on ({})",
                m_place, why));
    }

    Store m_store;
    std::string m_place;
    std::unique_ptr<PatientThread> m_thread;
    std::chrono::milliseconds m_patience;
};

/// torch gives up after the caller has, so that it does not print a stack where a sentence says it.
Store openTcpStore(const scaleout::Launch& launch, const StorePatience& patience)
{
    c10d::TCPStoreOptions options;
    options.port = launch.port;
    options.isServer = launch.keepsStore;
    options.waitWorkers = false; // whoever comes begins
    options.timeout = patience.untilThere + std::chrono::minutes(1);
    auto store = c10::make_intrusive<c10d::TCPStore>(launch.host, options);
    store->setTimeout(patience.untilAnswer);
    return store;
}

tl::unexpected<Error> notThere(
    const scaleout::Launch& launch, const std::string& place, const StorePatience& patience, const std::string& why)
{
    const auto because = why.empty() ? std::string() : fmt::format(" ({})", why);
    if (launch.keepsStore) {
        return failure(ErrorKind::io, fmt::format("the store cannot be opened at {}{}", place, because));
    }
    return failure(ErrorKind::io,
        fmt::format("rank {} found no store at {} within {}. Rank 0 has to run on that node, and the port has to be "
                    "open between nodes{}",
            launch.rank, place, secondsText(patience.untilThere), because));
}

} // namespace

Result<std::unique_ptr<scaleout::KeyValueStore>> connectStore(
    const scaleout::Launch& launch, const StorePatience& patience, const CancelToken& cancel)
{
    auto thread = std::make_unique<PatientThread>(cancel);
    if (launch.alone()) {
        return std::make_unique<C10dStore>(
            c10::make_intrusive<c10d::HashStore>(), "this process", std::move(thread), patience.untilAnswer);
    }
    const auto place = fmt::format("{}:{}", launch.host, launch.port);
    std::string why;
    try {
        if (auto store =
                thread->run([launch, patience] { return openTcpStore(launch, patience); }, patience.untilThere)) {
            return std::make_unique<C10dStore>(std::move(*store), place, std::move(thread), patience.untilAnswer);
        }
    } catch (const std::exception& error) {
        why = firstLine(error.what());
    }
    if (cancel.cancelled()) {
        return failure(ErrorKind::cancelled, "the process was stopped while it waited for the store");
    }
    return notThere(launch, place, patience, why);
}

} // namespace nanscope
