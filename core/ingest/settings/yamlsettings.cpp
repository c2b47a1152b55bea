// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Reads events, not a tree: an alias is never followed, so a few lines of them cannot become a billion values.
#include <algorithm>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "core/ingest/settings/settingsink.h"

namespace nanscope::ingest {

namespace {

class YamlSettings : public YAML::EventHandler
{
public:
    explicit YamlSettings(SettingSink& sink)
        : m_sink(sink)
    { }

    void OnDocumentStart(const YAML::Mark&) override { }
    void OnDocumentEnd() override { }

    void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { scalar("null", mark); }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override
    {
        // What a scalar is called elsewhere is known; a table under another name is not written out again.
        if (const auto known = m_scalars.find(anchor); known != m_scalars.end()) {
            scalar(known->second, mark);
        } else {
            skip(mark);
        }
    }

    void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, const std::string& value) override
    {
        constexpr std::size_t mostAnchors = 1000;
        if (anchor != YAML::NullAnchor && m_scalars.size() < mostAnchors) {
            m_scalars[anchor] = value.substr(0, longestAnchored);
        }
        scalar(value, mark);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override
    {
        open(true, mark);
    }

    void OnSequenceEnd() override { close(); }

    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override
    {
        open(false, mark);
    }

    void OnMapEnd() override { close(); }

private:
    static constexpr std::size_t longestAnchored = 1000;

    struct Frame
    {
        bool isMap = false;
        bool hasKey = false;
        std::string key;
        std::int64_t line = 0; ///< of the key: an empty value has none of its own
    };

    static std::int64_t lineOf(const YAML::Mark& mark) { return mark.line + 1; }

    std::string takeKey()
    {
        if (m_frames.empty() || !m_frames.back().isMap) {
            return {};
        }
        m_frames.back().hasKey = false;
        return std::exchange(m_frames.back().key, {});
    }

    bool expectsKey() const { return !m_frames.empty() && m_frames.back().isMap && !m_frames.back().hasKey; }

    void scalar(const std::string& value, const YAML::Mark& mark)
    {
        if (expectsKey()) {
            setKey(value, mark);
        } else {
            const auto line = lineOfValue(mark);
            m_sink.value(takeKey(), value, line);
        }
    }

    void setKey(const std::string& key, const YAML::Mark& mark)
    {
        m_frames.back().key = key;
        m_frames.back().hasKey = true;
        m_frames.back().line = lineOf(mark);
    }

    std::int64_t lineOfValue(const YAML::Mark& mark) const
    {
        return m_frames.empty() || !m_frames.back().isMap ? lineOf(mark) : m_frames.back().line;
    }

    void skip(const YAML::Mark& mark)
    {
        if (expectsKey()) {
            setKey("?", mark);
        } else {
            takeKey();
        }
    }

    /// A table that is a key has no name of its own: what it holds, and its value, stand under "?".
    void open(bool isList, const YAML::Mark& mark)
    {
        std::string key = "?";
        auto line = lineOf(mark);
        if (expectsKey()) {
            setKey(key, mark);
        } else {
            line = lineOfValue(mark);
            key = takeKey();
        }
        m_sink.open(key, isList, line);
        m_frames.push_back({!isList, false, {}, 0});
    }

    void close()
    {
        m_sink.close();
        m_frames.pop_back();
    }

    SettingSink& m_sink;
    std::vector<Frame> m_frames;
    std::map<YAML::anchor_t, std::string> m_scalars;
};

} // namespace

Result<void> readYamlSettings(std::string_view text, SettingSink& sink)
{
    try {
        std::istringstream stream {std::string(text)};
        YAML::Parser parser(stream);
        YamlSettings settings(sink);
        parser.HandleNextDocument(settings);
    } catch (const YAML::Exception& error) {
        return failure(
            ErrorKind::format, fmt::format("not valid YAML near line {}", std::max(error.mark.line, 0) + 1), {});
    }
    return {};
}

} // namespace nanscope::ingest
