// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/scaleout/keyvaluestore.h"

namespace nanscope::testing {

/// A store in this process, which may stop answering.
class MemoryStore : public scaleout::KeyValueStore
{
public:
    Result<std::int64_t> add(const std::string& key, std::int64_t amount) override
    {
        return asked([&] {
            auto& text = m_values[key];
            const auto sum = (text.empty() ? 0 : std::stoll(text)) + amount;
            text = std::to_string(sum);
            return std::int64_t {sum};
        });
    }

    Result<void> append(const std::string& key, const std::string& text) override
    {
        return asked([&] {
            m_values[key] += text;
            return true;
        }).map([](bool) {});
    }

    Result<bool> has(const std::string& key) override
    {
        return asked([&] { return m_values.contains(key); });
    }

    Result<std::vector<std::string>> get(const std::vector<std::string>& keys) override
    {
        return asked([&] {
            std::vector<std::string> values;
            for (const auto& key : keys) {
                values.push_back(m_values.at(key));
            }
            return values;
        });
    }

    void stopAnswering()
    {
        const std::lock_guard lock(m_mutex);
        m_answers = false;
    }

private:
    template <class Work>
    auto asked(Work work) -> Result<decltype(work())>
    {
        const std::lock_guard lock(m_mutex);
        if (!m_answers) {
            return failure(ErrorKind::io, "the store does not answer");
        }
        return work();
    }

    std::mutex m_mutex;
    bool m_answers = true;
    std::map<std::string, std::string> m_values;
};

} // namespace nanscope::testing
