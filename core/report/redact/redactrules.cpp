// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The rules that take private text out of a report. A row: id, what it catches, hint, pattern, what stands for it,
// which count, where the form is known from, and what no pattern can tell. Providers whose keys have no form of their
// own (Comet, Mistral, Cohere, Snowflake, Vast, ...) are caught by the name beside the key: "pair".
#include "core/report/redact/redactrules.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>

#include <re2/set.h>

namespace nanscope::report {

namespace {

using Counts = RedactionCounts;

const std::string secret = "<secret>";
const std::string ipv4 = R"((?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b)";
// Letters of every script, and the stand-ins of bytes in an old encoding.
const std::string letters = R"(\pL\x{10F780}-\x{10F7FF})";
// A line of a log, also as a report quotes it: behind "console.log:12  [rank 0] ".
const std::string front = R"(^(?:.*:\d+  (?:\[rank \d+\] )?)?)";
const std::string folderName = R"([^/\s"'`:,;(){}\[\]<>|\\]+)";
// Of a name, as JSON, YAML, Python and a shell write it, to its value: quotes may be escaped.
const std::string is = R"(\\*["']?\]?\s*(?:=>|:=|==?|:)\s*\\*["']?)";

/// A key with a form of its own, wherever it stands.
RuleText token(std::string id, std::string what, std::string hint, std::string pattern, std::string source,
    bool (*holds)(RuleGroups) = nullptr)
{
    return {std::move(id), std::move(what), std::move(hint), std::move(pattern), secret, &Counts::secrets,
        std::move(source), holds};
}

/// A secret behind what gives it away: the first group stays.
RuleText behind(std::string id, std::string what, std::string hint, std::string pattern, std::string source,
    bool (*holds)(RuleGroups) = nullptr)
{
    auto rule = token(std::move(id), std::move(what), std::move(hint), std::move(pattern), std::move(source), holds);
    rule.replacement = R"(\1)" + secret;
    return rule;
}

std::vector<RuleText> keyBlocks()
{
    // Up to its end, but over no other beginning; without an end, as far as long words of base64 go.
    return {token("pem", "private keys of SSH, TLS and PGP, with their body", "",
        R"((?s)-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----)"
        R"((?:(?:-{0,4}[^-])*-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\[nr]|["',+>|])*[A-Za-z0-9+/=]{16,})*))",
        "RFC 7468, RFC 4880")};
}

std::vector<RuleText> cloudKeys()
{
    return {
        token("aws-id", "AWS access key ids", "A[A-Z]{2}[A-Z0-9]{17}",
            R"(\b(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AIPA|ANPA|ANVA|AROA)[A-Z0-9]{16}\b)", "AWS docs: IAM identifiers"),
        behind("aws-secret", "AWS secret access keys", "(?i)(?:aws|secret).*key",
            R"((?i)((?:aws|secret)[\w.-]*key(?:)" + is + R"(|\s+))[A-Za-z0-9/+]{40})", "AWS docs: access keys"),
        token("google-key", "Google API keys", "AIza", R"(\bAIza[\w-]{35})", "Google Cloud docs: API keys"),
        token("google-oauth", "Google OAuth access and refresh tokens and client secrets", R"(ya29\.|1//0|GOCSPX-)",
            R"(\b(?:ya29\.[\w.-]{20,}|1//0[\w-]{30,}|GOCSPX-[\w-]{20,}))", "Google Identity docs"),
        behind("google-key-id", "key ids of service accounts", "private_key_id",
            "(private_key_id" + is + R"()[0-9a-f]{16,}\b)", "Google Cloud docs: service account keys"),
        behind("azure-connection", "keys in Azure connection strings", "(?i)(?:key|signature)=",
            R"((?i)\b((?:AccountKey|SharedAccessKey|SharedAccessSignature|AccessKey)=)[^;\s"'<>]+)",
            "Azure docs: storage connection strings"),
        token("azure-secret", "client secrets of Azure applications", R"(\dQ~)", R"(\b[\w~.-]{3}\dQ~[\w~.-]{31,34})",
            "observed form of Entra ID client secrets"),
        token("digitalocean", "DigitalOcean tokens", "do[opr]_v1_", R"(\bdo[opr]_v1_[0-9a-f]{64}\b)",
            "DigitalOcean docs: API tokens"),
        token("databricks", "Databricks personal access tokens", "dapi[0-9a-f]", R"(\bdapi[0-9a-f]{32}(?:-\d+)?\b)",
            "Databricks docs: token authentication"),
        token("vault", "HashiCorp Vault tokens", R"(hv[sbr]\.)", R"(\bhv[sbr]\.[\w-]{20,})", "Vault docs: tokens"),
        token("terraform", "Terraform Cloud tokens", R"(\.atlasv1\.)", R"(\b[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,})",
            "Terraform docs: API tokens"),
        token("pulumi", "Pulumi tokens", "pul-", R"(\bpul-[0-9a-f]{40}\b)", "Pulumi docs: access tokens"),
        token("doppler", "Doppler tokens", R"(dp\.)", R"(\bdp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,})",
            "Doppler docs: token formats"),
        token("tailscale", "Tailscale keys", "tskey-", R"(\btskey-[a-z]+-[\w-]{10,})", "Tailscale docs: keys"),
        token("age", "age identities", "AGE-SECRET-KEY-", R"(\bAGE-SECRET-KEY-1[A-Z0-9]{40,})", "age specification"),
        token("planetscale", "PlanetScale tokens", "pscale_", R"(\bpscale_(?:tkn|pw|oauth)_[\w.-]{20,})",
            "PlanetScale docs: service tokens"),
        token("supabase", "Supabase tokens", "sb[ps]?_", R"(\bsb(?:p|_secret|_publishable)_[A-Za-z0-9_-]{20,})",
            "Supabase docs: API keys"),
        token("heroku", "Heroku keys", "HRKU-", R"(\bHRKU-[\w-]{30,})", "Heroku docs: API keys"),
        token("fly", "Fly.io tokens", "fm[12][ar]?_|fo1_", R"(\b(?:fm[12][ar]?_[\w+/=-]{20,}|fo1_[\w-]{30,}))",
            "Fly.io docs: access tokens"),
    };
}

std::vector<RuleText> forgeKeys()
{
    return {
        token("github", "GitHub classic, OAuth and app tokens", "gh[pousr]_", R"(\bgh[pousr]_[A-Za-z0-9]{20,})",
            "GitHub docs: token formats"),
        token("github-fine", "GitHub fine-grained tokens", "github_pat_", R"(\bgithub_pat_\w{20,})",
            "GitHub docs: token formats"),
        token("gitlab", "GitLab tokens of every kind", "gl[a-z]+-|GR1348941",
            R"(\b(?:gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-|GR1348941)[\w.-]{20,})",
            "GitLab docs: token prefixes"),
        token("npm", "npm tokens", "npm_", R"(\bnpm_[A-Za-z0-9]{30,})", "npm docs: access tokens"),
        token("pypi", "PyPI tokens", "pypi-", R"(\bpypi-AgE[\w-]{50,})", "PyPI docs: API tokens"),
        token("rubygems", "RubyGems keys", "rubygems_", R"(\brubygems_[0-9a-f]{48}\b)", "RubyGems docs"),
        token("docker", "Docker Hub tokens", "dckr_", R"(\bdckr_[a-z]+_[\w-]{20,})", "Docker docs: access tokens"),
        behind("docker-auth", "logins of registries in a Docker configuration", R"(auth\\*["'])",
            R"((\\*["']auth\\*["']\s*:\s*\\*["'])([A-Za-z0-9+/_-]{8,}=*))", "Docker docs: config.json", &isEncoded),
        token("jfrog", "Artifactory keys", "AKCp|cmVmdGtu", R"(\b(?:AKCp[A-Za-z0-9]{30,}|cmVmdGtu[A-Za-z0-9]{30,}))",
            "JFrog docs: reference tokens"),
        token("atlassian", "Atlassian tokens", "ATATT3|ATBB|ATCTT3", R"(\b(?:ATATT3|ATCTT3|ATBB)[\w=-]{20,})",
            "Atlassian docs: API tokens"),
        token("postman", "Postman keys", "PMAK-", R"(\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}\b)", "Postman docs: API keys"),
    };
}

std::vector<RuleText> modelKeys()
{
    return {
        token("huggingface", "Hugging Face tokens of users and organisations", "hf_|api_org_",
            R"(\b(?:hf|api_org)_[A-Za-z0-9]{20,})", "Hugging Face docs: user access tokens"),
        token("anthropic", "Anthropic keys", "sk-ant-", R"(\bsk-ant-[\w-]{20,})", "Anthropic docs: API keys"),
        token("openai", "OpenAI keys, and those of providers that look alike", "sk-",
            R"(\bsk-((?:proj-|svcacct-|admin-|or-v1-|lf-)?[\w-]{20,}))", "OpenAI docs: API keys", &isMixed),
        token("langsmith", "LangSmith keys", "lsv2_|ls__", R"(\b(?:lsv2_(?:pt|sk)_|ls__)[0-9a-f]{32}\w*)",
            "LangSmith docs: API keys"),
        token("groq", "Groq keys", "gsk_", R"(\bgsk_[A-Za-z0-9]{30,})", "Groq docs: API keys"),
        token("xai", "xAI keys", "xai-", R"(\bxai-[A-Za-z0-9]{40,})", "xAI docs: API keys"),
        token("perplexity", "Perplexity keys", "pplx-", R"(\bpplx-[A-Za-z0-9]{30,})", "Perplexity docs: API keys"),
        token("fireworks", "Fireworks keys", "fw_", R"(\bfw_[A-Za-z0-9]{20,})", "Fireworks docs: API keys"),
        token("together", "Together keys", "tgp_v1_", R"(\btgp_v1_[\w-]{30,})", "Together docs: API keys"),
        token("replicate", "Replicate tokens", "r8_", R"(\br8_[A-Za-z0-9]{30,})", "Replicate docs: API tokens"),
        token("runpod", "RunPod keys", "rpa_", R"(\brpa_[A-Z0-9]{30,}\w*)", "RunPod docs: API keys"),
        token("lambda", "Lambda Cloud keys", "secret_", R"(\bsecret_[a-z0-9-]+_[0-9a-f]{32}\.\w{20,})",
            "Lambda docs: Cloud API"),
        token("modal", "Modal tokens", "a[ks]-", R"(\ba[ks]-([A-Za-z0-9]{20,}))", "Modal docs: tokens", &isMixed),
        token("ngc", "NVIDIA NGC keys", "nvapi-", R"(\bnvapi-[\w-]{40,})", "NVIDIA docs: NGC API keys"),
        token("pinecone", "Pinecone keys", "pcsk_", R"(\bpcsk_\w{40,})", "Pinecone docs: API keys"),
        token("kaggle-token", "Kaggle tokens", "KGAT_", R"(\bKGAT_[A-Za-z0-9]{20,})", "Kaggle docs: API"),
        behind("kaggle", "the key of kaggle.json", R"(key\\*["'])",
            R"((\\*["']key\\*["']\s*:\s*\\*["'])[0-9a-f]{32}\b)", "Kaggle docs: API"),
        token("wandb", "W&B keys with a prefix", "wandb_v1_|local-", R"(\b(?:wandb_v1_\w{30,}|local-[0-9a-f]{40}\b))",
            "W&B docs: API keys"),
        behind("wandb-login", "the key of a wandb login", "wandb",
            R"((wandb(?:\.login\([^)]*?key\s*=\s*["']| +login +(?:--?\S+ +)*))([\w-]{8,}))", "W&B docs: wandb login",
            &isMixed),
        token(
            "neptune", "Neptune tokens", "eyJhcGlf", R"(\beyJhcGlf[A-Za-z0-9+/_-]{20,}=*)", "Neptune docs: API token"),
    };
}

std::vector<RuleText> serviceKeys()
{
    return {
        token("slack", "Slack tokens", "xox[a-z]-|xoxe|xapp-", R"(\b(?:xox[a-z](?:\.xox[a-z])?|xapp)-[\w-]{10,})",
            "Slack docs: token types"),
        behind("webhook", "webhooks of Slack, Discord, Teams and Google Chat",
            R"((?i)hooks\.slack|discord|webhook\.office|chat\.googleapis)",
            R"((?i)((?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/(?:v\d+/)?webhooks|)"
            R"(webhook\.office\.com/webhookb2|chat\.googleapis\.com/v1/spaces)/)[^\s"'<>\\]+)",
            "Slack, Discord, Microsoft and Google docs: incoming webhooks"),
        token("discord", "tokens of Discord bots", R"([MNO][\w-]{23,27}\.)",
            R"(\b[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,})", "Discord docs: bot tokens"),
        token("telegram", "tokens of Telegram bots", ":AA", R"(\b\d{8,10}:AA[\w-]{30,})", "Telegram docs: bot API"),
        token("sendgrid", "SendGrid keys", R"(SG\.)", R"(\bSG\.[\w-]{16,}\.[\w-]{16,})", "SendGrid docs: API keys"),
        token("twilio", "Twilio keys and account ids", "(?:SK|AC)[0-9a-f]{8}", R"(\b(?:SK|AC)[0-9a-f]{32}\b)",
            "Twilio docs: API keys"),
        token("mailgun", "Mailgun keys", "key-[0-9a-f]", R"(\bkey-[0-9a-f]{32}\b)", "Mailgun docs: API keys"),
        token(
            "mailchimp", "Mailchimp keys", "[0-9a-f]-us", R"(\b[0-9a-f]{32}-us\d{1,2}\b)", "Mailchimp docs: API keys"),
        token("stripe", "Stripe keys", "[srp]k_(?:live|test)_|whsec_",
            R"(\b(?:[srp]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,}))", "Stripe docs: API keys"),
        token("shopify", "Shopify tokens", "shp[a-z]{2}_", R"(\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b)", "Shopify docs"),
        token("notion", "Notion tokens", "ntn_|secret_", R"(\b(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}\b))",
            "Notion docs: integration tokens"),
        token("linear", "Linear keys", "lin_", R"(\blin_(?:api|oauth)_[A-Za-z0-9]{30,})", "Linear docs: API keys"),
        token("grafana", "Grafana tokens", "gl(?:c|sa)_", R"(\bgl(?:c|sa)_[A-Za-z0-9+/=_-]{30,})",
            "Grafana docs: service accounts"),
        token("newrelic", "New Relic keys", "NR[A-Z]{2}-", R"(\bNR(?:AK|II|AA|RA|JS)-[\w-]{20,})",
            "New Relic docs: API keys"),
        token("sentry", "Sentry tokens", "sntry", R"(\bsntry[su]_[A-Za-z0-9+/=_-]{30,})", "Sentry docs: auth tokens"),
        token("onepassword", "1Password service accounts", "ops_eyJ", R"(\bops_eyJ[\w+/=-]{40,})", "1Password docs"),
        token("dropbox", "Dropbox tokens", R"(sl\.)", R"(\bsl\.(?:u\.)?[\w-]{60,})", "Dropbox docs: OAuth"),
    };
}

std::vector<RuleText> webSecrets()
{
    const std::string docs = "RFC 9110, RFC 6750, RFC 6265";
    return {
        // The last @ of the word ends a password, which may hold others; host:port/path@x has none.
        {"url-password", "passwords in URLs", "://.*@",
            R"(([A-Za-z][\w+.-]*://)[^/\s@:<>"']*:(?:\d*[^\d/\s@<>"'][^\s<>"']*|\d+)@)", R"(\1<user>@)", &Counts::users,
            "RFC 3986"},
        {"url-user", "users in URLs", "://.*@", R"(([a-z]\w*://)[^/\s@<>]+@)", R"(\1<user>@)", &Counts::users,
            "RFC 3986"},
        token("jwt", "JSON web tokens", "eyJ", R"(\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)*)", "RFC 7519"),
        behind("authorization", "headers that authorise", "(?i)authorization",
            R"((?i)(authorization)" + is
                + R"((?:(?:bearer|basic|token|digest|negotiate|apikey|key)\s+)?)([^\s"'<>\\][^"'<>\\]*))",
            docs, &isMixed),
        behind("bearer", "bearer tokens", "(?i)bearer", R"((?i)(\bbearer\s+)([\w.~+/=-]{8,}))", docs, &isMixed),
        behind("cookie", "cookies", "(?i)cookie", "(?i)(cookie" + is + R"()[^\s"'<>\\=;]+=[^"'<>\\]+)", docs),
        behind("query", "secrets in the query of an URL", "(?i)[?&;].*=",
            R"((?i)([?&;](?:[\w.-]*(?:token|secret|passw(?:or)?d|signature|credential|api[_-]?key|access[_-]?key|auth))"
            R"(|key|sig|pwd|sas)=)([^&\s"'<>#\\]+))",
            "AWS, Azure and Google docs: signed URLs", &isSaid),
        behind("netrc", "passwords of a .netrc", "(?i)password",
            "(?i)((?:" + front + R"(\s*|login\s+\S+\s+)password\s+)([^\s<]\S*)$)", "curl docs: .netrc", &isSaid),
        {"netrc-user", "logins of a .netrc", R"(machine\s)", R"((\bmachine\s+\S+\s+login\s+)[^\s<]\S*)", R"(\1<user>)",
            &Counts::users, "curl docs: .netrc"},
        {"curl-user", "user:password of curl", R"(-u|--[a-z-]*user)",
            R"((\s(?:-u|--user|--proxy-user)[\s=]+["']?)[^\s"'<>:]+:[^\s"'<>]+)", R"(\1<user>:<secret>)",
            &Counts::secrets, "curl docs"},
        behind("password-option", "passwords behind -p of programs that log in", R"(\s-p)",
            R"((\b(?:sshpass|(?:docker|podman|helm|skopeo|apptainer|az)\b[^\n]*?\slogin\b[^\n]*?|mysql\w*\b[^\n]*?)\s)"
            R"(-p[\s=]*)([^\s<"'-][^\s"'<]*))",
            "man pages of sshpass, docker and mysql"),
    };
}

std::vector<RuleText> pairs()
{
    const std::string words = R"((?:pass|pwd|secret|token|key|cred|auth|jwt|\bpat\b|dsn))";
    const auto key = R"((?:(?:api|access|secret|private|account|auth|client|session) )?[\w.-]*)" + words + R"([\w.-]*)";
    // An escaped quote ends where the next one begins; any other may hold escaped ones.
    const std::string quoted = R"((\\+["'])([^"'\\<]+)|([bru]?")((?:[^"\\]|\\.)+)|([bru]?')((?:[^'\\]|\\.)+))";
    // Behind a comma goes on what is no next name: a,b but not a,b=c.
    const std::string bare = R"(([^\s"'<>,;&]*[^\s"'<>,;&)}\]\\](?:[,;&][^\s"'<>,;&=:)}\]\\]+)*))";
    const std::string as = R"(\1\2\3\5\7<secret>)";
    const std::string docs = "the names of secrets, as gitleaks, detect-secrets and trufflehog know them";
    const auto pair = [&](std::string id, std::string what, const std::string& pattern) {
        return RuleText {std::move(id), std::move(what), "(?i)" + words, "(?i)" + pattern, as, &Counts::secrets, docs,
            &isSecretPair};
    };
    return {
        // Unquoted, of several words, and alone in its line.
        {"phrase", "password: several words", "(?i)pass",
            "(?i)(" + front + R"(\s*(?:- )?[\w.-]*(?:password|passwd|passphrase))(:\s+)([^\s"'<{\[]+ [^<]+)$)",
            R"(\1\2<secret>)", &Counts::secrets, docs, &isSecretPair},
        pair("pair", "name=value, name: value, \"name\": \"value\", ('name', 'value')",
            "(" + key + R"()((?:\\*["']?\]?\s*(?:=>|:=|==?|:)|\\*["'],)\s*)(?:)" + quoted + "|" + bare + ")"),
        pair("option", "--name value, \"--name\", \"value\"",
            R"((--[\w.-]*)" + words + R"([\w.-]*)(\s+|\\*["'],\s*)(?:)" + quoted + R"(|([^\s"'<>-][^\s"'<>]*)))"),
        pair("setting", "setenv NAME value, ENV NAME value, config set name value",
            R"(\b((?:setx|setenv|ENV|configure set|config set)\s+[\w.-]*)" + words + R"([\w.-]*)(\s+)(?:)" + quoted
                + R"(|([^\s"'<>=]+)))"),
        {"element", "<name>value</name>", "</", R"((?i)(<[\w.-]*)" + words + R"([\w.-]*)(>)([^\s<"']+)</)",
            R"(\1\2<secret></)", &Counts::secrets, docs, &isSecretPair},
    };
}

std::vector<RuleText> people()
{
    const auto name = R"([\w.)" + letters + "-]";
    const auto user = "[_" + letters + "]" + name;
    const auto row = [](std::string id, std::string what, std::string hint, std::string pattern, std::string with,
                         bool (*holds)(RuleGroups) = nullptr) {
        return RuleText {std::move(id), std::move(what), std::move(hint), std::move(pattern), std::move(with),
            &Counts::users, "observed in logs", holds};
    };
    return {
        // Not `out@x.view(`, which is Python.
        {"email", "e-mail addresses", "@",
            R"([\w+)" + letters + R"(-][\w.+)" + letters
                + R"(-]+@[\w-]+(?:\.[\w-]+)*\.(?:[a-z]{2,}|[A-Z]{2,})([^\w(]|$))",
            R"(<email>\1)", &Counts::emails, "RFC 5322"},
        row("user-at-address", "user@10.0.0.1", "@", user + "*@" + ipv4, "<user>@<ip>"),
        row("user-at-host", "user@host", "@", user + R"(+@[A-Za-z][\w-]{2,}\b)", "<user>@<host>"),
        row("prompt", "user@host:~$ of a shell", "@", user + R"(*@[A-Za-z][\w-]*(:[~/]))", R"(<user>@<host>\1)"),
        row("logged-in", "logged in as USER", "(?i)logged in as",
            "(?i)(logged in as:? )" + name + R"(+(?: \()" + name + R"(+\))?)", R"(\1<user>)"),
        row("wandb-user", "wandb.ai/USER", R"(wandb\.ai/)", R"(((?:^|//|[\s"'(])wandb\.ai/))" + name + "+",
            R"(\1<user>)"),
        row("id", "uid=1000(USER), as id prints it", R"([ug]id=\d)", R"((\b[eu]?[ug]id=\d+\()[^)\s<]+)", R"(\1<user>)"),
        row("groups", "groups=1000(USER), as id prints them", "groups=", R"(((?:groups=|,)\d+\()[^)\s<]+)",
            R"(\1<user>)"),
        row("listing", "owner and group in ls -l", "[-dlbcps][r-][w-][xsStT-][r-][w-]",
            "(" + front + R"([-dlbcps](?:[r-][w-][xsStT-]){3}[.+@]?\s+\d+\s+)[^\s<]+(\s+)[^\s<]+)",
            R"(\1<user>\2<user>)"),
    };
}

/// A group and its members often lie one below the other: /gpfs/scratch/GROUP/USER.
RuleText below(RuleText storage, std::string id)
{
    storage.id = std::move(id);
    storage.what = "the folder below, where it may be a login";
    storage.pattern = R"((<user>/)([a-z][a-z0-9]{2,11})(/))";
    return storage;
}

std::vector<RuleText> folders()
{
    const auto home = [](std::string id, std::string what, std::string hint, std::string pattern, std::string with) {
        return RuleText {std::move(id), std::move(what), std::move(hint), std::move(pattern), std::move(with),
            &Counts::homes, "the file system hierarchy of each system"};
    };
    const std::string between =
        R"((?:/(?:u|[a-z]|home|users?|people|staff|students?|work\d*|projects?(?:_\d+)?|proj|groups?|teams?|\d+)"
        R"(|shared?|scratch\d*|vol\d*|fs\w?\d*|p\d+|nvme\d*|ssd\d*|data\d*))*/)";
    const RuleText storage {"storage", "/fsx/USER and below the other roots of cluster storage",
        "/(?:fsx|gpfs|lustre|beegfs|nfs|weka|vast|ceph|panfs|efs|\\w*scratch|\\w*work\\d*/)",
        R"((/(?:fsx|gpfs|lustre|beegfs|nfs|weka\w*|vast|cephfs|ceph|panfs|efs|\w*scratch|work)\d*)" + between + ")("
            + folderName + ")(/|\\b|$)",
        R"(\1<user>\3)", &Counts::users, "docs of HPC centres and AWS ParallelCluster", &isPersonsFolder};
    return {
        // A Windows user name may hold spaces, so it ends at the next separator where there is one.
        home("windows-home", "homes of Windows", R"((?i):[\\/]+users)",
            R"((?i)\b[A-Z]:[\\/]+Users[\\/]+(?:[^\\/:*?"<>|\r\n]+([\\/])|[^\s\\/:*?"<>|]+))", R"(<home>\1)"),
        home("home", "/home/USER wherever it lies", "/(?:[a-z]*home|[Uu]sers?)",
            R"((?:/[\w.-]+)*?/(?:(?:link|net|nfs|gpfs|export|cluster)?home\d*|homes|Users|users|user/[a-z])/)"
                + folderName,
            "<home>"),
        storage,
        below(storage, "storage-below"),
        below(storage, "storage-deeper"),
        home("root", "/root", "/root", R"((^|[\s"'`=:,;(\[{>])/root(/|$|[\s"'`:,;)\]}]))", R"(\1<home>\2)"),
        home("tilde", "~USER", "~", R"((^|[\s"'`=:(])~[)" + letters + R"(][\w.)" + letters + R"(-]*(/|$|[\s"'`:)]))",
            R"(\1<home>\2)"),
        {"user-variable", "USER=, LOGNAME=, DB_USERNAME= and SLURM_JOB_USER=", "USER|LOGNAME|SLURM_",
            R"(\b((?:\w*USER(?:NAME)?|LOGNAME|SLURM_\w*ACCOUNT))" + is + R"()[^\s"',;<>\\]+)", R"(\1<user>)",
            &Counts::users, "POSIX, Slurm docs: environment variables"},
        {"user-field", "\"user\": \"USER\", username=USER", "(?i)user|logname|owner",
            R"((?i)((?:\\*["'](?:user|owner|logname)\\*["']\s*:|\b\w*user_?name\\*["']?\s*[:=]|\buser=)\s*\\*["']?)([^\s"',;<>()\\]+))",
            R"(\1<user>)", &Counts::users, "observed in logs", &isPerson},
        home("slurm-folder", "folders of a Slurm job", "SLURM_",
            R"(\b(SLURM_\w*(?:DIR|FILE|COMMAND))" + is + R"()/[^\s"',;<>]+)", R"(\1<home>)"),
    };
}

std::vector<RuleText> launchers()
{
    const auto row = [](std::string id, std::string what, std::string hint, std::string pattern, std::string with) {
        return RuleText {std::move(id), std::move(what), std::move(hint), std::move(pattern), std::move(with),
            &Counts::hosts, "messages of torchrun, NCCL, Slurm, MPI and syslog"};
    };
    const std::string host = R"([A-Za-z][\w.\[\],-]*)";
    return {
        row("host-variable", "hostname=HOST, MASTER_ADDR=HOST, SLURM_NODELIST=HOSTS",
            "(?i)host|nodename|nodelist|master_addr|rdzv_endpoint|slurm",
            R"((?i)\b((?:[A-Z_]*host(?:name|s|list)?|[A-Z_]*nodename|[A-Z_]*nodelist|master_addr|rdzv_endpoint)"
            R"(|SLURM_\w*(?:ADDR|ALIASES))\\*["']?\s*[=:]\s*\\*["']?))"
                + host,
            R"(\1<host>)"),
        row("host-option", "--master-addr HOST and the like", "(?i)--(?:master|rdzv|local|host|node)",
            R"((?i)(--(?:master[-_]addr|rdzv[-_]endpoint|local[-_]addr|hostname|host|hosts|node-?list)(?:\s*=\s*|\s+)["']?))"
                + host,
            R"(\1<host>)"),
        row("mpi-hosts", "mpirun -H HOSTS, srun -w HOSTS", "mpi|horovod|srun",
            R"((\b(?:mpirun|mpiexec|horovodrun|srun)\b[^\n]*?\s(?:-H|-w)\s+)[A-Za-z][\w.,:\[\]-]*)", R"(\1<host>)"),
        row("ssh", "ssh HOST", "ssh|scp|rsync",
            R"(\b((?:ssh|scp|rsync)\s+(?:-[A-Za-z]*[bcDEeFIiJLlmOopQRSWw]\s+\S+\s+|-\S+\s+)*)[A-Za-z][\w.-]*\d[\w.-]*)",
            R"(\1<host>)"),
        row("world-info", "the hosts of a DeepSpeed launch, as base64", "--world_info", R"((--world_info[= ])[^\s<]+)",
            R"(\1<host>)"),
        row("torchrun-node", "The node 'HOST_41234_0'", "The node '", R"((The node ')[\w.-]+?(_\d+_\d+'))",
            R"(\1<host>\2)"),
        row("connection", "connected to HOST:29500", "connect|listen|server started|addresses of",
            R"(((?:connect(?:ed)? to|listen(?:ing)? on|server started on|addresses of) [\[(]?)[A-Za-z][\w.-]*(\]?:\d+|\]|, ?\d+\)))",
            R"(\1<host>\2)"),
        row("slurm-message", "JOB 7 ON HOST CANCELLED, srun: error: HOST: task 0", "srun: |slurmstepd|slurmd",
            R"(((?:JOB|STEP) \S+ ON |(?:srun|slurmstepd|slurmd)(?:-\S+)?: error: (?:Node )?)[a-z][\w.\[\],-]*\d[\w.\[\],-]*)",
            R"(\1<host>)"),
        row("nccl-line", "HOST:411:502 [0] NCCL INFO", "NCCL",
            "(" + front + R"((?:\[?[a-z]+\d*\]?:)?)[A-Za-z][\w.-]*(:\d+:\d+ \[\d+\] NCCL))", R"(\1<host>\2)"),
        row("syslog-line", "Nov 21 04:12:58 HOST", R"((?:^|\s)[A-Z][a-z]{2} [ \d]\d \d\d:)",
            "(" + front + R"((?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d )[\w.-]+ )",
            R"(\1<host> )"),
        row("journal-line", "2026-11-21T04:13:16+00:00 HOST program:", R"((?:^|\s)\d{4}-\d\d-\d\dT)",
            "(" + front + R"(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d) )[A-Za-z][\w.-]*( [\w./-]+(?:\[\d+\])?:))",
            R"(\1<host>\2)"),
        row("node-line", "node-12: at the front of a line",
            R"((?:^|\s)\[?(?:node|dgx|hgx|compute|host|login|ip-|nid|cn))",
            "(" + front
                + R"(\[?)(?:(?:node|dgx|hgx|compute|host|login)-?[a-z]*-?\d[\w.-]*|ip-\d[\w.-]*|(?:nid|cn)\d[\w.-]*)(:\d+\]|\]|: ))",
            R"(\1<host>\2)"),
    };
}

std::vector<RuleText> hosts()
{
    const auto row = [](std::string id, std::string what, std::string hint, std::string pattern, std::string with,
                         bool (*holds)(RuleGroups) = nullptr) {
        return RuleText {std::move(id), std::move(what), std::move(hint), std::move(pattern), std::move(with),
            &Counts::hosts, "RFC 1123, RFC 3986, docs of Slurm and AWS", holds};
    };
    return {
        row("host-url", "tcp://HOST and the like", "://", R"(((?:tcp|ssh|file|nccl|gloo)://)[A-Za-z][\w.-]*)",
            R"(\1<host>)"),
        row("share", "\\\\HOST\\share", R"(\\\\)", R"((^|[\s"'=(])\\\\[A-Za-z][\w.-]*(\\))", R"(\1\\\\<host>\2)"),
        row("tfevents", "HOST in the name of an event file", "tfevents", R"((tfevents\.\d+\.)[A-Za-z0-9][\w-]*)",
            R"(\1<host>)"),
        row("ec2", "ip-10-0-3-7.ec2.internal", R"(ip-\d)", R"(\bip-\d+-\d+-\d+-\d+\b[\w.-]*)", "<host>"),
        row("domain", "hosts with their domain", R"([A-Za-z0-9-]\.[A-Za-z0-9-]+\.[A-Za-z])",
            R"(\b([A-Za-z0-9](?:[A-Za-z0-9-]*\.[A-Za-z0-9])+[A-Za-z0-9-]*\.[A-Za-z]{2,8})(\.?(?:[^\w.-]|$)))",
            R"(<host>\2)", &isHostWithDomain),
        row("private-domain", "hosts of a domain that is no public one",
            R"(\.(?:local|internal|intra|lan|cluster|corp|hpc))",
            R"(\b[A-Za-z0-9][\w-]*(?:\.[\w-]+)*\.(?:local|localdomain|internal|intra|lan|cluster|corp|hpc)\b)",
            "<host>", &isNoModule),
        row("node-list", "gpu[01-16]", R"(\w\[\d+[-,])", R"(\b([A-Za-z][\w-]*)(\[\d+(?:[-,]\d+)+\]))", "<host>",
            &isNodeList),
    };
}

std::vector<RuleText> addresses()
{
    const auto row = [](std::string id, std::string what, std::string hint, std::string pattern, std::string with) {
        return RuleText {std::move(id), std::move(what), std::move(hint), std::move(pattern), std::move(with),
            &Counts::addresses, "RFC 791, RFC 4291"};
    };
    const std::string hint = R"(\d\.\d+\.\d+\.\d)";
    return {
        row("address-variable", "MASTER_ADDR=10.1.2.3", hint,
            R"((?i)\b([\w-]*(?:addr|address|host|ip|endpoint|server|peer|node|url)\s*=\s*["']?))" + ipv4, R"(\1<ip>)"),
        row("address-port", "=10.1.2.3:29500", hint, R"(([=/]["']?))" + ipv4 + R"((:\d))", R"(\1<ip>\2)"),
        // Package versions such as cudnn 9.1.0.70 have four parts too: after =, - or / it is one of them.
        row("address", "10.1.2.3", hint, R"((^|//|[^\w.=+~/-]))" + ipv4, R"(\1<ip>)"),
        row("address6", "fe80::1", "[0-9A-Fa-f]*:[0-9A-Fa-f]*:",
            R"(\b(?:(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}|(?:fe80|f[cd][0-9a-f]{2}|[23][0-9a-f]{3}):[0-9a-f:]*:[0-9a-f:]*[0-9a-f]))",
            "<ip>"),
    };
}

std::deque<RedactionRule> compiled()
{
    std::deque<RedactionRule> rules;
    for (auto& text : ruleTexts()) {
        rules.emplace_back(std::move(text));
    }
    return rules;
}

std::unique_ptr<RE2::Set> hints()
{
    auto set = std::make_unique<RE2::Set>(RE2::DefaultOptions, RE2::UNANCHORED);
    for (const auto& rule : redactionRules()) {
        set->Add(rule.text.hint.empty() ? rule.text.pattern : rule.text.hint, nullptr);
    }
    return set->Compile() ? std::move(set) : nullptr;
}

} // namespace

std::vector<RuleText> ruleTexts()
{
    std::vector<RuleText> rules;
    for (const auto part : {keyBlocks, cloudKeys, forgeKeys, modelKeys, serviceKeys, webSecrets, pairs, people, folders,
             launchers, hosts, addresses}) {
        std::ranges::move(part(), std::back_inserter(rules));
    }
    return rules;
}

const std::deque<RedactionRule>& redactionRules()
{
    static const auto rules = compiled();
    return rules;
}

std::vector<int> rulesThatMayMatch(const std::string& line)
{
    static const auto set = hints();
    std::vector<int> which;
    RE2::Set::ErrorInfo error {};
    if (set && (set->Match(line, &which, &error) || error.kind == RE2::Set::kNoError)) {
        std::ranges::sort(which);
        return which;
    }
    which.resize(redactionRules().size());
    std::iota(which.begin(), which.end(), 0);
    return which;
}

} // namespace nanscope::report
