// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/redact/redactwords.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "core/base/text.h"

namespace nanscope::report {

namespace {

using WordSet = std::set<std::string, std::less<>>;

// Folders of everybody's, and accounts of machines.
const WordSet& commonNames()
{
    static const WordSet names {"admin", "anaconda", "app", "apps", "apptainer", "archive", "artifacts", "backup",
        "bench", "benchmarks", "bin", "build", "cache", "caches", "checkpoint", "checkpoints", "ckpt", "ckpts", "code",
        "common", "conda", "configs", "container", "containers", "corpora", "corpus", "data", "dataset", "datasets",
        "default", "dev", "docker", "env", "envs", "eval", "evals", "exp", "experiment", "experiments", "exps", "files",
        "finetune", "global", "group", "groups", "hf", "home", "homes", "hub", "huggingface", "images", "input",
        "inputs", "jobs", "jovyan", "lib", "local", "log", "logs", "megatron", "miniconda", "mnt", "model", "models",
        "modules", "nobody", "opt", "out", "output", "outputs", "pip", "pretrain", "project", "projects", "proj",
        "public", "python", "release", "repo", "repos", "results", "root", "run", "runner", "runs", "samples",
        "scratch", "scripts", "shared", "singularity", "slurm", "snapshots", "software", "spack", "src", "staff",
        "step", "tensorboard", "test", "tests", "tmp", "temp", "tokenized", "tokenizer", "tokenizers", "tools", "torch",
        "torchinductor", "train", "training", "triton", "ubuntu", "user", "users", "usr", "val", "var", "venv", "venvs",
        "wandb", "weights", "work", "workspace"};
    return names;
}

// In the place of a value, what is no secret.
const WordSet& plainValues()
{
    static const WordSet values {"accepted", "ask", "auto", "basic", "bearer", "bool", "default", "denied", "digest",
        "disabled", "empty", "enabled", "env", "environment", "error", "expired", "failed", "false", "found", "given",
        "hidden", "int", "invalid", "is", "kerberos", "loaded", "masked", "missing", "n/a", "na", "nil", "no", "none",
        "not", "null", "oauth", "off", "ok", "on", "optional", "redacted", "rejected", "required", "set", "str",
        "string", "sys", "true", "undefined", "unknown", "unset", "valid", "verified", "yes"};
    return values;
}

// Before "token": one of a model's, or counted.
const WordSet& modelTokens()
{
    static const WordSet words {"added", "assistant", "audio", "begin", "bos", "by", "chat", "class", "cls", "context",
        "cost", "decoder", "end", "eos", "extra", "fim", "first", "generated", "image", "input", "label", "last",
        "loss", "mask", "max", "media", "min", "new", "newline", "next", "num", "output", "pad", "padding", "per",
        "prefix", "previous", "prompt", "ref", "sample", "sep", "space", "special", "speech", "start", "stop", "suffix",
        "sync", "target", "think", "time", "tool", "unexpected", "unk", "unknown", "video", "vision"};
    return words;
}

// Before "key" or "token": one that opens something.
const WordSet& keyOwners()
{
    static const WordSet words {"access", "account", "admin", "anthropic", "api", "app", "auth", "aws", "azure", "bot",
        "client", "cohere", "comet", "csrf", "databricks", "deploy", "discord", "encryption", "gemini", "gh", "git",
        "github", "gitlab", "gl", "google", "groq", "hf", "hub", "hugging", "huggingface", "id", "jupyter", "jwt",
        "kaggle", "lambda", "license", "master", "mistral", "mlflow", "modal", "neptune", "ngc", "npm", "nvidia",
        "oauth", "openai", "personal", "private", "pypi", "refresh", "registry", "replicate", "runpod", "secret",
        "security", "service", "session", "shared", "signing", "slack", "ssh", "storage", "subscription", "telegram",
        "together", "user", "vault", "wandb", "xsrf"};
    return words;
}

enum class Kind { other, lower, upper, digit };

Kind kindOf(char character)
{
    const auto byte = static_cast<unsigned char>(character);
    return std::islower(byte) != 0 ? Kind::lower
        : std::isupper(byte) != 0  ? Kind::upper
        : std::isdigit(byte) != 0  ? Kind::digit
                                   : Kind::other;
}

std::size_t countOf(std::string_view text, Kind kind)
{
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [kind](char character) { return kindOf(character) == kind; }));
}

/// "WANDB_API_KEY", "wandb-api-key" and "wandbApiKey" have the same words.
std::vector<std::string> wordsOf(std::string_view name)
{
    std::vector<std::string> words {""};
    for (std::size_t i = 0; i < name.size(); ++i) {
        const auto kind = kindOf(name[i]);
        const auto before = i > 0 ? kindOf(name[i - 1]) : Kind::other;
        const bool camel = kind == Kind::upper
            && (before == Kind::lower
                || (before == Kind::upper && i + 1 < name.size() && kindOf(name[i + 1]) == Kind::lower));
        if ((kind == Kind::other || camel) && !words.back().empty()) {
            words.emplace_back();
        }
        if (kind == Kind::lower || kind == Kind::upper) {
            words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
        }
    }
    if (words.back().empty()) {
        words.pop_back();
    }
    return words;
}

enum class Tells { nothing, maybe, surely };

/// The last word names the thing: a token_file and a key_id are none.
Tells secretIn(std::string_view name)
{
    const auto words = wordsOf(name);
    if (words.empty()) {
        return Tells::nothing;
    }
    const auto& last = words.back();
    const auto before = words.size() > 1 ? words[words.size() - 2] : std::string {};
    const auto ends = [&last](std::string_view with) { return last.size() > with.size() && last.ends_with(with); };
    if (last == "token" && modelTokens().contains(before)) {
        return Tells::nothing;
    }
    constexpr std::array sure {"password", "passwd", "passphrase", "secret", "apikey", "accesskey", "secretkey",
        "privatekey", "authkey", "sshpass"};
    if (std::ranges::any_of(sure, [&](const char* word) { return last == word || ends(word); }) || ends("token")
        || last == "secrets" || ((last == "pass" || last == "pwd") && (before == "db" || before == "mysql"))) {
        return Tells::surely;
    }
    const bool variable = last == "token" && words.size() > 1 && countOf(name, Kind::lower) == 0;
    if (variable || ((last == "key" || last == "token") && keyOwners().contains(before))) {
        return Tells::surely;
    }
    constexpr std::array perhaps {
        "token", "pass", "pwd", "auth", "authorization", "credential", "credentials", "creds", "jwt", "pat", "dsn"};
    return std::ranges::any_of(perhaps, [&](const char* word) { return last == word; }) ? Tells::maybe : Tells::nothing;
}

std::string_view lastOf(RuleGroups groups)
{
    const auto found = std::find_if(groups.rbegin(), groups.rend(), [](const auto& group) { return !group.empty(); });
    return found == groups.rend() ? std::string_view {} : std::string_view(found->data(), found->size());
}

std::string_view group(RuleGroups groups, std::size_t number)
{
    return {groups[number].data(), groups[number].size()};
}

/// Of neighbours in a word, the share that are of different kinds: 0.6 of random letters and digits, 0.2 of names.
double changes(std::string_view text)
{
    std::size_t pairs = 0;
    std::size_t changed = 0;
    for (std::size_t i = 1; i < text.size(); ++i) {
        const auto a = kindOf(text[i - 1]);
        const auto b = kindOf(text[i]);
        if (a != Kind::other && b != Kind::other) {
            ++pairs;
            changed += a != b ? 1 : 0;
        }
    }
    return pairs == 0 ? 0 : static_cast<double>(changed) / static_cast<double>(pairs);
}

bool number(std::string_view text)
{
    return countOf(text, Kind::digit) > 0 && text.find_first_not_of("0123456789.,+-eE%_:") == std::string_view::npos;
}

bool plain(std::string_view value)
{
    const auto word = lowered(value.substr(0, value.find_last_not_of(".,:!?) ") + 1));
    const bool fill = std::ranges::all_of(word, [&word](char character) { return character == word.front(); });
    return word.empty() || fill || plainValues().contains(word) || word.starts_with('$') || word.starts_with('%')
        || std::string_view(",;:)").find(word.front()) != std::string_view::npos || word.starts_with("{")
        || word.starts_with("[") || word.starts_with("***") || word.starts_with("...");
}

re2::StringPiece piece(std::string_view text)
{
    return {text.data(), text.size()};
}

/// A name in a program rather than a value: password=args.password, token=get_token(), key=key.
bool ofAProgram(std::string_view name, std::string_view value)
{
    static const RE2 call(R"([a-z_.]+[(\[].*|.*(?:environ|getenv).*)");
    constexpr std::array telling {"token", "key", "password", "secret", "auth"};
    const auto word = lowered(value);
    const auto holds = [&word](const char* part) { return word.find(part) != std::string::npos; };
    const bool joined = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_.()[]") == std::string::npos
        && word.find_first_of("_.") != std::string::npos;
    return word == lowered(name) || word == wordsOf(name).back() || RE2::FullMatch(piece(word), call)
        || (joined && std::ranges::any_of(telling, holds));
}

bool placeholder(std::string_view value)
{
    return value.size() > 1 && value.front() == '<'
        && value.find_first_not_of("abcdefghijklmnopqrstuvwxyz_|/ -?", 1) == value.find('>');
}

bool mixed(std::string_view value)
{
    const auto digits = countOf(value, Kind::digit);
    const auto letters = countOf(value, Kind::lower) + countOf(value, Kind::upper);
    const bool path = value.starts_with('/') || value.starts_with("./") || value.starts_with("0x");
    return value.size() >= 8 && !path && !number(value)
        && ((digits >= 2 && letters >= 3) || (value.size() >= 16 && changes(value) > 0.3) || value.ends_with("="));
}

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

bool tellTaleSecret(std::string_view secret)
{
    return secret.size() >= 6 && secret.find('<') == std::string_view::npos && !number(secret)
        && (countOf(secret, Kind::lower) < secret.size()) && secret.find(' ') == std::string_view::npos;
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

bool alphanumeric(std::string_view text, std::size_t at)
{
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
}

bool insideWord(std::string_view text, std::size_t begin, std::size_t end)
{
    const auto word = [&text](
                          std::size_t at) { return at < text.size() && (alphanumeric(text, at) || text[at] == '_'); };
    return (begin > 0 && word(begin - 1)) || word(end);
}

/// "run-3" and "data2" are no more a person than "run" and "data".
bool namesAPerson(const std::string& name)
{
    const auto first = lowered(std::string_view(name).substr(0, name.find_first_of("-_.0123456789")));
    return name.size() >= 3 && name.find('<') == std::string::npos && !commonNames().contains(first)
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

bool isMixed(RuleGroups groups)
{
    return mixed(lastOf(groups));
}

bool isEncoded(RuleGroups groups)
{
    const auto value = lastOf(groups);
    return value.ends_with('=') || countOf(value, Kind::digit) > 0 || changes(value) > 0.3;
}

bool isSaid(RuleGroups groups)
{
    const auto value = lastOf(groups);
    return !plain(value) && !number(value);
}

bool isSecretPair(RuleGroups groups)
{
    const auto name = group(groups, 1);
    const auto tells = secretIn(name);
    const auto value = lastOf(groups.subspan(3));
    if (tells == Tells::nothing || plain(value) || placeholder(value) || ofAProgram(name, value)) {
        return false;
    }
    // A PIN, but no count of tokens.
    if (number(value)) {
        return tells == Tells::surely && lowered(name).find("pass") != std::string::npos && value.size() >= 4;
    }
    return tells == Tells::surely || mixed(value);
}

bool isPerson(RuleGroups groups)
{
    const std::string name(lastOf(groups));
    return namesAPerson(name) && !plain(name);
}

bool isPersonsFolder(RuleGroups groups)
{
    const std::string name(group(groups, 2));
    const bool file = name.find('.') != std::string::npos && group(groups, 3) != "/";
    return namesAPerson(name) && !file && !name.starts_with('.');
}

bool isNoModule(RuleGroups groups)
{
    static const WordSet packages {"torch", "threading", "sklearn", "scipy", "numpy", "jax", "tensorflow", "megatron",
        "deepspeed", "transformers", "self", "cls", "cupy", "triton", "werkzeug", "asyncio", "concurrent"};
    const auto whole = group(groups, 0);
    return !packages.contains(whole.substr(0, whole.find('.')));
}

/// The last two labels of hosts that everybody links to.
bool isPublicDomain(std::string_view domain)
{
    static const WordSet domains {"acm.org", "amd.com", "anaconda.com", "anaconda.org", "anthropic.com", "apache.org",
        "arxiv.org", "cmake.org", "comet.com", "debian.org", "deepspeed.ai", "discord.com", "docker.com", "docker.io",
        "doi.org", "gcr.io", "ghcr.io", "github.com", "github.io", "githubusercontent.com", "gitlab.com", "gnu.org",
        "google.com", "googleapis.com", "hf.co", "huggingface.co", "ieee.org", "intel.com", "kaggle.com", "kernel.org",
        "lightning.ai", "llvm.org", "microsoft.com", "mlflow.org", "mozilla.org", "neptune.ai", "numpy.org", "nvcr.io",
        "nvidia.com", "open-mpi.org", "openai.com", "oracle.com", "pypi.org", "python.org", "pythonhosted.org",
        "pytorch.org", "quay.io", "readthedocs.io", "readthedocs.org", "redhat.com", "schedmd.com", "scipy.org",
        "slack.com", "stackexchange.com", "stackoverflow.com", "tensorflow.org", "ubuntu.com", "w3.org", "wandb.ai",
        "wikipedia.org"};
    return domains.contains(domain);
}

/// Endings that are also attributes and files need a host's name in front.
bool isHostWithDomain(RuleGroups groups)
{
    static const WordSet sure {"com", "org", "edu", "gov", "mil", "int", "example", "cloud"};
    static const WordSet unsure {"net", "io", "ai", "dev", "app", "in", "is", "it", "at", "no", "us", "me", "be", "to"};
    static const WordSet countries {"ac", "ar", "au", "br", "ca", "ch", "cl", "cn", "cz", "de", "dk", "es", "eu", "fi",
        "fr", "gr", "hk", "hu", "ie", "il", "jp", "kr", "mx", "nl", "nz", "ru", "se", "sg", "si", "sk", "tr", "tw",
        "ua", "uk", "za"};
    static const WordSet seconds {"ac", "co", "edu", "gov", "org", "com", "re"};
    const auto host = group(groups, 1);
    const auto last = host.rfind('.');
    const auto ending = lowered(host.substr(last + 1));
    const auto second = host.rfind('.', last - 1);
    const auto first = host.substr(0, host.find('.'));
    if (isPublicDomain(lowered(host.substr(second + 1))) || !isNoModule(groups)) {
        return false;
    }
    const bool numbered = first.find_first_of("0123456789-") != std::string_view::npos;
    if (sure.contains(ending) || (numbered && unsure.contains(ending))) {
        return true;
    }
    // "train.en.de" is a file of a language pair.
    const auto middle = host.substr(second + 1, last - second - 1);
    return countries.contains(ending) && (middle.size() > 2 || seconds.contains(middle));
}

bool isNodeList(RuleGroups groups)
{
    static const WordSet counted {"batch", "chunk", "device", "devices", "dim", "epoch", "gpus", "head", "index",
        "layer", "layers", "part", "rank", "ranks", "shard", "shards", "slice", "split", "step", "steps", "tensor",
        "worker"};
    static const WordSet nodes {"gpu", "node", "nid", "cn", "dgx", "hgx", "compute", "host", "login"};
    const auto name = lowered(group(groups, 1));
    const auto word = name.substr(0, name.find_first_of("-_0123456789"));
    return !counted.contains(word)
        && (nodes.contains(word) || (group(groups, 2).starts_with("[0") && kindOf(group(groups, 2)[2]) == Kind::digit));
}

namespace {

bool ofAToken(char character)
{
    return kindOf(character) != Kind::other || std::string_view("+/_-").find(character) != std::string_view::npos;
}

double entropy(std::string_view text)
{
    std::array<int, 256> counts {};
    for (const auto character : text) {
        ++counts[static_cast<unsigned char>(character)];
    }
    double bits = 0;
    for (const auto count : counts) {
        if (count > 0) {
            const auto share = static_cast<double>(count) / static_cast<double>(text.size());
            bits -= share * std::log2(share);
        }
    }
    return bits;
}

std::size_t distinct(std::string_view text, bool (*of)(Kind))
{
    std::set<char> found;
    std::ranges::copy_if(
        text, std::inserter(found, found.end()), [of](char character) { return of(kindOf(character)); });
    return found.size();
}

std::vector<std::string_view> split(std::string_view text, const char* at)
{
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find_first_of(at, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

constexpr const char* signsOfBase64 = "+/_-=";

/// Small and large letters and digits without an order, inside the words: GPU-3f2a has them side by side.
bool mixesCases(std::string_view token)
{
    constexpr std::size_t least = 20;
    std::size_t both = 0;
    for (const auto word : split(token, signsOfBase64)) {
        both += countOf(word, Kind::lower) > 0 && countOf(word, Kind::upper) > 0 ? word.size() : 0;
    }
    return token.size() >= least && 2 * both > token.size() && (countOf(token, Kind::digit) > 0 || token.size() >= 32)
        && changes(token) >= 0.42 && entropy(token) >= 3.5;
}

/// One word of letters of one case, with digits among them.
bool mixesDigits(std::string_view token)
{
    constexpr std::size_t least = 24;
    return std::ranges::any_of(split(token, signsOfBase64), [](std::string_view word) {
        return word.size() >= least && changes(word) >= 0.25 && entropy(word) >= 3
            && distinct(word, [](Kind kind) { return kind == Kind::digit; }) >= 3
            && distinct(word, [](Kind kind) { return kind == Kind::lower || kind == Kind::upper; }) >= 5;
    });
}

/// A symbol of a compiler, a file, or what the words before it call a digest.
bool isExplained(std::string_view before, std::string_view token, std::string_view after)
{
    static const RE2 digest(
        R"((?i)sha-?\d|md5|hash|digest|checksum|fingerprint|crc|commit|revision|\brev\b|identity)"
        R"(|\brun.?id|\bml?runs|uuid|\b(?:head|tree|blob|raw)\b|version|\bbuild|data:[a-z/+]+;base64,)");
    static const RE2 file(R"(\.(?:a|bin|ckpt|cfg|cpp|csv|cu|cubin|gz|h|html|ipynb|json|log|md|nanscope|npz|o|pkl|png)"
                          R"(|pt|ptx|pth|py|safetensors|so|svg|toml|tsv|txt|wandb|whl|xz|yaml|yml|zip|zst)\b)");
    return token.starts_with("_Z") || RE2::PartialMatch(piece(token.substr(0, 7)), digest)
        || file.Match(piece(after), 0, after.size(), RE2::ANCHOR_START, nullptr, 0)
        || RE2::PartialMatch(piece(before), digest);
}

/// "/", "./" and "~" begin a path, in which nobody writes a key.
bool inAPath(std::string_view word)
{
    return (word.starts_with('/') && std::ranges::count(word, '/') > 1) || word.starts_with('.')
        || word.starts_with('~');
}

} // namespace

std::vector<std::string_view> randomLooking(std::string_view line)
{
    constexpr std::size_t context = 40;
    constexpr const char* aroundWords = " \t\"'`()[]{}<>,;|=:&?";
    std::vector<std::string_view> found;
    for (std::size_t at = 0; at < line.size();) {
        const auto begin = static_cast<std::size_t>(
            std::find_if(line.begin() + static_cast<std::ptrdiff_t>(at), line.end(), ofAToken) - line.begin());
        auto end = static_cast<std::size_t>(
            std::find_if_not(line.begin() + static_cast<std::ptrdiff_t>(begin), line.end(), ofAToken) - line.begin());
        at = end;
        if (end - begin < 20) {
            continue;
        }
        const auto wordBegin = begin == 0 ? 0 : line.find_last_of(aroundWords, begin - 1) + 1;
        const auto word = line.substr(wordBegin, end - wordBegin);
        const bool url = word.starts_with("//") || line.substr(0, wordBegin).ends_with("<host>");
        if (!url && inAPath(word)) {
            continue;
        }
        // Slashes are of base64, or between the parts of something else.
        const auto whole = line.substr(begin, end - begin);
        for (const auto part : split(whole, url || !mixesCases(whole) ? "/" : "")) {
            const auto from = static_cast<std::size_t>(part.data() - line.data());
            const auto before = line.substr(from - std::min(from, context), std::min(from, context));
            if ((mixesCases(part) || mixesDigits(part))
                && !isExplained(before, part, line.substr(from + part.size()))) {
                found.push_back(part);
            }
        }
    }
    return found;
}

} // namespace nanscope::report
