// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <istream>

#include "core/rpc/serve.h"
#include "core/rpc/serverequest.h"

namespace nanscope::rpc {

RequestLine readRequestLine(std::istream& in, std::string& line)
{
    line.clear();
    auto* buffer = in.rdbuf();
    bool tooLong = false;
    for (auto c = buffer->sbumpc(); c != std::char_traits<char>::eof(); c = buffer->sbumpc()) {
        if (c == '\n') {
            return tooLong ? RequestLine::tooLong : RequestLine::text;
        }
        tooLong = tooLong || line.size() == maxRequestBytes;
        if (!tooLong) {
            line.push_back(static_cast<char>(c));
        }
    }
    return tooLong ? RequestLine::tooLong : line.empty() ? RequestLine::end : RequestLine::text;
}

nlohmann::ordered_json parseServiceLine(const std::string& line)
{
    using Json = nlohmann::ordered_json;
    constexpr int maxDepth = 8;
    const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth < maxDepth; };
    return Json::parse(line, shallow, false);
}

} // namespace nanscope::rpc
