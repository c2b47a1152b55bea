// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/capturenames.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace nanscope {

namespace {

namespace fs = std::filesystem;

std::string_view fileOf(std::string_view path)
{
    return path.substr(path.rfind('/') + 1);
}

bool endsIn(std::string_view path, std::string_view end)
{
    const bool tail = path.ends_with(end);
    return tail && (path.size() == end.size() || path[path.size() - end.size() - 1] == '/');
}

/// "c", "b/c", "/a/b/c" of "/a/b/c".
std::vector<std::string_view> endsOf(std::string_view path)
{
    std::vector<std::string_view> ends;
    for (auto slash = path.rfind('/'); slash != path.npos;
         slash = slash == 0 ? path.npos : path.rfind('/', slash - 1)) {
        ends.push_back(path.substr(slash + 1));
    }
    ends.push_back(path);
    return ends;
}

class Names
{
public:
    explicit Names(const std::vector<CaptureName>& all)
    {
        for (const auto& one : all) {
            ++m_names[one.name];
            m_taken.insert(one.name);
            for (const auto end : endsOf(one.path)) {
                ++m_ends[end];
            }
        }
    }

    bool meansOnly(const CaptureName& one) const
    {
        const auto found = m_ends.find(one.name);
        return m_names.at(one.name) == 1
            && (found == m_ends.end() ? 0 : found->second) == (endsIn(one.path, one.name) ? 1 : 0);
    }

    std::string take(const CaptureName& one)
    {
        const auto file = fileOf(one.path);
        for (const auto end : endsOf(one.path)) {
            if (end != file && m_ends.at(end) == 1 && m_taken.emplace(end).second) {
                return std::string(end);
            }
        }
        for (int number = 1;; ++number) {
            auto name = std::string(file) + '#' + std::to_string(number);
            if (m_taken.insert(name).second) {
                return name;
            }
        }
    }

private:
    std::unordered_map<std::string_view, int> m_ends; ///< how many paths end so
    std::unordered_map<std::string, int> m_names; ///< how many had it to begin with
    std::unordered_set<std::string> m_taken;
};

using CapturesByFile = std::unordered_map<std::string, std::vector<Capture*>>;

CapturesByFile byFile(std::vector<Capture>& captures)
{
    CapturesByFile files;
    for (auto& capture : captures) {
        files[fs::path(capture.path).filename().string()].push_back(&capture);
    }
    return files;
}

/// The path around a file name in a line, as far as nothing parts it from what stands before.
std::string_view pathAround(std::string_view line, std::string_view file)
{
    const auto at = line.rfind(file);
    if (at == line.npos) {
        return file;
    }
    const auto before = at == 0 ? line.npos : line.find_last_of(" \t'\"`=:,;()[]<>", at - 1);
    const auto begin = before == line.npos ? 0 : before + 1;
    return line.substr(begin, at + file.size() - begin);
}

/// How many parts two paths have in common at their end.
int commonParts(std::string_view a, std::string_view b)
{
    int parts = 0;
    for (; !a.empty() && !b.empty() && fileOf(a) == fileOf(b); ++parts) {
        a = a.substr(0, a.size() - std::min(a.size(), fileOf(a).size() + 1));
        b = b.substr(0, b.size() - std::min(b.size(), fileOf(b).size() + 1));
    }
    return parts;
}

const Capture* onlyOne(const std::vector<const Capture*>& list)
{
    return list.size() == 1 ? list.front() : nullptr;
}

const Capture* meantBy(const Event& event, const std::vector<Capture*>& alike)
{
    const auto written = pathAround(event.text, event.capture);
    int most = 0;
    std::vector<const Capture*> nearest;
    for (const Capture* capture : alike) {
        const auto parts = commonParts(written, fs::path(capture->path).generic_string());
        if (parts > most) {
            nearest.clear();
            most = parts;
        }
        if (parts == most) {
            nearest.push_back(capture);
        }
    }
    if (nearest.size() > 1 && event.rank) {
        std::erase_if(nearest, [&](const Capture* capture) { return capture->rank != event.rank; });
    }
    return onlyOne(nearest);
}

void nameEventsOf(LogRecords& records, const CapturesByFile& files)
{
    for (auto& event : records.events) {
        const auto alike =
            event.kind == EventKind::captureDumped && !event.capture.empty() ? files.find(event.capture) : files.end();
        if (alike == files.end() || alike->second.front()->file == event.capture) {
            continue;
        }
        if (const auto* meant = meantBy(event, alike->second)) {
            event.capture = meant->file;
        }
    }
}

} // namespace

void tellApart(std::vector<CaptureName>& sameFile)
{
    if (sameFile.size() < 2) {
        return;
    }
    Names names(sameFile);
    for (auto& one : sameFile) {
        if (!names.meansOnly(one)) {
            one.name = names.take(one);
        }
    }
}

void nameCaptures(std::vector<Capture>& captures)
{
    for (const auto& [file, alike] : byFile(captures)) {
        std::vector<CaptureName> names;
        for (const auto* capture : alike) {
            names.push_back({capture->file, fs::path(capture->path).generic_string()});
        }
        tellApart(names);
        for (std::size_t i = 0; i < alike.size(); ++i) {
            alike[i]->file = std::move(names[i].name);
        }
    }
}

void nameEvents(RunData& run)
{
    const auto files = byFile(run.captures);
    nameEventsOf(run, files);
    for (auto& log : run.replaced) {
        nameEventsOf(log.records, files);
    }
}

std::vector<const Capture*> capturesCalled(const RunData& run, std::string_view wanted)
{
    const auto plain = fs::path(wanted).lexically_normal().generic_string();
    std::vector<const Capture*> there;
    std::vector<const Capture*> called;
    for (const auto& capture : run.captures) {
        const auto path = fs::path(capture.path).generic_string();
        if (capture.path == wanted || path == plain) {
            there.push_back(&capture);
        } else if (capture.file == wanted || capture.file == plain || endsIn(path, plain)) {
            called.push_back(&capture);
        }
    }
    return there.empty() ? called : there;
}

} // namespace nanscope
