// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdlib>
#include <fstream>

#include <re2/re2.h>

#include "core/report/redaction.h"
#include "core/report/report.h"

namespace nanscope {

namespace {

struct Rule
{
    RE2 pattern;
    std::string replacement;
    int RedactionCounts::*counter;
    Rule(const char* regex, std::string with, int RedactionCounts::*what)
        : pattern(regex)
        , replacement(std::move(with))
        , counter(what)
    { }
};

/// Order matters: addresses with a user before bare hosts, whole home paths before names inside them.
const std::array<Rule, 17>& rules()
{
    static const std::array<Rule, 17> table {
        Rule {R"(\b[\w+-][\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b)", "<email>", &RedactionCounts::emails},
        Rule {R"(\b[A-Za-z_][\w.-]+@[A-Za-z][\w-]{2,}\b)", "<user>@<host>", &RedactionCounts::users},
        // A Windows user name may hold spaces, so it ends at the next separator where there is one.
        Rule {R"(\b[A-Za-z]:[\\/]+Users[\\/]+(?:[^\\/:*?"<>|\r\n]+([\\/])|[^\s\\/:*?"<>|]+))", R"(<home>\1)",
            &RedactionCounts::homes},
        Rule {R"((?:/[\w.-]+)*?/(?:home|Users|users)/[^/\s"'`:,;(){}\[\]<>|]+)", "<home>", &RedactionCounts::homes},
        Rule {R"((/scratch/|/work/users/)[^/\s"'`:,;(){}\[\]<>|]+)", R"(\1<user>)", &RedactionCounts::users},
        Rule {R"((^|[\s"'`=:,;(\[{>])/root(/|$|[\s"'`:,;)\]}]))", R"(\1<home>\2)", &RedactionCounts::homes},
        Rule {
            R"(\b((?:USER|USERNAME|LOGNAME|SUDO_USER)\s*[=:]\s*)[^\s"',;<>]+)", R"(\1<user>)", &RedactionCounts::users},
        Rule {
            R"((?i)\b((?:[A-Z_]*host(?:name|s|list)?|[A-Z_]*nodename|[A-Z_]*nodelist|master_addr|rdzv_endpoint)\s*[=:]\s*)[A-Za-z][\w.\[\],-]*)",
            R"(\1<host>)", &RedactionCounts::hosts},
        Rule {R"((?m)^((?:\[?[a-z]+\d*\]?:)?)[A-Za-z][\w.-]*(:\d+:\d+ \[\d+\] NCCL))", R"(\1<host>\2)",
            &RedactionCounts::hosts},
        Rule {R"((?m)^((?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d )[\w.-]+ )",
            R"(\1<host> )", &RedactionCounts::hosts},
        Rule {R"((?m)^(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d) )[A-Za-z][\w.-]*( [\w./-]+(?:\[\d+\])?:))",
            R"(\1<host>\2)", &RedactionCounts::hosts},
        Rule {
            R"((?m)^(\[?)(?:(?:node|dgx|hgx|compute|host|login)-?[a-z]*-?\d[\w.-]*|ip-\d[\w.-]*|(?:nid|cn)\d[\w.-]*)(:\d+\]|\]|: ))",
            R"(\1<host>\2)", &RedactionCounts::hosts},
        Rule {R"(((?:tcp|ssh|file|nccl|gloo)://)[A-Za-z][\w.-]*)", R"(\1<host>)", &RedactionCounts::hosts},
        Rule {R"((tfevents\.\d+\.)[A-Za-z0-9][\w-]*)", R"(\1<host>)", &RedactionCounts::hosts},
        Rule {R"(\b[A-Za-z0-9][\w-]*(?:\.[\w-]+)*\.(?:local|localdomain|internal|intra|lan|cluster|corp|hpc)\b)",
            "<host>", &RedactionCounts::hosts},
        // Package versions such as cudnn 9.1.0.70 have four parts too: after = or - it is one of them.
        Rule {R"((^|[^\w.=+~-])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b)", R"(\1<ip>)",
            &RedactionCounts::addresses},
        Rule {
            R"(\b(?:(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}|(?:fe80|f[cd][0-9a-f]{2}|[23][0-9a-f]{3}):[0-9a-f:]*:[0-9a-f:]*[0-9a-f]))",
            "<ip>", &RedactionCounts::addresses},
    };
    return table;
}

std::string firstLine(const char* file)
{
    std::string line;
    std::ifstream stream(file);
    std::getline(stream, line);
    return line;
}

/// Names that also mean something else would tear holes into the text, so only tell-tale ones count.
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
    const std::string path = home != nullptr ? home : "";
    return path.size() > 1 && path.front() == '/' ? path : std::string {};
}

bool insideWord(const std::string& text, std::size_t begin, std::size_t end)
{
    const auto word = [&text](std::size_t at) {
        return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
    };
    return (begin > 0 && word(begin - 1)) || word(end);
}

void replaceWords(std::string& text, const std::string& word, const std::string& with, int& count)
{
    if (word.empty()) {
        return;
    }
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
        if (insideWord(text, at, at + word.size())) {
            at += word.size();
            continue;
        }
        text.replace(at, word.size(), with);
        at += with.size();
        ++count;
    }
}

} // namespace

std::string redact(const std::string& text, RedactionCounts& counts)
{
    auto result = text;
    replaceWords(result, ownHome(), "<home>", counts.homes);
    replaceWords(result, ownHost(), "<host>", counts.hosts);
    for (const auto& rule : rules()) {
        counts.*rule.counter += RE2::GlobalReplace(&result, rule.pattern, rule.replacement);
    }
    return result;
}

std::string redact(const std::string& text)
{
    RedactionCounts counts;
    return redact(text, counts);
}

} // namespace nanscope
