// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Whatever happens to files between imports, what an import once took is still there afterwards, and no oftener than
// somebody wrote it (docs/decisions/0010).
#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/ingest/ingest.h"
#include "core/session/session.h"
#include "core/tensorfile/tensorfile.h"
#include "tests/core/ingest/logfolder.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {
namespace {

namespace fs = std::filesystem;

using Lines = std::vector<int>; ///< the loss of each step from 0 on; no two that were ever written are equal

/// A folder whose files change at random, and what an importer of it must know.
class World
{
public:
    explicit World(unsigned seed)
        : m_random(seed)
        , m_run(m_folder / "run")
    {
        fs::create_directories(m_run);
        auto session = session::Session::open(m_folder / "s.nanscope", session::OpenMode::create);
        EXPECT_TRUE(session);
        m_session.emplace(std::move(*session));
    }

    void change()
    {
        using Change = void (World::*)();
        constexpr Change changes[] = {&World::append, &World::append, &World::append, &World::truncate, &World::empty,
            &World::copyTruncate, &World::rotate, &World::renameLog, &World::copyLog, &World::overwrite,
            &World::overwriteSameLength, &World::removeLog, &World::dump, &World::dump, &World::renameCapture,
            &World::copyCapture, &World::removeCapture};
        (this->*changes[below(std::size(changes))])();
    }

    void import()
    {
        m_told += " | import";
        const auto run = ingest::importRun(m_run, *m_session);
        ASSERT_TRUE(run) << sentence(run.error()) << m_told;
        for (const auto& [name, lines] : m_logs) {
            m_taken.insert(lines.begin(), lines.end());
        }
        checkLogs();
        checkCaptures();
    }

    const std::string& told() const { return m_told; }

private:
    std::size_t below(std::size_t end) { return static_cast<std::size_t>(m_random() % end); }

    template <class Map>
    std::string anyOf(const Map& files, const std::string& otherwise)
    {
        return files.empty() ? otherwise
                             : std::next(files.begin(), static_cast<std::ptrdiff_t>(below(files.size())))->first;
    }

    std::string anyName(const char* ending)
    {
        return fmt::format("{}{}{}", below(3) == 0 ? "sub/" : "", static_cast<char>('a' + below(4)), ending);
    }

    void tell(const std::string& word) { m_told += " | " + word; }

    Lines newLines(std::size_t count)
    {
        Lines lines;
        for (std::size_t i = 0; i < count; ++i) {
            lines.push_back(m_nextValue++);
        }
        return lines;
    }

    static std::string textOf(const Lines& lines, std::size_t from = 0)
    {
        std::string text;
        for (auto step = from; step < lines.size(); ++step) {
            text += fmt::format("Step {}: train_loss={:06}.5000, grad_norm=0.2500\n", step, lines[step]);
        }
        return text;
    }

    fs::path at(const std::string& name) const
    {
        fs::create_directories((m_run / name).parent_path());
        return m_run / name;
    }

    /// In place: the inode stays.
    void write(const std::string& name, const Lines& lines)
    {
        std::ofstream(at(name), std::ios::binary | std::ios::trunc) << textOf(lines);
        m_logs[name] = lines;
    }

    void append()
    {
        const auto name = below(3) == 0 ? anyName(".log") : anyOf(m_logs, "a.log");
        tell("append " + name);
        auto& lines = m_logs[name];
        const auto from = lines.size();
        const auto more = newLines(1 + below(40));
        lines.insert(lines.end(), more.begin(), more.end());
        std::ofstream(at(name), std::ios::binary | std::ios::app) << textOf(lines, from);
    }

    void truncate()
    {
        const auto name = anyOf(m_logs, "a.log");
        auto lines = m_logs[name];
        lines.resize(below(lines.size() + 1));
        tell(fmt::format("cut {} to {}", name, lines.size()));
        for (const int value : lines) {
            ++m_writtenAgain[value];
        }
        if (below(2) == 0) {
            const auto more = newLines(1 + below(9));
            lines.insert(lines.end(), more.begin(), more.end());
        }
        write(name, lines);
    }

    void empty()
    {
        const auto name = anyOf(m_logs, "a.log");
        tell("empty " + name);
        write(name, {});
    }

    void shiftRotated(const std::string& name)
    {
        if (m_logs.contains(name + ".1")) {
            moveFile(m_logs, name + ".1", name + ".2");
        }
    }

    void copyTruncate()
    {
        const auto name = anyOf(m_logs, "a.log");
        tell("copytruncate " + name);
        const auto lines = m_logs[name];
        shiftRotated(name);
        write(name + ".1", lines);
        write(name, newLines(below(6)));
    }

    void rotate()
    {
        const auto name = anyOf(m_logs, "a.log");
        tell("rotate " + name);
        if (m_logs.contains(name)) {
            shiftRotated(name);
            moveFile(m_logs, name, name + ".1");
        }
        write(name, newLines(below(6)));
    }

    template <class Map>
    void moveFile(Map& files, const std::string& from, const std::string& to)
    {
        if (from != to && files.contains(from)) {
            fs::rename(at(from), at(to));
            files[to] = files[from];
            files.erase(from);
        }
    }

    void renameLog()
    {
        const auto from = anyOf(m_logs, "a.log");
        const auto to = anyName(".log");
        tell("rename " + from + " " + to);
        moveFile(m_logs, from, to);
    }

    void copyLog()
    {
        const auto from = anyOf(m_logs, "a.log");
        const auto to = anyName(".log");
        tell("copy " + from + " " + to);
        if (from != to && m_logs.contains(from)) {
            const auto lines = m_logs[from];
            for (const int value : lines) {
                ++m_writtenAgain[value];
            }
            write(to, lines);
        }
    }

    void overwrite()
    {
        const auto name = anyOf(m_logs, "a.log");
        tell("overwrite " + name);
        write(name, newLines(1 + below(20)));
    }

    void overwriteSameLength()
    {
        const auto name = anyOf(m_logs, "a.log");
        tell("overwrite with as much " + name);
        write(name, newLines(m_logs[name].size()));
    }

    void removeLog()
    {
        const auto name = anyOf(m_logs, "a.log");
        tell("remove " + name);
        fs::remove(at(name));
        m_logs.erase(name);
    }

    void dump()
    {
        const auto name = anyName(".pt");
        tell("dump " + name);
        const auto fill = static_cast<float>(m_nextValue++);
        ASSERT_TRUE(tensorfile::writePt(at(name), {{"input", smallMatrix("input", fill)}, {"epsilon", 1e-7}}));
        m_captures[name] = fill;
    }

    void renameCapture()
    {
        const auto from = anyOf(m_captures, "a.pt");
        const auto to = anyName(".pt");
        tell("rename " + from + " " + to);
        moveFile(m_captures, from, to);
    }

    void copyCapture()
    {
        const auto from = anyOf(m_captures, "a.pt");
        const auto to = anyName(".pt");
        tell("copy " + from + " " + to);
        if (from != to && m_captures.contains(from)) {
            fs::copy_file(at(from), at(to), fs::copy_options::overwrite_existing);
            m_captures[to] = m_captures[from];
        }
    }

    void removeCapture()
    {
        const auto name = anyOf(m_captures, "a.pt");
        tell("remove " + name);
        fs::remove(at(name));
        m_captures.erase(name);
    }

    static void count(const LogRecords& records, std::map<int, int>& counts)
    {
        for (const auto& series : records.series) {
            for (const auto& point : series.points) {
                counts[static_cast<int>(point.value)] += series.name == "loss" ? 1 : 0;
            }
        }
    }

    void checkLogs()
    {
        const auto run = m_session->load();
        ASSERT_TRUE(run);
        std::map<int, int> counts;
        count(*run, counts);
        for (const auto& log : run->replaced) {
            count(log.records, counts);
        }
        for (const int value : m_taken) {
            EXPECT_GE(counts[value], 1) << value << " is lost:" << m_told;
            EXPECT_LE(counts[value], 1 + m_writtenAgain[value]) << value << " is there too often:" << m_told;
        }
        std::map<std::string, Lines> sources;
        for (const auto& series : run->series) {
            for (const auto& point : series.points) {
                if (series.name == "loss") {
                    sources[series.source].push_back(static_cast<int>(point.value));
                }
            }
        }
        for (const auto& [name, lines] : m_logs) {
            const auto tellsIt = [&lines = lines](const auto& source) { return source.second == lines; };
            EXPECT_TRUE(lines.empty() || sources[name] == lines || std::ranges::any_of(sources, tellsIt))
                << "what " << name << " holds is not what the session tells of it:" << m_told;
        }
    }

    /// The first keeps its place while it is there; else the first of the others has it.
    void checkCaptures()
    {
        for (auto& [fill, place] : m_places) {
            const auto found = m_captures.find(place);
            if (found == m_captures.end() || found->second != fill) {
                place.clear();
            }
        }
        for (const auto& [name, fill] : m_captures) {
            auto& place = m_places[fill];
            place = place.empty() ? name : place;
        }
        const auto run = m_session->summary();
        ASSERT_TRUE(run);
        std::map<float, std::string> places;
        for (const auto& capture : run->captures) {
            const auto fill = static_cast<float>(capture.input.total().absmax);
            EXPECT_TRUE(places.emplace(fill, fs::path(capture.path).lexically_relative(m_run).string()).second);
        }
        for (const auto& [fill, place] : m_places) {
            ASSERT_TRUE(places.contains(fill)) << "capture " << fill << " is lost:" << m_told;
            if (!place.empty()) {
                EXPECT_EQ(places[fill], place) << "capture " << fill << m_told;
            }
        }
    }

    TemporaryFolder m_folder;
    std::mt19937_64 m_random;
    fs::path m_run;
    std::optional<session::Session> m_session;
    std::map<std::string, Lines> m_logs;
    std::map<std::string, float> m_captures;
    std::map<float, std::string> m_places; ///< of every capture that was ever imported; empty where no file holds it
    std::set<int> m_taken; ///< values that were on disk at an import
    std::map<int, int> m_writtenAgain; ///< copies of a line that were made, and cuts that left it
    int m_nextValue = 1;
    std::string m_told;
};

TEST(NothingImported, IsEverLostOrToldTwice)
{
    constexpr unsigned worlds = 60;
    for (unsigned seed = 1; seed <= worlds && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        World world(seed);
        constexpr int rounds = 8;
        for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
            for (int changes = (round + static_cast<int>(seed)) % 4; changes > 0; --changes) {
                world.change();
            }
            world.import();
        }
    }
}

} // namespace
} // namespace nanscope
