// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What `nanscope doctor` says of the worker, and how it has one built, with a script in the place of ./bootstrap.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

namespace fs = std::filesystem;

namespace {

class Doctor : public ::testing::Test
{
protected:
    void writeScript(const std::string& path, const std::string& script) const
    {
        writeText(path, "#!/bin/sh\n" + script + "\n");
        fs::permissions(path, fs::perms::owner_all);
    }

    fs::path prefix() const { return fs::path(m_folder / "prefix"); }

    /// `nanscope doctor` of a program below prefix().
    Finished runInstalled(const std::vector<std::string>& more, const std::string& before = {}) const
    {
        fs::create_directories(prefix() / "bin");
        fs::copy_file(NANSCOPE_PROGRAM, prefix() / "bin/nanscope", fs::copy_options::overwrite_existing);
        std::vector<std::string> arguments {"doctor"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const auto program = (prefix() / "bin/nanscope").string();
        return run(arguments, before + " sh -c 'shift; exec \"" + program + "\" \"$@\"' sh");
    }

    /// Doctor's answer where this script is the worker beside it.
    nlohmann::ordered_json withWorker(const std::string& script) const
    {
        fs::create_directories(prefix() / "bin");
        writeScript((prefix() / "bin/nanscope-worker").string(), script);
        const auto done = runInstalled({"--json"});
        EXPECT_EQ(done.status, 0) << done.err;
        return done.json();
    }

    /// What a package puts below prefix(), with `bootstrap` in the place of ours.
    fs::path writeSource(const std::string& bootstrap) const
    {
        auto source = prefix() / "share/nanscope/source";
        fs::create_directories(source / "core/rpc");
        writeText((source / "core/rpc/client.h").string(), "");
        writeScript((source / "bootstrap").string(), bootstrap);
        return source;
    }

    WorkFolder m_folder;
};

constexpr auto* honest =
    R"(echo '{"nanscope":"VERSION","torch":"2.11.0","devices":[{"name":"cuda:0","hardware":"NVIDIA H100"}],"notes":["slow"]}')";

/// Root without what lets it write to read-only folders; for others nothing.
std::string asAnyUser()
{
    return ::geteuid() == 0 ? "setpriv --bounding-set=-all --inh-caps=-all" : "";
}

bool mayWriteAnywhere()
{
    const WorkFolder folder;
    fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
    const auto command = asAnyUser() + " touch '" + folder / "x" + "' 2>/dev/null";
    const bool written = std::system(command.c_str()) == 0;
    const bool usable = std::system((asAnyUser() + " true 2>/dev/null").c_str()) == 0;
    fs::permissions(folder.path(), fs::perms::owner_all);
    return written || !usable;
}

std::string honestOf(const std::string& version)
{
    return std::string(honest).replace(std::string(honest).find("VERSION"), std::string("VERSION").size(), version);
}

} // namespace

TEST_F(Doctor, AsksTheWorkerWhatItHas)
{
    const auto own = run({"--version"}).out.substr(std::string("nanscope ").size());
    const auto answer = withWorker(honestOf(own.substr(0, own.find('\n'))));
    EXPECT_THAT(answer["replay"]["worker"].get<std::string>(), StartsWith("torch 2.11.0, cuda:0 NVIDIA H100; slow ("));
    EXPECT_FALSE(answer["missing"].contains("worker"));
}

TEST_F(Doctor, NamesTheRemedyForAWorkerThatIsOfNoUse)
{
    EXPECT_THAT(withWorker(honestOf("0.0.1"))["missing"]["worker"].get<std::string>(),
        StartsWith("it is of Nanscope 0.0.1, build it again: nanscope doctor --build-worker"));
    const auto lost = withWorker("echo 'libtorch.so: cannot open shared object file' >&2; exit 127");
    EXPECT_THAT(lost["replay"]["worker"].get<std::string>(),
        StartsWith("the worker ended with status 127 (\"libtorch.so: cannot open shared object file\") ("));
    EXPECT_THAT(lost["missing"]["worker"].get<std::string>(), StartsWith("build it again for a torch that is there"));
    EXPECT_THAT(withWorker("echo hello")["missing"]["worker"].get<std::string>(), StartsWith("build it again"));
    for (const auto* named : {"NANSCOPE_WORKER=/bin/false", "NANSCOPE_WORKER=/nowhere"}) {
        EXPECT_THAT(run({"doctor", "--json"}, named).json()["missing"]["worker"].get<std::string>(),
            StartsWith("NANSCOPE_WORKER names it"))
            << "which goes before every one that is built";
    }
    EXPECT_THAT(runInstalled({}, "NANSCOPE_WORKER=").out, Not(HasSubstr("NANSCOPE_WORKER names"))) << "an empty one";
}

TEST_F(Doctor, HasTheWorkerBuiltFromWhatThePackageCarries)
{
    const auto source = writeSource("echo \"$0\"; echo \"$@\"; exit 7");
    // As a store of packages has them: nobody may write there.
    for (const auto* folder : {"core/rpc", "core", "."}) {
        fs::permissions(source / folder, fs::perms::owner_read | fs::perms::owner_exec);
    }
    if (mayWriteAnywhere()) {
        GTEST_SKIP() << "root writes to read-only folders, and there is no setpriv that takes that from it";
    }
    const auto done = runInstalled({"--build-worker", "--torch-python", "/opt/python"}, asAnyUser());
    EXPECT_EQ(done.status, 7) << done.err;
    EXPECT_THAT(done.out, HasSubstr("/nanscope/worker/source/bootstrap\nworker /"));
    EXPECT_THAT(done.out, EndsWith("/nanscope/worker --torch-python /opt/python\n"));
    fs::permissions(source, fs::perms::owner_all);
}

TEST_F(Doctor, ReplacesTheWorkerThatGoesFirst)
{
    const auto source = writeSource("echo \"$@\"; ls \"$(dirname \"$0\")\"");
    writeText((source / "notes.txt").string(), "nothing that is built");
    fs::create_directories(prefix() / "bin");
    writeScript((prefix() / "bin/nanscope-worker").string(), "exit 1");
    const auto done = runInstalled({"--build-worker"});
    EXPECT_THAT(done.out, StartsWith("worker " + fs::canonical(prefix() / "bin").string() + "\n"))
        << "one elsewhere would not be started";
    EXPECT_THAT(done.out, Not(HasSubstr("notes.txt")));
}

TEST_F(Doctor, FindsTheWorkerItHadBuilt)
{
    // The user data folder of run() ends with the run: building and asking are one.
    writeSource("mkdir -p \"$2\"; printf '#!/bin/sh\\necho it is asked: $1 >&2; exit 3\\n' >\"$2/nanscope-worker\"; "
                "chmod +x \"$2/nanscope-worker\"; cd /; exec '"
        + (prefix() / "bin/nanscope").string() + "' doctor");
    const auto done = runInstalled({"--build-worker"});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("the worker ended with status 3 (\"it is asked: env\")"));
    EXPECT_THAT(done.out, HasSubstr("/nanscope/worker/nanscope-worker)"));
}

TEST_F(Doctor, SaysWhatKeepsItFromBuilding)
{
    const auto without = runInstalled({"--build-worker"});
    EXPECT_EQ(without.status, 4);
    EXPECT_THAT(without.err, StartsWith("The sources of the worker are not beside this program"));
    EXPECT_EQ(runInstalled({"--torch-python", "/opt/python"}).status, 2);
    const auto source = writeSource("echo built");
    fs::create_symlink("/nowhere", source / "core/rpc/dangling");
    EXPECT_EQ(runInstalled({"--build-worker"}).out, "built\n") << "a link is copied as one";
    fs::create_directories(source / "gpu");
    ASSERT_EQ(::mkfifo((source / "gpu/pipe").c_str(), 0600), 0);
    const auto part = runInstalled({"--build-worker"});
    EXPECT_EQ(part.status, 4) << "what is not whole is not run";
    EXPECT_THAT(part.err, StartsWith("The sources of the worker cannot be copied"));
    EXPECT_EQ(part.out, "");
}
