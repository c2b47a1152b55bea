// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/settings/settingsink.h"

#include <re2/re2.h>

namespace nanscope::ingest {

namespace {

constexpr std::size_t mostSettings = 5000;
constexpr std::size_t deepestSetting = 32;
constexpr std::size_t longestValue = 1000;
constexpr std::size_t longestKey = 200;

} // namespace

bool isSecret(std::string_view name)
{
    static const RE2 pattern(
        R"((?i)(?:^|.*[._-])(?:api_?key|access_?key|secret|secret_?key|password|passwd|private_?key|)"
        R"((?:auth|access|hub|hf|api|bearer)_?token|credentials?))");
    return RE2::FullMatch(re2::StringPiece(name.data(), name.size()), pattern);
}

std::string SettingSink::nameOf(std::string_view key) const
{
    const bool inList = !m_frames.empty() && m_frames.back().isList;
    const auto last = inList ? std::to_string(m_frames.back().index) : std::string(key.substr(0, longestKey));
    return m_name.empty() ? last : m_name + '.' + last;
}

void SettingSink::open(std::string_view key, bool isList, std::int64_t line)
{
    // A list as the whole is no configuration.
    if (m_tooDeep > 0 || m_frames.size() >= deepestSetting || (m_frames.empty() && isList)) {
        ++m_tooDeep;
        return;
    }
    Frame frame;
    frame.nameLength = m_name.size();
    frame.isList = isList;
    frame.line = line;
    // The outermost table has no name.
    m_name = m_frames.empty() ? std::string() : nameOf(key);
    if (!m_frames.empty()) {
        m_frames.back().holdsOthers = true;
        ++m_frames.back().index;
    }
    m_frames.push_back(std::move(frame));
}

void SettingSink::close()
{
    if (m_tooDeep > 0) {
        --m_tooDeep;
        return;
    }
    if (m_frames.empty()) {
        return;
    }
    const auto frame = std::move(m_frames.back());
    m_frames.pop_back();
    if (frame.isList && (!frame.holdsOthers || !frame.values.empty())) {
        give(m_name, '[' + frame.values + ']', frame.line);
    }
    m_name.resize(frame.nameLength);
}

void SettingSink::value(std::string_view key, std::string_view text, std::int64_t line)
{
    if (m_tooDeep > 0 || m_frames.empty()) {
        return;
    }
    if (!m_frames.back().isList) {
        give(nameOf(key), text, line);
        return;
    }
    auto& list = m_frames.back();
    if (list.values.size() < longestValue) {
        list.values += list.values.empty() ? "" : ", ";
        list.values += text.substr(0, longestValue);
    }
    ++list.index;
}

void SettingSink::give(std::string name, std::string_view text, std::int64_t line)
{
    if (m_settings.size() < mostSettings && !name.empty() && !isSecret(name)) {
        m_settings.push_back({std::move(name), std::string(text.substr(0, longestValue)), {}, {}, line});
    }
}

} // namespace nanscope::ingest
