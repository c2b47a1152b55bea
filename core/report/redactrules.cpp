// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/redactrules.h"

#include <memory>

#include <re2/set.h>

namespace nanscope {

namespace {

using Counts = RedactionCounts;

struct RuleText
{
    std::string regex;
    std::string replacement;
    int Counts::*counter;
};

const char* const ipv4 = R"((?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b)";
// Letters of every script, and the stand-ins of bytes in an old encoding.
const std::string letters = R"(\pL\x{10F780}-\x{10F7FF})";
const char* const folderName = R"([^/\s"'`:,;(){}\[\]<>|]+)";

void addSecrets(std::vector<RuleText>& rules)
{
    rules.push_back(
        {R"(\b((?:[A-Z0-9]+_)*(?:(?:HF|HUB|HUGGINGFACE|WANDB|GITHUB|GH|GITLAB|AWS|API|AUTH|ACCESS)(?:_[A-Z0-9]+)*_TOKEN|SECRET|SECRET_(?:ACCESS_)?KEY|PASSWORD|PASSWD|API_KEY)\s*[=:]\s*["']?)[^\s"'<>]+)",
            R"(\1<secret>)", &Counts::secrets});
    rules.push_back(
        {R"(\b(?:hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|glpat-[\w-]{20,}|AKIA[A-Z0-9]{16}|sk-[A-Za-z0-9-]{20,})\b)",
            "<secret>", &Counts::secrets});
}

void addPeople(std::vector<RuleText>& rules)
{
    rules.push_back({R"(([a-z]\w*://)[^/\s@<>]+@)", R"(\1<user>@)", &Counts::users});
    // Not `out@x.view(`, which is Python.
    rules.push_back(
        {R"([\w+)" + letters + R"(-][\w.+)" + letters + R"(-]+@[\w-]+(?:\.[\w-]+)*\.(?:[a-z]{2,}|[A-Z]{2,})([^\w(]|$))",
            R"(<email>\1)", &Counts::emails});
    const auto name = R"([\w.)" + letters + "-]";
    const auto user = "[_" + letters + "]" + name;
    rules.push_back({user + "*@" + ipv4, "<user>@<ip>", &Counts::users});
    rules.push_back({user + R"(+@[A-Za-z][\w-]{2,}\b)", "<user>@<host>", &Counts::users});
    rules.push_back({user + R"(*@[A-Za-z][\w-]*(:[~/]))", R"(<user>@<host>\1)", &Counts::users});
    rules.push_back({"(?i)(logged in as:? )" + name + R"(+(?: \()" + name + R"(+\))?)", R"(\1<user>)", &Counts::users});
    rules.push_back({R"((wandb\.ai/))" + name + "+", R"(\1<user>)", &Counts::users});
}

void addFolders(std::vector<RuleText>& rules)
{
    // A Windows user name may hold spaces, so it ends at the next separator where there is one.
    rules.push_back({R"((?i)\b[A-Z]:[\\/]+Users[\\/]+(?:[^\\/:*?"<>|\r\n]+([\\/])|[^\s\\/:*?"<>|]+))", R"(<home>\1)",
        &Counts::homes});
    rules.push_back({std::string(R"((?:/[\w.-]+)*?/(?:home\d*|homes|Users|users|user/[a-z])/)") + folderName, "<home>",
        &Counts::homes});
    rules.push_back({std::string(R"((/\w*scratch\d*/))") + folderName, R"(\1<user>)", &Counts::users});
    rules.push_back({R"((^|[\s"'`=:,;(\[{>])/root(/|$|[\s"'`:,;)\]}]))", R"(\1<home>\2)", &Counts::homes});
    rules.push_back({R"((^|[\s"'`=:(])~[)" + letters + R"(][\w.)" + letters + R"(-]*(/|$|[\s"'`:)]))", R"(\1<home>\2)",
        &Counts::homes});
    rules.push_back(
        {R"(\b((?:USER|USERNAME|LOGNAME|SUDO_USER)\s*[=:]\s*)[^\s"',;<>]+)", R"(\1<user>)", &Counts::users});
}

void addLaunchers(std::vector<RuleText>& rules)
{
    rules.push_back(
        {R"((?i)\b((?:[A-Z_]*host(?:name|s|list)?|[A-Z_]*nodename|[A-Z_]*nodelist|master_addr|rdzv_endpoint)\s*[=:]\s*)[A-Za-z][\w.\[\],-]*)",
            R"(\1<host>)", &Counts::hosts});
    rules.push_back(
        {R"((?i)(--(?:master[-_]addr|rdzv[-_]endpoint|local[-_]addr|hostname|host|hosts|node-?list)(?:\s*=\s*|\s+)["']?)[A-Za-z][\w.\[\],-]*)",
            R"(\1<host>)", &Counts::hosts});
    rules.push_back({R"((\b(?:mpirun|mpiexec|horovodrun|srun)\b[^\n]*?\s(?:-H|-w)\s+)[A-Za-z][\w.,:\[\]-]*)",
        R"(\1<host>)", &Counts::hosts});
    rules.push_back(
        {R"(\b((?:ssh|scp|rsync)\s+(?:-[A-Za-z]*[bcDEeFIiJLlmOopQRSWw]\s+\S+\s+|-\S+\s+)*)[A-Za-z][\w.-]*\d[\w.-]*)",
            R"(\1<host>)", &Counts::hosts});
    rules.push_back({R"((The node ')[\w.-]+?(_\d+_\d+'))", R"(\1<host>\2)", &Counts::hosts});
    rules.push_back(
        {R"(((?:connect(?:ed)? to|listen(?:ing)? on|server started on|addresses of) [\[(]?)[A-Za-z][\w.-]*(\]?:\d+|\]|, ?\d+\)))",
            R"(\1<host>\2)", &Counts::hosts});
}

void addLogPrefixes(std::vector<RuleText>& rules)
{
    rules.push_back(
        {R"((?m)^((?:\[?[a-z]+\d*\]?:)?)[A-Za-z][\w.-]*(:\d+:\d+ \[\d+\] NCCL))", R"(\1<host>\2)", &Counts::hosts});
    rules.push_back({R"((?m)^((?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d )[\w.-]+ )",
        R"(\1<host> )", &Counts::hosts});
    rules.push_back({R"((?m)^(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d) )[A-Za-z][\w.-]*( [\w./-]+(?:\[\d+\])?:))",
        R"(\1<host>\2)", &Counts::hosts});
    rules.push_back(
        {R"((?m)^(\[?)(?:(?:node|dgx|hgx|compute|host|login)-?[a-z]*-?\d[\w.-]*|ip-\d[\w.-]*|(?:nid|cn)\d[\w.-]*)(:\d+\]|\]|: ))",
            R"(\1<host>\2)", &Counts::hosts});
}

void addHosts(std::vector<RuleText>& rules)
{
    rules.push_back({R"(((?:tcp|ssh|file|nccl|gloo)://)[A-Za-z][\w.-]*)", R"(\1<host>)", &Counts::hosts});
    rules.push_back({R"((^|[\s"'=(])\\\\[A-Za-z][\w.-]*(\\))", R"(\1\\\\<host>\2)", &Counts::hosts});
    rules.push_back({R"((tfevents\.\d+\.)[A-Za-z0-9][\w-]*)", R"(\1<host>)", &Counts::hosts});
    rules.push_back({R"(\bip-\d+-\d+-\d+-\d+\b[\w.-]*)", "<host>", &Counts::hosts});
    rules.push_back({R"(\b[A-Za-z0-9][\w-]*(?:\.[\w-]+)*\.(?:local|localdomain|internal|intra|lan|cluster|corp|hpc)\b)",
        "<host>", &Counts::hosts});
}

void addAddresses(std::vector<RuleText>& rules)
{
    rules.push_back(
        {std::string(R"((?i)\b([\w-]*(?:addr|address|host|ip|endpoint|server|peer|node|url)\s*=\s*["']?))") + ipv4,
            R"(\1<ip>)", &Counts::addresses});
    rules.push_back({std::string(R"((=["']?))") + ipv4 + R"((:\d))", R"(\1<ip>\2)", &Counts::addresses});
    // Package versions such as cudnn 9.1.0.70 have four parts too: after = or - it is one of them.
    rules.push_back({std::string(R"((^|[^\w.=+~-]))") + ipv4, R"(\1<ip>)", &Counts::addresses});
    rules.push_back(
        {R"(\b(?:(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}|(?:fe80|f[cd][0-9a-f]{2}|[23][0-9a-f]{3}):[0-9a-f:]*:[0-9a-f:]*[0-9a-f]))",
            "<ip>", &Counts::addresses});
}

std::vector<RuleText> ruleTexts()
{
    std::vector<RuleText> rules;
    for (const auto add : {addSecrets, addPeople, addFolders, addLaunchers, addLogPrefixes, addHosts, addAddresses}) {
        add(rules);
    }
    return rules;
}

std::deque<RedactionRule> compiled()
{
    auto texts = ruleTexts();
    std::deque<RedactionRule> rules;
    for (auto& rule : texts) {
        rules.emplace_back(rule.regex, std::move(rule.replacement), rule.counter);
    }
    return rules;
}

std::unique_ptr<RE2::Set> quickCheck()
{
    auto set = std::make_unique<RE2::Set>(RE2::DefaultOptions, RE2::UNANCHORED);
    for (const auto& rule : redactionRules()) {
        set->Add(rule.pattern.pattern(), nullptr);
    }
    return set->Compile() ? std::move(set) : nullptr;
}

} // namespace

const std::deque<RedactionRule>& redactionRules()
{
    static const auto rules = compiled();
    return rules;
}

bool anyRuleMatches(const std::string& text)
{
    static const auto set = quickCheck();
    if (!set) {
        return true;
    }
    std::vector<int> which;
    RE2::Set::ErrorInfo error {};
    return set->Match(text, &which, &error) || error.kind != RE2::Set::kNoError;
}

} // namespace nanscope
