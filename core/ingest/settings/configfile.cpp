// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/settings/configfile.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <re2/re2.h>

#include "core/base/text.h"
#include "core/base/try.h"
#include "core/ingest/log/logbuilder.h"
#include "core/ingest/settings/settingsink.h"
#include "core/ingest/text/consoletext.h"
#include "core/platform/platform.h"

namespace nanscope::ingest {

namespace {

constexpr std::uint64_t largestConfig = 1 << 20;

enum class Language { none, json, yaml, toml };

std::string nameOf(const std::string& relative)
{
    return lowered(relative.substr(relative.find_last_of('/') + 1));
}

Language languageOf(const std::string& name)
{
    if (name.ends_with(".json")) {
        return Language::json;
    }
    if (name.ends_with(".yaml") || name.ends_with(".yml")) {
        return Language::yaml;
    }
    return name.ends_with(".toml") ? Language::toml : Language::none;
}

/// Named so, it is a configuration or it is broken.
bool isClearlyMeant(const std::string& relative)
{
    static const RE2 name(
        R"((?:config|hparams|args|training_args|ds_config|params)\.(?:json|ya?ml|toml))", RE2::Latin1);
    return RE2::FullMatch(nameOf(relative), name);
}

Result<std::string> readConfig(const std::filesystem::path& path)
{
    auto file = TRY(platform::FileReader::open(path));
    std::string text(file.size() <= largestConfig ? file.size() : 0, '\0');
    TRY(file.readAt(0, std::as_writable_bytes(std::span(text))));
    TRY(refuseLfsPointer(text, path));
    return text;
}

bool startsWith(const std::string& name, std::string_view start)
{
    return name.compare(0, start.size(), start) == 0;
}

/// W&B's config.yaml wraps every value in {desc: .., value: ..} and adds notes of its own.
void unwrapWandb(std::vector<Setting>& settings)
{
    const bool wandb = std::any_of(settings.begin(), settings.end(),
        [](const Setting& setting) { return setting.name == "wandb_version" || startsWith(setting.name, "_wandb."); });
    if (!wandb) {
        return;
    }
    std::erase_if(settings, [](const Setting& setting) {
        return setting.name == "wandb_version" || startsWith(setting.name, "_wandb.")
            || setting.name.ends_with(".desc");
    });
    for (auto& setting : settings) {
        const auto dot = setting.name.find('.');
        if (dot != std::string::npos && setting.name.compare(dot, 6, ".value") == 0
            && (setting.name.size() == dot + 6 || setting.name[dot + 6] == '.')) {
            setting.name.erase(dot, 6);
        }
    }
}

Result<void> readAs(Language language, std::string_view text, SettingSink& sink)
{
    switch (language) {
    case Language::json:
        return readJsonSettings(text, sink);
    case Language::yaml:
        return readYamlSettings(text, sink);
    case Language::toml:
        return readTomlSettings(text, sink);
    default:
        return {};
    }
}

class ConfigFile : public LogSource
{
public:
    explicit ConfigFile(LogContents contents)
        : m_contents(std::move(contents))
    { }

    LogContents next(std::size_t, const CancelToken&) override
    {
        m_finished = true;
        return std::move(m_contents);
    }

    bool finished() const override { return m_finished; }
    bool resumable() const override { return false; }

private:
    LogContents m_contents;
    bool m_finished = false;
};

LogContents contentsOf(const std::string& text, const std::string& relative, std::vector<Setting> settings)
{
    LogBuilder builder(relative, placeOf(relative).rank, 0);
    for (auto& setting : settings) {
        setting.rank = setting.rank ? setting.rank : builder.fileRank();
        builder.setting(std::move(setting));
    }
    LogContents contents;
    builder.take(contents);
    if (!contents.settings.empty()) {
        contents.format = "config";
        contents.bytes = static_cast<std::int64_t>(text.size());
        contents.lines = std::count(text.begin(), text.end(), '\n');
    }
    return contents;
}

} // namespace

bool hasConfigName(const std::string& relative)
{
    static const RE2 json(R"((?:config|args|hparams|hyperparameters|params|training_args|wandb-metadata|job_config|)"
                          R"((?:.*[_-])?(?:train|model|ds|deepspeed|run|experiment)[_-]config(?:[_-].*)?)\.json)",
        RE2::Latin1);
    static const RE2 other(R"(.*(?:config|hparams|hyperparam|args|params).*\.(?:ya?ml|toml))", RE2::Latin1);
    static const RE2 toChooseFrom(
        R"((?:^|.*/)(?:configs|conf|examples?|recipes?|tests?|docs?|site-packages|node_modules)/.*)", RE2::Latin1);
    const auto name = nameOf(relative);
    return (RE2::FullMatch(name, json) || RE2::FullMatch(name, other)) && !RE2::FullMatch(relative, toChooseFrom);
}

bool isEnvironment(const std::filesystem::path& path)
{
    if (path.extension() != ".json") {
        return false;
    }
    const auto file = platform::FileReader::open(path);
    std::string head(file ? std::min<std::uint64_t>(file->size(), 200) : 0, '\0');
    return file && file->readAt(0, std::as_writable_bytes(std::span(head)))
        && head.find("\"nanscope.env/1\"") != std::string::npos;
}

std::unique_ptr<LogSource> settingsSource(
    const std::string& text, const std::string& relative, std::vector<Setting> settings)
{
    return std::make_unique<ConfigFile>(contentsOf(text, relative, std::move(settings)));
}

Result<std::unique_ptr<LogSource>> openConfig(const std::filesystem::path& path, const std::string& relative)
{
    const auto text = TRY(readConfig(path));
    std::string_view body = text;
    takePrefix(body, byteOrderMark);
    SettingSink sink;
    if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        return std::make_unique<ConfigFile>(LogContents {});
    }
    if (const auto read = readAs(languageOf(nameOf(relative)), body, sink); !read) {
        if (isClearlyMeant(relative)) {
            return failure(ErrorKind::format, "the configuration is " + read.error().what, path.string());
        }
        return std::make_unique<ConfigFile>(LogContents {});
    }
    auto settings = sink.take();
    unwrapWandb(settings);
    return settingsSource(text, relative, std::move(settings));
}

} // namespace nanscope::ingest
