// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/scaleout/c10dstore.h"

#include <exception>
#include <utility>

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "gpu/torchguard.h"

namespace nanscope {

namespace {

constexpr std::chrono::seconds answerWithin {60};

class C10dStore final : public scaleout::KeyValueStore
{
public:
    C10dStore(c10::intrusive_ptr<c10d::Store> store, std::string place)
        : m_store(std::move(store))
        , m_place(std::move(place))
    {
        m_store->setTimeout(answerWithin);
    }

    Result<std::int64_t> add(const std::string& key, std::int64_t amount) override
    {
        return asked([&] { return m_store->add(key, amount); });
    }

    Result<void> append(const std::string& key, const std::string& text) override
    {
        return asked([&] {
            m_store->append(key, {text.begin(), text.end()});
            return true;
        }).map([](bool) {});
    }

    Result<bool> has(const std::string& key) override
    {
        return asked([&] { return m_store->check({key}); });
    }

    Result<std::vector<std::string>> get(const std::vector<std::string>& keys) override
    {
        return asked([&] {
            std::vector<std::string> values;
            for (const auto& value : m_store->multiGet(keys)) {
                values.emplace_back(value.begin(), value.end());
            }
            return values;
        });
    }

private:
    template <class Work>
    auto asked(Work work) -> Result<decltype(work())>
    {
        try {
            return work();
        } catch (const std::exception& error) {
            return failure(ErrorKind::io,
                fmt::format(
                    "the store at {} does not answer any more: the process that keeps it may have ended. What was "
                    "computed is kept; start the job again, and it goes on ({})",
                    m_place, firstLine(error.what())));
        }
    }

    c10::intrusive_ptr<c10d::Store> m_store;
    std::string m_place;
};

c10::intrusive_ptr<c10d::Store> openTcpStore(const scaleout::Launch& launch, std::chrono::seconds patience)
{
    c10d::TCPStoreOptions options;
    options.port = launch.port;
    options.isServer = launch.keepsStore;
    options.waitWorkers = false; // whoever comes begins
    options.timeout = patience;
    return c10::make_intrusive<c10d::TCPStore>(launch.host, options);
}

} // namespace

Result<std::unique_ptr<scaleout::KeyValueStore>> connectStore(
    const scaleout::Launch& launch, std::chrono::seconds patience)
{
    if (launch.alone()) {
        return std::make_unique<C10dStore>(c10::make_intrusive<c10d::HashStore>(), "this process");
    }
    const auto place = fmt::format("{}:{}", launch.host, launch.port);
    try {
        return std::make_unique<C10dStore>(openTcpStore(launch, patience), place);
    } catch (const std::exception& error) {
        return failure(ErrorKind::io,
            launch.keepsStore
                ? fmt::format("the store cannot be opened at {}: {}", place, firstLine(error.what()))
                : fmt::format(
                    "rank {} found no store at {} within {} s. Rank 0 has to run on that node, and the port has to "
                    "be open between nodes ({})",
                    launch.rank, place, patience.count(), firstLine(error.what())));
    }
}

} // namespace nanscope
