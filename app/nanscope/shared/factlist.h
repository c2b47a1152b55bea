// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace nanscope {

/// Facts in the order in which they were added, under names of groups: the answer of `env` and of `doctor`.
class FactList
{
public:
    void group(const std::string& name);
    /// An empty value is shown as "not found".
    void add(const std::string& name, const std::string& value);

    /// A version, which is never redacted: four numbers of one look like an address.
    void addVersion(const std::string& name, const std::string& version);

    std::string text() const;
    nlohmann::ordered_json json(const std::string& schema) const;
    /// Replaces host names, user names and home paths in every value but versions of plain numbers.
    void redactAll();

private:
    struct Group
    {
        std::string name;
        std::vector<std::pair<std::string, std::string>> facts;
        std::set<std::string> versions {}; ///< names
    };
    std::vector<Group> m_groups;
};

} // namespace nanscope
