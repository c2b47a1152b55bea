// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Whatever a file, a session or a command line says, no command lets it steer a terminal, turn the direction of
// writing, hide, or begin a line of its own.
#include <cstdint>
#include <map>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <sqlite3.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

namespace {

/// OSC, CSI, C1, DEL, both kinds of bidirectional controls, a zero width, a line separator, a byte that is no UTF-8,
/// and a line of its own.
const std::string hostile = "h\x1b]0;owned\x07\x1b[2J\xc2\x9b"
                            "31m\x7f\xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xe2\x80\x8b\xe2\x80\xa8\xf3\xa0\x81\x81\xff"
                            "\nForged e";

std::uint32_t decoded(std::string_view text, std::size_t& length)
{
    const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto lead = at(0);
    length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    std::uint32_t value = length < 2 ? lead : lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((at(i) & 0xC0U) != 0x80U) {
            length = 0;
        }
        value = value << 6U | (at(i) & 0x3FU);
    }
    return value;
}

bool isForbidden(std::uint32_t character)
{
    const auto within = [character](std::uint32_t first, std::uint32_t last) {
        return character >= first && character <= last;
    };
    return (character < 0x20 && character != '\n' && character != '\t') || within(0x7F, 0x9F) || character == 0x61C
        || within(0x200B, 0x200F) || within(0x2028, 0x202E) || within(0x2060, 0x206F) || character == 0xFEFF
        || within(0xE0000, 0xE0FFF);
}

/// What in the text must not reach a terminal, with what stands around it; empty where nothing does.
std::string forbiddenIn(const std::string& text)
{
    for (std::size_t at = 0, length = 1; at < text.size(); at += length) {
        const auto character = decoded(std::string_view(text).substr(at), length);
        const bool forged = text.compare(at, 7, "\nForged") == 0 || text.compare(0, 6, "Forged") == 0;
        if (length == 0 || isForbidden(character) || forged) {
            std::ostringstream message;
            message << (forged ? "a forged line" : "a character") << " at " << at << " (" << std::hex << character
                    << ") in " << ::testing::PrintToString(text.substr(at - std::min<std::size_t>(at, 80), 160));
            return message.str();
        }
    }
    return {};
}

/// Writes into a session what the program itself never would.
void change(const std::string& session, const std::string& sql)
{
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(session.c_str(), &db), SQLITE_OK);
    sqlite3_stmt* statement = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr), SQLITE_OK) << sqlite3_errmsg(db) << sql;
    for (int i = 1; i <= sqlite3_bind_parameter_count(statement); ++i) {
        sqlite3_bind_text(statement, i, hostile.data(), static_cast<int>(hostile.size()), SQLITE_STATIC);
    }
    EXPECT_EQ(sqlite3_step(statement), SQLITE_DONE) << sqlite3_errmsg(db);
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

using Arguments = std::vector<std::string>;

class HostileText : public ::testing::Test
{
protected:
    void SetUp() override
    {
        fs::create_directories(m_run);
        fs::create_directories(m_folder / "out");
        makeRun();
        makeSession();
    }

    /// A capture without tensors, and the record of a run, as somebody wrote them who knows their keys.
    void writeHelpersFiles() const
    {
        const std::string bad = "h\x1b[2J\u202e\nForged e";
        const nlohmann::json tensor {{"dtype", "torch.float32"}, {"shape", {4, 6}}, {"missing", bad}};
        writeText(m_run + "/dion_nan_capture_rank0_shape4x6_pid1_1795234396390.json",
            nlohmann::json {{"schema", "nanscope.sidecar/1"}, {"reason", "a non-finite output"}, {"exception", bad},
                {"retries_skipped", bad}, {"controls", {bad}}, {"function", {{"module", bad}, {"qualname", bad}}},
                {"input", tensor}, {"output", tensor}}
                .dump());
        writeText(m_run + "/nanscope_run_rank0_pid1_1795234396390.json",
            nlohmann::json {{"schema", "nanscope.run/1"}, {"packages", {{"torch", bad}, {bad, bad}}},
                {"gpu", {{"name", bad}}}, {"launch", {{"argv", {bad}}}}}
                .dump());
        writeText(m_run + "/nanscope_run_rank1_pid1_1795234396390.json", nlohmann::json {{"schema", bad}}.dump());
    }

    void makeRun() const
    {
        const nanscope::Shape shape {4, 6};
        std::vector<std::byte> values(4 * 6 * 4);
        values[2] = std::byte {0xc0};
        values[3] = std::byte {0x7f}; // a NaN in front
        for (const auto* const name : {"/a", "/b"}) {
            const auto written = nanscope::tensorfile::writePt(m_run + name + hostile + ".pt",
                {{"input", nanscope::tensorfile::TensorToWrite {"input", nanscope::DType::float32, shape, values}},
                    {"output", nanscope::tensorfile::TensorToWrite {"output", nanscope::DType::float32, shape, values}},
                    {"rank", std::int64_t {0}}, {"dtype", hostile}, {"variant", hostile}, {hostile, hostile}});
            ASSERT_TRUE(written) << nanscope::sentence(written.error());
        }
        writeCapture(m_run + "/good" + hostile + ".pt");
        writeText(m_run + "/good" + hostile + ".json",
            nlohmann::json {{"variant", "h\x1b[2J\u202e"}, {"precision", "\u2066p"}, {"step", 1}}.dump());
        writeHelpersFiles();
        writeText(m_run + "/bad" + hostile + ".pt", hostile);
        writeArchive(m_run + "/opaque.pt", "c" + hostile.substr(0, hostile.find('\n')) + "\nname\n.");
        writeText(m_run + "/console" + hostile + ".log",
            "Step 0: train_loss=1.5, grad_norm=0.25, x" + hostile + "=1\nStep 1: train_loss=nan, grad_norm=inf\n"
                + "RuntimeError: " + hostile + "\nTraceback (most recent call last):\n  File \"" + hostile
                + "\", line 3, in f\nValueError: \u202e" + hostile + '\n');
        const auto column = "\"c" + hostile + '"';
        writeText(table(),
            "step," + column + ",\"d\x1b[2J\u202e" + std::string(1, '\0') + "\"\n1,2,3\n2,nan," + hostile.substr(0, 20)
                + "\n3,4,5\n");
        writeText(m_run + "/lines" + hostile + ".jsonl",
            nlohmann::json {{"step", 1}, {"m\x1b]0;x\x07\u202e\nForged", 2.5}}.dump() + "\n"
                + nlohmann::json {{"step", 2}, {"m\x1b]0;x\x07\u202e\nForged", 2.25}}.dump() + "\n");
        fs::create_directories(m_run + "/deep" + hostile);
        writeText(
            m_run + "/deep" + hostile + "/config.yaml", "lr: \"\\e[2J\\u202E\"\noptimizer: \"x\\u2066\\nForged\"\n");
    }

    void makeSession()
    {
        const auto done = run({"import", m_run, "--session", m_session});
        ASSERT_EQ(done.status, 3) << done.err;
        ASSERT_EQ(run({"sweep", m_session, "--variant", "keller-jordan", "--precision", "fp32"}).status % 3, 0);
        const auto* const cells =
            "UPDATE cells SET capture = ?, engine = ?, environment_device = ?, hardware = ?, error = ? WHERE id = 1";
        for (const auto* const sql : {"UPDATE facts SET value = ? WHERE name = 'run_name'",
                 "INSERT OR REPLACE INTO facts VALUES ('diagnosis', ?)", "UPDATE rejections SET reason = ?, path = ?",
                 "UPDATE series SET name = ?", "UPDATE events SET text = ?, capture = ?",
                 "UPDATE captures SET variant = ?", "UPDATE captures SET file = ? WHERE id = 1",
                 "UPDATE sources SET path = ? WHERE id = 1", "UPDATE settings SET name = ?, value = ?", cells,
                 "INSERT INTO checkpoints VALUES (NULL, NULL, 'found', 1, ?, ?, 1)",
                 "INSERT OR REPLACE INTO capture_parts VALUES (1, ?)", "INSERT INTO variants VALUES (?, ?)"}) {
            change(m_session, sql);
        }
    }

    std::string table() const { return m_run + "/t" + hostile + ".csv"; }
    std::string capture() const { return m_run + "/good" + hostile + ".pt"; }

    /// What each command is asked; one that is not in here fails the test below.
    std::map<std::string, std::vector<Arguments>> cases() const
    {
        const auto out = m_folder / "out";
        const auto& run = m_run;
        const auto& session = m_session;
        const auto good = capture();
        const auto damaged = run + "/a" + hostile + ".pt";
        const auto bad = run + "/bad" + hostile + ".pt";
        return {
            {"explain", {{good}, {damaged}, {bad}, {run + "/opaque.pt"}}},
            {"import", {{table()}, {run}, {run, "--map", "loss=c" + hostile}}},
            {"list",
                {{run}, {run, "series"}, {run, "events"}, {run, "runs"}, {session}, {session, "series"},
                    {session, "events"}, {session, "runs"}, {session, "cells"}, {run, hostile}}},
            {"inspect", {{good}, {damaged}, {bad}, {run, "--stitch"}, {run, "--stitch", "-o", out + "/whole.pt"}}},
            {"diff", {{good, damaged}, {run, session}, {table(), run}}},
            {"sweep",
                {{good, "--variant", "keller-jordan,gns-gram", "--precision", "fp32", "--gauges", "deep"},
                    {session, "--variant", "keller-jordan"}, {good, "--device", hostile}, {run, "--capture", hostile},
                    {good, "--impl", "python:" + hostile + ":f"}}},
            {"agree", {{good, "--variant", "keller-jordan"}, {hostile, "--variant", hostile}}},
            {"diagnose", {{run}, {session}, {good}, {run, "--ran", hostile}, {run, "--params", table()}}},
            {"whatif", {{"detector", run}, {"guard", run}, {"detector", session}, {"guard", session}}},
            {"measure",
                {{"repeat", good, "--variant", "keller-jordan", "-n", "2"}, {"scale", good, "--variant", hostile},
                    {"spectrum", good, "--variant", "keller-jordan"},
                    {"repeat", good, "--impl", "python:" + hostile + ":f"},
                    {"repeat", good, "--impl", "python:" + m_folder / "mine.py" + ":f", "-n", "2"},
                    {"repeat", good, "--impl", "python:" + hostile + ":f", "--show"}}},
            {"report",
                {{run, "-o", "-"}, {session, "-o", "-"}, {run, "-o", out + "/r" + hostile + ".md"},
                    {run, "-o", out + "/r.html", "-o", out + "/r.json", "--no-redact"},
                    {session, "-o", out + "/s.md", "-o", out + "/s.html", "-o", out + "/s.json"},
                    {run, "--bundle", out + "/bundle", "--with-capture"}, {session, "--bundle", out + "/session"},
                    {good, "--bundle", out + "/one", "--variant-file", bad}}},
            {"export",
                {{session, "--series", hostile}, {session, "--series", hostile, "--format", "jsonl"},
                    {run, "--series", "loss"}, {run, "--series", hostile}}},
            {"sql",
                {{session, "select * from captures"}, {session, "select * from rejections"},
                    {session, "select reason as \"" + hostile + "\" from rejections"}, {session, hostile},
                    {bad, "select 1"}}},
            {"capture", {{}}},
            {"doctor", {{}}},
            {"env", {{}}},
            {"serve", {{}}},
            {"watch",
                {{run, "--all", "--exec", "cat; echo \"$NANSCOPE_TEXT\" >&2; false"}, {run, "--until", hostile},
                    {good}}},
            {"spread",
                {{good, "--variant", "keller-jordan", "--op", "gram", "--iteration", "1", "--tile", "0,0"},
                    {damaged, "--like-dump"}, {good, "--variant", hostile, "--op", hostile}}},
        };
    }

    /// What goes in front of the program for its environment or its standard input to be hostile.
    std::string before(const std::string& command) const
    {
        const auto requests = m_folder / "requests";
        writeText(requests,
            nlohmann::json {{"id", 1}, {"do", "h\x1b[2J\u202e"}}.dump() + "\n" + hostile + "\n"
                + nlohmann::json {{"id", 2}, {"do", "run"}, {"capture", "\u202e\x9b"}, {"variant", "\u2066\x1b"}}.dump(
                    -1, ' ', true, nlohmann::json::error_handler_t::replace)
                + "\n");
        if (command == "serve") {
            return "cat '" + requests + "' |";
        }
        writeText(m_folder / "mine.py",
            "import sys\ndef f(x, eps):\n    sys.stderr.write('\\x1b[2J\\u202e\\nForged')\n"
            "    raise ValueError('\\x1b]0;x\\x07\\u202e\\nForged')\n");
        // One that watches does so until it is told to stop.
        const std::string ends = command == "watch" ? " timeout --preserve-status -k 60 -s INT 3" : "";
        return "NCCL_DEBUG=\"$(printf 'h\\033[2J\\342\\200\\256\\nForged')\" "
               "NANSCOPE_WORKER=\"$(printf 'w\\033[2J\\342\\200\\256\\nForged')\""
            + ends;
    }

    void expectHarmless(const std::string& command, Arguments arguments) const
    {
        arguments.insert(arguments.begin(), command);
        for (const auto& more : {Arguments {}, {"--json", "--log-level", "debug", "--progress", "jsonl"}}) {
            arguments.insert(arguments.end(), more.begin(), more.end());
            const auto done = run(arguments, before(command));
            const auto asked = ::testing::PrintToString(arguments);
            EXPECT_LT(done.status, 128) << asked;
            EXPECT_NE(done.status, 1) << asked << done.err;
            EXPECT_THAT(forbiddenIn(done.out), IsEmpty()) << "stdout of " << asked;
            EXPECT_THAT(forbiddenIn(done.err), IsEmpty()) << "stderr of " << asked;
        }
    }

    WorkFolder m_folder;
    std::string m_run = m_folder / ("run" + hostile);
    std::string m_session = m_folder / "s.nanscope";
};

std::set<std::string> commandsOfProgram()
{
    std::istringstream help(run({"--help"}).out);
    std::set<std::string> commands;
    bool listed = false;
    for (std::string line; std::getline(help, line);) {
        std::istringstream words(line);
        if (std::string word; listed && line.starts_with("  ") && words >> word) {
            commands.insert(word);
        }
        listed = listed || line.starts_with("Subcommands");
    }
    return commands;
}

} // namespace

TEST_F(HostileText, ReachesNoTerminalAndNoFileThroughAnyCommand)
{
    std::set<std::string> tried;
    for (const auto& [command, cases] : cases()) {
        tried.insert(command);
        for (const auto& arguments : cases) {
            expectHarmless(command, arguments);
        }
        expectHarmless(command, {hostile});
        expectHarmless(command, {"--" + hostile});
    }
    EXPECT_EQ(tried, commandsOfProgram()) << "every command has to be asked";
    std::size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(m_folder / "out")) {
        const auto name = entry.path().filename().string();
        const bool namedByUs = name.find(hostile) == std::string::npos;
        EXPECT_THAT(namedByUs ? forbiddenIn(name) : "", IsEmpty());
        const auto ending = entry.path().extension();
        if (entry.is_regular_file() && ending != ".pt" && ending != ".png") {
            ++files;
            EXPECT_THAT(forbiddenIn(contentsOf(entry.path())), IsEmpty()) << entry.path();
        }
    }
    EXPECT_GT(files, 16U);
}

TEST_F(HostileText, IsKeptForParsersOfJson)
{
    const auto answer = run({"sql", m_session, "select name from series limit 1", "--json"}).json();
    EXPECT_EQ(answer["rows"][0][0], hostile.substr(0, hostile.find('\xff')) + "\uFFFD\nForged e");
}
