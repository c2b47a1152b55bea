// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What `nanscope doctor` says of the worker, and how it has one built, with a script in the place of ./bootstrap.
#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::EndsWith;
using ::testing::HasSubstr;
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

    /// Of doctor's answer, where this script is the worker.
    nlohmann::ordered_json withWorker(const std::string& script) const
    {
        writeScript(m_folder / "worker", script);
        const auto done = run({"doctor", "--json"}, "NANSCOPE_WORKER='" + (m_folder / "worker") + "'");
        EXPECT_EQ(done.status, 0) << done.err;
        return done.json();
    }

    /// `nanscope doctor` as a package installs it below `prefix`, with what `bootstrap` does in the place of its
    /// sources.
    Finished runInstalled(const std::string& bootstrap, const std::vector<std::string>& more) const
    {
        const fs::path prefix = m_folder / "prefix";
        const auto source = prefix / "share/nanscope/source";
        fs::create_directories(prefix / "bin");
        fs::create_directories(source / "core/rpc");
        fs::copy_file(NANSCOPE_PROGRAM, prefix / "bin/nanscope", fs::copy_options::overwrite_existing);
        writeText((source / "core/rpc/client.h").string(), "");
        writeScript((source / "bootstrap").string(), bootstrap);
        std::vector<std::string> arguments {"doctor", "--build-worker"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run(arguments, "sh -c 'shift; exec \"" + (prefix / "bin/nanscope").string() + "\" \"$@\"' sh");
    }

    WorkFolder m_folder;
};

constexpr auto* honest =
    R"(echo '{"nanscope":"VERSION","torch":"2.11.0","devices":[{"name":"cuda:0","hardware":"NVIDIA H100"}],"notes":["slow"]}')";

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
    const auto none = run({"doctor", "--json"}, "NANSCOPE_WORKER='" + (m_folder / "nowhere") + "'").json();
    EXPECT_THAT(none["missing"]["worker"].get<std::string>(), StartsWith("NANSCOPE_WORKER names a file that is not"));
}

TEST_F(Doctor, HasTheWorkerBuiltFromWhatThePackageCarries)
{
    const auto done = runInstalled("echo \"$0\"; echo \"$@\"; exit 7", {"--torch-python", "/opt/python"});
    EXPECT_EQ(done.status, 7) << done.err;
    const auto lines = done.out;
    EXPECT_THAT(lines, HasSubstr("/nanscope/worker/source/bootstrap\nworker /"));
    EXPECT_THAT(lines, EndsWith("/nanscope/worker --torch-python /opt/python\n"));
}

TEST_F(Doctor, FindsTheWorkerItHadBuilt)
{
    // The user data folder of run() ends with the run: building and asking are one.
    const auto script =
        "mkdir -p \"$2\"; printf '#!/bin/sh\\necho it is asked: $1 >&2; exit 3\\n' >\"$2/nanscope-worker\"; "
        "chmod +x \"$2/nanscope-worker\"; cd /; exec '"
        + (m_folder / "prefix/bin/nanscope") + "' doctor";
    const auto done = runInstalled(script, {});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("the worker ended with status 3 (\"it is asked: env\")"));
    EXPECT_THAT(done.out, HasSubstr("/nanscope/worker/nanscope-worker)"));
}

TEST_F(Doctor, SaysWhereTheSourcesAreMissing)
{
    const fs::path prefix = m_folder / "bare/bin";
    fs::create_directories(prefix);
    fs::copy_file(NANSCOPE_PROGRAM, prefix / "nanscope");
    const auto done =
        run({"doctor", "--build-worker"}, "sh -c 'shift; exec \"" + (prefix / "nanscope").string() + "\" \"$@\"' sh");
    EXPECT_EQ(done.status, 4);
    EXPECT_THAT(done.err, StartsWith("The sources of the worker are not beside this program"));
}
