// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Jobs of nanscope sweep --job, with processes of nanscope-worker as srun and torchrun start them.
#include <csignal>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "core/platform/childprocess.h"
#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace {

using nanscope::platform::ChildProcess;
using SortedJson = nlohmann::json;

/// One that nobody listens at just now.
int freePort()
{
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), size), 0);
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    ::close(socket);
    return ntohs(address.sin_port);
}

/// What the replays say, without how long they took.
std::vector<SortedJson> resultsOf(const Finished& finished)
{
    std::vector<SortedJson> cells;
    const SortedJson answer = finished.json();
    for (auto cell : answer["cells"]) {
        cell.erase("seconds");
        cells.push_back(std::move(cell));
    }
    return cells;
}

class ScaleOut : public ::testing::Test
{
protected:
    static void SetUpTestSuite()
    {
        if (std::string(NANSCOPE_WORKER_PROGRAM).empty()) {
            GTEST_SKIP() << "nanscope-worker is not built";
        }
    }

    void SetUp() override
    {
        for (int i = 0; i < 6; ++i) {
            writeCapture(m_folder / ("capture" + std::to_string(i) + ".pt"), {64 + 8 * i, 96});
        }
    }

    /// Makes the job, or gathers what there is of it.
    Finished sweep(const std::string& job, const std::vector<std::string>& more = {}) const
    {
        std::vector<std::string> arguments {"sweep", m_folder.path().string(), "--json", "--variant",
            "torch-muon,gns-gram,keller-jordan,dion-ns5", "--job", m_folder / job, "--nodes", "2", "--processes", "2"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run(arguments);
    }

    /// As srun starts a process, at a store that rank 0 keeps.
    ChildProcess start(const std::string& job, int rank, int processes, int port) const
    {
        return start({"join", m_folder / job, "--silence", "5"}, rank, processes, port);
    }

    static ChildProcess start(const std::vector<std::string>& arguments, int rank, int processes, int port,
        const std::string& productsOfMkl = "AUTO", const std::string& idFile = "/dev/null")
    {
        // A shell says which process it becomes.
        std::vector<std::string> words {"-c", "echo $$ >\"$0\"; exec \"$@\"", idFile, NANSCOPE_WORKER_PROGRAM};
        words.insert(words.end(), arguments.begin(), arguments.end());
        auto process = ChildProcess::start({"/bin/sh", words,
            {{"MKL_CBWR", productsOfMkl}, {"RANK", std::to_string(rank)}, {"WORLD_SIZE", std::to_string(processes)},
                {"LOCAL_RANK", std::to_string(rank)}, {"MASTER_ADDR", "127.0.0.1"},
                {"MASTER_PORT", std::to_string(port)}, {"OMP_NUM_THREADS", "1"}}});
        if (!process) {
            throw std::runtime_error(process.error().what);
        }
        return std::move(*process);
    }

    /// The same, of a process that is sent signals.
    ChildProcess startNamed(const std::string& job, int rank, int processes, int port) const
    {
        return start({"join", m_folder / job, "--silence", "5"}, rank, processes, port, "AUTO", m_folder / "id");
    }

    void sendNamed(int signal) const
    {
        pid_t id = 0;
        std::ifstream(m_folder / "id") >> id;
        ASSERT_GT(id, 0);
        EXPECT_EQ(::kill(id, signal), 0);
    }

    /// What a process said at its end.
    static SortedJson said(ChildProcess& process)
    {
        std::string line;
        const auto got = process.readLine(line, ChildProcess::Clock::now() + 240s);
        return got && *got == ChildProcess::Got::line ? SortedJson::parse(line, nullptr, false) : SortedJson::object();
    }

    std::size_t blocksIn(const std::string& job, int rank) const
    {
        std::ifstream log(m_folder / (job + "/part-0000" + std::to_string(rank) + ".jsonl"));
        std::string line;
        std::size_t blocks = 0;
        while (std::getline(log, line)) {
            blocks += line.find("\"cells\"") != std::string::npos ? 1 : 0;
        }
        return blocks;
    }

    void waitForBlocks(const std::string& job, int rank, std::size_t blocks) const
    {
        for (int i = 0; i < 1200 && blocksIn(job, rank) < blocks; ++i) {
            std::this_thread::sleep_for(50ms);
        }
    }

    WorkFolder m_folder;
};

TEST_F(ScaleOut, GivesTheSameWithFourProcessesAsWithOne)
{
    EXPECT_EQ(sweep("one").status, 0);
    auto alone = start("one", 0, 1, freePort());
    const auto cells = said(alone)["cells"];
    EXPECT_EQ(sweep("four").status, 0);
    const int port = freePort();
    std::vector<ChildProcess> processes;
    for (int rank = 0; rank < 4; ++rank) {
        processes.push_back(start("four", rank, 4, port));
    }
    int sum = 0;
    for (auto& process : processes) {
        sum += said(process).value("cells", 0);
    }
    EXPECT_GE(sum, cells.get<int>()) << "a cell may be replayed twice";
    const auto one = sweep("one");
    const auto four = sweep("four");
    EXPECT_EQ(one.status, 0);
    EXPECT_EQ(four.status, 0);
    EXPECT_EQ(four.json()["job"]["missing"], 0);
    EXPECT_THAT(four.json()["job"]["parts"], SizeIs(4));
    EXPECT_TRUE(resultsOf(four) == resultsOf(one));
    EXPECT_THAT(resultsOf(four), SizeIs(cells.get<std::size_t>()));
}

TEST_F(ScaleOut, DoesWithoutAProcessThatIsKilled)
{
    EXPECT_EQ(sweep("job").status, 0);
    const int port = freePort();
    std::vector<ChildProcess> processes;
    for (int rank = 0; rank < 4; ++rank) {
        processes.push_back(start("job", rank, 4, port));
    }
    waitForBlocks("job", 3, 2);
    EXPECT_THAT(processes[3].kill(), HasSubstr("killed"));
    for (int rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(said(processes[static_cast<std::size_t>(rank)]).value("failed", -1), 0) << rank;
    }
    const auto gathered = sweep("job");
    EXPECT_EQ(gathered.status, 0);
    EXPECT_EQ(gathered.json()["job"]["missing"], 0);
    EXPECT_GE(blocksIn("job", 3), 2U);
}

TEST_F(ScaleOut, GoesOnAfterTheProcessThatKeepsTheStoreWasKilled)
{
    EXPECT_EQ(sweep("job").status, 0);
    int port = freePort();
    auto keeper = start("job", 0, 2, port);
    auto other = start("job", 1, 2, port);
    waitForBlocks("job", 1, 2);
    keeper.kill();
    EXPECT_THAT(said(other).value("error", std::string()), HasSubstr("does not answer any more"));
    const auto half = sweep("job");
    EXPECT_EQ(half.status, 3);
    EXPECT_GT(half.json()["job"]["missing"], 0);
    EXPECT_THAT(half.json()["cells"], ::testing::Not(IsEmpty()));
    const auto before = blocksIn("job", 0) + blocksIn("job", 1);

    auto alone = start("job", 0, 1, freePort());
    const auto blocks = said(alone).value("blocks", std::size_t {0});
    EXPECT_EQ(sweep("job").json()["job"]["missing"], 0);
    EXPECT_EQ(before + blocks, blocksIn("job", 0) + blocksIn("job", 1));
    EXPECT_GT(before, 0U);
}

TEST_F(ScaleOut, DoesNotWaitForAStoreThatHangs)
{
    EXPECT_EQ(sweep("job").status, 0);
    const int port = freePort();
    auto keeper = startNamed("job", 0, 2, port);
    auto other = start("job", 1, 2, port);
    waitForBlocks("job", 1, 1);
    sendNamed(SIGSTOP);
    const auto said = this->said(other).value("error", std::string());
    keeper.kill();
    EXPECT_THAT(said, HasSubstr("does not answer any more"));
    EXPECT_THAT(said, HasSubstr("no answer within 5 s"));
    EXPECT_THAT(sweep("job").json()["cells"], ::testing::Not(IsEmpty()));
}

TEST_F(ScaleOut, StopsWhileItWaitsForItsStore)
{
    EXPECT_EQ(sweep("job").status, 0);
    auto process = startNamed("job", 1, 2, freePort());
    std::this_thread::sleep_for(3s);
    sendNamed(SIGTERM);
    EXPECT_THAT(said(process).value("error", std::string()), HasSubstr("while it waited for the store"));
}

TEST_F(ScaleOut, RunsUnderTorchrun)
{
    const std::string python = NANSCOPE_PYTHON;
    if (!std::filesystem::exists(python)) {
        GTEST_SKIP() << "there is no Python with torch";
    }
    EXPECT_EQ(sweep("job").status, 0);
    auto torchrun = ChildProcess::start({python,
        {"-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--max-restarts", "1", "--no-python",
            NANSCOPE_WORKER_PROGRAM, "join", m_folder / "job"},
        {}});
    ASSERT_TRUE(torchrun);
    int blocks = 0;
    for (int process = 0; process < 2; ++process) {
        blocks += said(*torchrun).value("blocks", 0);
    }
    EXPECT_GT(blocks, 0);
    EXPECT_EQ(sweep("job").json()["job"]["missing"], 0);
}

TEST_F(ScaleOut, KeepsTheCellsInTheSession)
{
    const auto session = m_folder / "run.nanscope";
    const auto made = sweep("job", {"--session", session});
    EXPECT_EQ(made.status, 0);
    const auto before = std::filesystem::file_size(session);
    auto alone = start("job", 0, 1, freePort());
    EXPECT_GT(said(alone).value("cells", 0), 0);
    const auto gathered = sweep("job", {"--session", session});
    EXPECT_EQ(gathered.status, 0);
    const auto rows =
        run({"sql", session, "SELECT count(*) AS n, count(DISTINCT capture) AS captures FROM cells", "--json"});
    EXPECT_EQ(rows.json()["rows"][0][0], std::to_string(gathered.json()["cells"].size()));
    EXPECT_EQ(rows.json()["rows"][0][1], "6");
    const auto ops = run({"sql", session, "SELECT count(*) AS n FROM op_tiles", "--json"});
    EXPECT_NE(ops.json()["rows"][0][0], "0");
    const auto grown = static_cast<double>(std::filesystem::file_size(session) - before);
    EXPECT_NEAR(made.json()["job"]["bytes"].get<double>() / grown, 1, 0.3) << "said before it starts";
    EXPECT_GT(made.json()["job"]["bytes_free"].get<double>(), 0);
}

/// A run with births, downstream captures and a log, judged by the processes of a job.
class SharedDiagnosis : public ScaleOut
{
protected:
    void SetUp() override
    {
        std::filesystem::copy(NANSCOPE_SAMPLE, run(), std::filesystem::copy_options::recursive);
        for (int i = 0; i < 8; ++i) {
            MadeCapture birth {96 + 16 * i, 160};
            birth.nanOutput = true;
            writeCapture(run() + "/birth" + std::to_string(i) + ".pt", birth);
        }
    }

    std::string run() const { return m_folder / "run"; }

    Finished diagnose(const std::string& job, const std::vector<std::string>& more = {}) const
    {
        std::vector<std::string> arguments {
            "diagnose", run(), "--json", "--job", m_folder / job, "--nodes", "2", "--processes", "2"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return nanscope::testing::run(arguments);
    }

    /// What one process says.
    SortedJson alone(const std::vector<std::string>& more = {}) const
    {
        std::vector<std::string> arguments {"diagnose", run(), "--json", "--session", m_folder / "alone.nanscope"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return nanscope::testing::run(arguments).json();
    }

    static SortedJson withoutJob(const Finished& finished)
    {
        SortedJson answer = finished.json();
        answer.erase("job");
        return answer;
    }
};

TEST_F(SharedDiagnosis, SaysOfFourProcessesOfWhichOneIsKilledWhatOneSays)
{
    const auto made = diagnose("job");
    EXPECT_EQ(made.status, 0) << made.err;
    const SortedJson job = made.json()["job"];
    EXPECT_EQ(job["missing"], job["captures"]);
    EXPECT_THAT(job["torchrun"].get<std::string>(), HasSubstr("--no-python"));
    EXPECT_THAT(job["srun"].get<std::string>(), HasSubstr(" join "));
    EXPECT_THAT(made.json()["headline"].get<std::string>(), HasSubstr("not all judged"));

    const int port = freePort();
    std::vector<ChildProcess> processes;
    for (int rank = 0; rank < 4; ++rank) {
        processes.push_back(start("job", rank, 4, port));
    }
    waitForBlocks("job", 3, 1);
    EXPECT_THAT(processes[3].kill(), HasSubstr("killed"));
    const auto half = diagnose("job");
    EXPECT_EQ(half.status, half.json()["job"]["missing"] == 0 ? 0 : 3) << "at any time";
    for (int rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(said(processes[static_cast<std::size_t>(rank)]).value("failed", -1), 0) << rank;
    }
    const auto whole = diagnose("job");
    EXPECT_EQ(whole.status, 0) << whole.err;
    EXPECT_EQ(whole.json()["job"]["missing"], 0);
    EXPECT_THAT(whole.json()["job"]["parts"], SizeIs(4));
    EXPECT_EQ(withoutJob(whole).dump(1), alone().dump(1)) << "to the last digit";
}

TEST_F(SharedDiagnosis, JudgesWithWhatTheUserSaidRan)
{
    const std::vector<std::string> words {"--ran", "deepspeed-gram:bf16", "--nothing-else"};
    EXPECT_EQ(diagnose("job", words).status, 0);
    auto process = start("job", 0, 1, freePort());
    EXPECT_EQ(said(process).value("failed", -1), 0);
    EXPECT_EQ(withoutJob(diagnose("job", words)).dump(1), alone(words).dump(1));
    const auto other = diagnose("job");
    EXPECT_EQ(other.status, 2);
    EXPECT_THAT(other.err, HasSubstr("options; name another folder"));
}

TEST_F(SharedDiagnosis, IsToldBeforeItBeginsWhyTheStatusIsZero)
{
    const auto told = [](const Finished& finished) {
        return finished.out.find("No process has begun") != std::string::npos;
    };
    const auto text = [this](const std::string& command, const std::string& job) {
        return nanscope::testing::run({command, run(), "--processes", "1", "--job", m_folder / job});
    };
    for (int time = 0; time < 2; ++time) {
        const auto planned = text("diagnose", "job");
        EXPECT_EQ(planned.status, 0) << "however often it is asked";
        EXPECT_THAT(planned.out,
            HasSubstr("No process has begun yet; once one has, the status is 3 until nothing is missing."));
    }
    auto first = start("job", 0, 1, freePort());
    waitForBlocks("job", 0, 1);
    first.kill();
    const auto half = text("diagnose", "job");
    EXPECT_EQ(half.status, 3);
    EXPECT_FALSE(told(half));
    const auto swept = text("sweep", "sweep");
    EXPECT_EQ(swept.status, 0) << swept.err;
    EXPECT_TRUE(told(swept)) << "a sweep says the same";
}

TEST_F(SharedDiagnosis, SaysWhatIsMissingAndGoesOn)
{
    EXPECT_EQ(diagnose("job").status, 0);
    auto first = start("job", 0, 1, freePort());
    waitForBlocks("job", 0, 2);
    first.kill();
    const auto half = diagnose("job");
    EXPECT_EQ(half.status, 3);
    EXPECT_GT(half.json()["job"]["missing"], 0);
    const auto before = blocksIn("job", 0);
    auto second = start("job", 0, 1, freePort());
    const auto blocks = said(second).value("blocks", std::size_t {0});
    EXPECT_EQ(before + blocks, blocksIn("job", 0)) << "what was judged is not judged again";
    EXPECT_EQ(diagnose("job").status, 0);
    EXPECT_EQ(before + blocks, diagnose("job").json()["job"]["captures"].get<std::size_t>());
}

TEST_F(SharedDiagnosis, SaysHowMuchThereIsToDoBeforeItStarts)
{
    EXPECT_THAT(nanscope::testing::run({"diagnose", run(), "--job", m_folder / "job"}).out, Not(HasSubstr("FLOP")))
        << "it is not worth a word";
    MadeCapture large {512, 1024};
    large.nanOutput = true;
    writeCapture(run() + "/large.pt", large);
    const auto made = diagnose("larger", {"--progress", "jsonl"});
    const SortedJson plan = made.json()["job"]["plan"];
    EXPECT_EQ(plan["captures"], 11) << "nine births, and two of the sample";
    EXPECT_EQ(plan["devices"], 2) << "the processes of a node share its CPU";
    EXPECT_EQ(plan["measured_on"], "cpu");
    EXPECT_GT(plan["rate"], 1e8);
    EXPECT_GT(plan["most_seconds"], plan["seconds"]);
    EXPECT_THAT(made.err, HasSubstr(R"("phase":"planned")"));
    const auto text =
        nanscope::testing::run({"diagnose", run(), "--nodes", "2", "--processes", "2", "--job", m_folder / "larger"});
    EXPECT_THAT(text.out, HasSubstr("Judging replays 11 captures, the largest 512 × 1024: "));
    EXPECT_THAT(text.out, HasSubstr("measured on cpu for each of 2 devices"));
}

TEST_F(SharedDiagnosis, TakesNoJobForAnother)
{
    EXPECT_EQ(diagnose("job").status, 0);
    const auto other = m_folder / "other";
    std::filesystem::create_directories(other);
    writeCapture(std::filesystem::path(other) / "capture.pt", {64, 96});
    EXPECT_THAT(
        nanscope::testing::run({"diagnose", other, "--job", m_folder / "job"}).err, HasSubstr("job of another run"));
    for (const char* file : {"capture.pt", "missing.pt"}) {
        const auto path = (std::filesystem::path(other) / file).string();
        EXPECT_THAT(
            nanscope::testing::run({"diagnose", path, "--job", m_folder / "job"}).err, HasSubstr("job of another run"));
    }
    EXPECT_EQ(nanscope::testing::run({"sweep", other, "--job", m_folder / "sweep"}).status, 0);
    EXPECT_THAT(
        nanscope::testing::run({"diagnose", other, "--job", m_folder / "sweep"}).err, HasSubstr("the job of a sweep"));
    EXPECT_THAT(
        nanscope::testing::run({"sweep", other, "--job", m_folder / "job"}).err, HasSubstr("name another folder"));
    EXPECT_THAT(nanscope::testing::run({"diagnose", other, "--nodes", "2"}).err, HasSubstr("--job FOLDER"));
    EXPECT_THAT(nanscope::testing::run({"diagnose", other, "--job", m_folder / "x", "--device", "cuda:1"}).err,
        HasSubstr("--device cuda"));
    EXPECT_THAT(
        nanscope::testing::run({"diagnose", other, run(), "--job", m_folder / "x"}).err, HasSubstr("of one run"));
}

/// One measurement on every rank; their function knows its rank, so that one of them can be another machine.
class SharedMeasurement : public ::testing::Test
{
protected:
    void SetUp() override
    {
        if (!std::filesystem::exists(systemPython)) {
            GTEST_SKIP() << "there is no " << systemPython;
        }
        writeCapture(m_folder / "capture.pt", {8, 12});
        std::ofstream(m_folder / "mine.py")
            << "import os, pathlib, time\n"
               "calls = 0\n"
               "def f(X, epsilon):\n"
               "    global calls\n"
               "    calls += 1\n"
               "    while os.environ['RANK'] == '1' and pathlib.Path(__file__).with_name('wait').exists():\n"
               "        time.sleep(0.05)\n"
               "    off = 1 if os.environ['RANK'] == '2' and calls > 7 else 0\n"
               "    return [[[v * 2 + off for v in r] for r in m] for m in X]\n";
    }

    std::vector<std::string> words() const
    {
        return {"measure", "repeat", m_folder / "capture.pt", "--impl", "python:" + (m_folder / "mine.py:f"),
            "--python", systemPython, "-n", "20", "--job", m_folder / "job"};
    }

    Finished gather(const std::vector<std::string>& more = {"--json"}) const
    {
        auto arguments = words();
        arguments.insert(arguments.end(), {"--nodes", "1", "--processes", "3"});
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run(arguments);
    }

    ChildProcess start(int rank) const
    {
        auto arguments = words();
        arguments.emplace_back("--as-rank");
        auto process = ChildProcess::start({NANSCOPE_PROGRAM, arguments,
            {{"RANK", std::to_string(rank)}, {"WORLD_SIZE", "3"}, {"LOCAL_RANK", std::to_string(rank)},
                {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "29400"}}});
        if (!process) {
            throw std::runtime_error(process.error().what);
        }
        return std::move(*process);
    }

    /// The one line of a rank.
    static std::string lineOf(ChildProcess& process)
    {
        std::string line;
        std::ignore = process.readLine(line, ChildProcess::Clock::now() + 120s);
        return line;
    }

    WorkFolder m_folder;
};

TEST_F(SharedMeasurement, NamesTheRankThatStandsOutAndTheOneThatWasKilled)
{
    const auto made = gather();
    EXPECT_EQ(made.status, 0) << made.err;
    EXPECT_THAT(made.json()["ranks"], IsEmpty());
    const std::string srun = made.json()["job"]["srun"];
    EXPECT_THAT(srun, HasSubstr("--ntasks-per-node 3"));
    EXPECT_THAT(srun, HasSubstr("/nanscope measure repeat " + (m_folder / "capture.pt")));
    EXPECT_THAT(srun, HasSubstr(" --as-rank"));
    EXPECT_THAT(gather({}).out, HasSubstr("Start the ranks with torchrun"));

    std::ofstream(m_folder / "wait") << "rank 1";
    auto first = start(0);
    auto killed = start(1);
    auto third = start(2);
    EXPECT_THAT(lineOf(first), HasSubstr("rank 0, "));
    EXPECT_THAT(lineOf(third), HasSubstr("14 of 20 calls differ"))
        << "from its eighth call on, of which the first is none of the 20";
    EXPECT_THAT(killed.kill(), HasSubstr("killed"));
    const auto half = gather();
    EXPECT_EQ(half.status, 3);
    EXPECT_THAT(half.json()["ranks"], SizeIs(2));
    EXPECT_EQ(half.json()["job"]["missing"], 1);
    EXPECT_THAT(half.json()["job"]["missing_ranks"], ::testing::ElementsAre(1));
    EXPECT_THAT(half.json()["odd"], IsEmpty()) << "of two none is accused";
    EXPECT_THAT(gather({}).out, HasSubstr("Missing: rank 1. Start the ranks again"));

    std::filesystem::remove(m_folder / "wait");
    auto again = start(1);
    EXPECT_THAT(lineOf(again), HasSubstr("none of 20 calls differs"));
    auto nothing = start(0);
    EXPECT_THAT(lineOf(nothing), HasSubstr("has its answer already"));
    const auto whole = gather();
    EXPECT_EQ(whole.status, 0) << whole.err;
    const SortedJson answer = whole.json();
    EXPECT_EQ(answer["schema"], "nanscope.measures/1");
    EXPECT_EQ(answer["job"]["missing"], 0);
    ASSERT_THAT(answer["ranks"], SizeIs(3));
    EXPECT_EQ(answer["ranks"][0]["output"], answer["ranks"][2]["output"]) << "it went wrong later";
    EXPECT_EQ(answer["ranks"][2]["differ"], 14);
    EXPECT_EQ(answer["ranks"][2]["first"], 7);
    EXPECT_EQ(answer["ranks"][2]["answer"]["schema"], "nanscope.measure/1");
    EXPECT_FALSE(answer["ranks"][0]["node"].get<std::string>().empty());
    ASSERT_THAT(answer["odd"], SizeIs(1));
    EXPECT_EQ(answer["odd"][0]["rank"], 2);
    const auto text = gather({}).out;
    EXPECT_THAT(text, HasSubstr("3 of 3 ranks of the job measured"));
    EXPECT_THAT(text, HasSubstr("Rank 2 stands out: 14 of 20 calls differ from the first, the first is call 7"));
}

TEST_F(SharedMeasurement, SaysWhyARankHasNoAnswer)
{
    EXPECT_EQ(gather().status, 0);
    std::ofstream(m_folder / "mine.py") << "def g(X): return X\n";
    auto rank = start(0);
    EXPECT_EQ(lineOf(rank), "");
    const auto gathered = gather();
    EXPECT_EQ(gathered.status, 3);
    EXPECT_EQ(gathered.json()["job"]["missing"], 3);
    EXPECT_THAT(gathered.json()["job"]["problems"][0].get<std::string>(), HasSubstr("there is no f in"));
}

TEST_F(SharedMeasurement, RefusesAnotherJobAndWhatNoJobCanBe)
{
    EXPECT_EQ(gather().status, 0);
    EXPECT_THAT(gather({"--epsilon", "1e-3"}).err, HasSubstr("name another folder"));
    EXPECT_THAT(run({"diagnose", m_folder / "capture.pt", "--job", m_folder / "job"}).err,
        HasSubstr("the job of a measurement"));
    EXPECT_THAT(run({"measure", "scale", m_folder / "capture.pt", "--job", m_folder / "x"}).err,
        HasSubstr("of repeat or of storm"));
    EXPECT_THAT(gather({"--device", "cuda:1"}).err, HasSubstr("--device cuda"));
    const auto nameless =
        run({"measure", "repeat", m_folder / "capture.pt", "--impl", "mine.py:f", "--job", m_folder / "y"});
    EXPECT_THAT(nameless.err, HasSubstr("names no function"));
    EXPECT_FALSE(std::filesystem::exists(m_folder / "y")) << "before any rank starts";
    auto without = words();
    without.resize(without.size() - 2);
    without.insert(without.end(), {"--nodes", "2"});
    EXPECT_THAT(run(without).err, HasSubstr("--job FOLDER"));
}

/// MKL's products for every processor add in another order than those for this one: a machine that computes
/// differently.
TEST_F(ScaleOut, FindsTheRankThatComputesDifferentlyAndTheOneThatIsMissing)
{
    const int port = freePort();
    const std::vector<std::string> agree {
        "agree", m_folder / "capture5.pt", "--variant", "torch-muon", "--precision", "fp32", "--patience", "10"};
    std::vector<ChildProcess> processes;
    for (int rank = 0; rank < 4; ++rank) {
        processes.push_back(start(agree, rank, 5, port, rank == 2 ? "COMPATIBLE" : "AUTO"));
    }
    const auto answer = said(processes.front());
    EXPECT_EQ(answer["agree"], false) << answer;
    EXPECT_EQ(answer["odd"], SortedJson::array({"rank 2, cpu"})) << answer;
    EXPECT_EQ(answer["missing"], SortedJson::array({4})) << answer;
    EXPECT_THAT(answer["devices"], SizeIs(4));
}

TEST_F(ScaleOut, SaysWhetherTheRanksReachEachOther)
{
    const auto reachedBy = [](int processes, int patience) {
        const int port = freePort();
        std::vector<ChildProcess> ranks;
        for (int rank = 0; rank < 2; ++rank) {
            ranks.push_back(start({"reach", "--patience", std::to_string(patience)}, rank, processes, port));
        }
        return said(ranks.front());
    };
    const auto all = reachedBy(2, 60);
    EXPECT_EQ(all["reached"], true) << all;
    const auto two = reachedBy(3, 4);
    EXPECT_EQ(two["reached"], false) << two;
    EXPECT_EQ(two["missing"], SortedJson::array({2})) << two;
}

/// What a capture is made of is compared once, when the job is made.
TEST_F(ScaleOut, ComparesVariantsOnce)
{
    const auto line = [&] {
        return run({"sweep", m_folder / "capture0.pt", "--json", "--precision", "fp32", "--device", "cpu", "--nodes",
            "1", "--processes", "2", "--job", m_folder / "job", "--progress", "jsonl"});
    };
    const auto made = line();
    ASSERT_EQ(made.status, 0) << made.err;
    EXPECT_THAT(made.err, HasSubstr("\"identifying\""));
    const SortedJson first = made.json();
    EXPECT_THAT(first["job"]["left_out"], IsEmpty());
    const auto again = line();
    ASSERT_EQ(again.status, 0) << again.err;
    EXPECT_THAT(again.err, ::testing::Not(HasSubstr("\"identifying\"")));
    const SortedJson second = again.json();
    EXPECT_EQ(second["job"]["cells"], first["job"]["cells"]);
}

TEST_F(ScaleOut, RefusesAnotherJobInTheSameFolder)
{
    EXPECT_EQ(sweep("job").status, 0);
    const auto other = sweep("job", {"--precision", "fp32"});
    EXPECT_EQ(other.status, 2);
    EXPECT_THAT(other.err, HasSubstr("name another folder"));
}

TEST_F(ScaleOut, SaysWhatAJobCannotHave)
{
    EXPECT_THAT(sweep("job", {"--device", "cuda:1"}).err, HasSubstr("--device cuda"));
    EXPECT_THAT(sweep("job", {"--impl", "mine.py:f"}).err, HasSubstr("without --job"));
    EXPECT_THAT(run({"sweep", m_folder.path().string(), "--nodes", "2"}).err, HasSubstr("--job FOLDER"));
}

} // namespace
