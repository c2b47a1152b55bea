// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/redactwords.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <set>

namespace nanscope {

namespace {

std::string firstLine(const char* file)
{
    std::string line;
    std::ifstream stream(file);
    std::getline(stream, line);
    return line;
}

} // namespace

bool tellTale(const std::string& host)
{
    return host.size() >= 5 && host != "localhost" && host.find_first_of("0123456789-.") != std::string::npos;
}

const std::string& ownHost()
{
    static const std::string host = [] {
        auto found = firstLine("/proc/sys/kernel/hostname");
        return tellTale(found) ? found : std::string {};
    }();
    return host;
}

std::string ownHome()
{
    const char* home = std::getenv("HOME");
    std::string path = home != nullptr ? home : "";
    while (path.ends_with('/')) {
        path.pop_back();
    }
    return path.starts_with('/') ? path : std::string {};
}

bool alphanumeric(const std::string& text, std::size_t at)
{
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
}

bool insideWord(const std::string& text, std::size_t begin, std::size_t end)
{
    const auto word = [&text](
                          std::size_t at) { return at < text.size() && (alphanumeric(text, at) || text[at] == '_'); };
    return (begin > 0 && word(begin - 1)) || word(end);
}

bool namesAPerson(const std::string& name)
{
    static const std::set<std::string> others {"root", "user", "users", "ubuntu", "admin", "runner", "nobody", "home",
        "work", "data", "runs", "logs", "test", "tests", "public", "shared", "default", "jovyan", "workspace",
        "project", "projects", "scratch", "tmp", "opt", "usr", "var", "mnt", "lib", "bin", "src", "torch", "python"};
    return name.size() >= 3 && name.find('<') == std::string::npos && !others.contains(name)
        && std::any_of(name.begin(), name.end(), [](char byte) {
               const auto value = static_cast<unsigned char>(byte);
               return value >= 0x80 || std::isalpha(value) != 0;
           });
}

std::string_view privatePart(std::string_view match, std::string& with)
{
    std::size_t same = 0;
    while (same < std::min(match.size(), with.size()) && match[same] == with[same]) {
        ++same;
    }
    std::size_t tail = 0;
    while (tail + same < std::min(match.size(), with.size())
        && match[match.size() - 1 - tail] == with[with.size() - 1 - tail]) {
        ++tail;
    }
    with = with.substr(same, with.size() - same - tail);
    return match.substr(same, match.size() - same - tail);
}

} // namespace nanscope
