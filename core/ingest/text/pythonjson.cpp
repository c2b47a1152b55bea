// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/text/pythonjson.h"

#include <algorithm>

#include <simdjson.h>

#include "core/ingest/text/consoletext.h"

namespace nanscope::ingest {

namespace {

bool isWordCharacter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '+'
        || c == '.';
}

std::string_view takeWord(std::string_view text, std::size_t& at)
{
    const auto begin = at;
    while (at < text.size() && isWordCharacter(text[at])) {
        ++at;
    }
    return text.substr(begin, at - begin);
}

/// Quotes bare words but true, false and null.
std::string quoteBareWords(std::string_view text)
{
    std::string out;
    bool inString = false;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (inString || !isWordCharacter(c)) {
            if (inString && c == '\\') {
                out += c;
                ++at;
            }
            inString = c == '"' ? !inString : inString;
            out += at < text.size() ? text[at] : ' ';
            ++at;
            continue;
        }
        const auto word = takeWord(text, at);
        // Bare NaN, and numbers beyond 64 bits or beyond double, which the parser refuses the whole line for.
        const bool special = parseNumber(word).has_value();
        out += special ? '"' + std::string(word) + '"' : std::string(word);
    }
    return out;
}

/// From the quote that begins it to behind the one that ends it.
void translateString(std::string_view text, std::size_t& at, std::string& out)
{
    const char quote = text[at++];
    out += '"';
    for (; at < text.size() && text[at] != quote; ++at) {
        if (text[at] == '"') {
            out += "\\\"";
        } else if (text[at] != '\\' || at + 1 == text.size()) {
            out += text[at];
        } else if (const char next = text[++at]; std::string_view("\\nrt\"").find(next) != std::string_view::npos) {
            out += {'\\', next};
        } else {
            out += next == 'x' ? "\\u00" : std::string(1, next);
        }
    }
    out += '"';
    at += at < text.size() ? 1 : 0;
}

std::string_view translateWord(std::string_view word)
{
    return word == "True" ? "true" : word == "False" ? "false" : word == "None" ? "null" : word;
}

void closeList(std::string& out)
{
    const auto end = out.find_last_not_of(' ');
    if (end != std::string::npos && out[end] == ',') {
        out.resize(end);
    }
    out += ']';
}

} // namespace

std::string strictJson(std::string_view text)
{
    auto quoted = quoteBareWords(text);
    if (!simdjson::validate_utf8(quoted)) {
        const auto foreign = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
        std::replace_if(quoted.begin(), quoted.end(), foreign, '?');
    }
    return quoted;
}

std::string jsonOfPython(std::string_view text)
{
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '\'' || c == '"') {
            translateString(text, at, out);
        } else if (isWordCharacter(c)) {
            out += translateWord(takeWord(text, at));
        } else {
            c == ')' || c == ']' ? closeList(out) : out.push_back(c == '(' ? '[' : c);
            ++at;
        }
    }
    return out;
}

} // namespace nanscope::ingest
