// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace nanscope {

/// FactList in the order they are told, under group names: the answer of `env` and of `doctor`.
class FactList
{
public:
    void group(const std::string& name);
    /// An empty value is told as "not found".
    void add(const std::string& name, const std::string& value);

    /// One that tells nothing of a machine, whatever it looks like: four numbers of a version are no address.
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
