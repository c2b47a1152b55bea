// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The values of W&B's records, which are texts in JSON as Python writes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ingest/logbuilder.h"
#include "core/ingest/stores/wandbmessage.h"

namespace nanscope::ingest {

/// Numbers go into the builder's row, those in tables under names with dots; null is absence. Pictures and histograms
/// are no values.
void giveValue(const WandbMessage::Item& item, LogBuilder& builder);

/// One item of a configuration. W&B's own notes and what is secret are left out.
std::vector<Setting> settingsOf(const WandbMessage::Item& item);

/// Of the items of a row, the one to believe when it names the step.
class WandbSteps
{
public:
    /// The trainer says that this value is the step of others.
    void declare(std::string_view name);
    /// The user says so: it goes before all others.
    void choose(std::string_view name) { m_chosen = name; }
    /// What the user chose, once a row had it.
    std::optional<std::string> chosen() const { return m_chosenSeen ? std::optional(m_chosen) : std::nullopt; }
    /// It counts steps and is no value.
    bool counts(const WandbMessage::Item& item) const;

    struct Step
    {
        std::int64_t number = 0;
        bool inferred = false;
    };
    /// None for a row without any.
    std::optional<Step> stepOf(const WandbMessage& row);

private:
    std::optional<int> priorityOf(std::string_view name) const;

    std::vector<std::string> m_declared;
    std::string m_chosen;
    bool m_chosenSeen = false;
    std::string m_key; ///< that the first row of a loss or the like was counted by
    std::optional<std::int64_t> m_last; ///< by that key
};

} // namespace nanscope::ingest
