// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::HasSubstr;
using ::testing::SizeIs;

namespace fs = std::filesystem;

namespace {

class MappedColumns : public ::testing::Test
{
protected:
    std::string made(const std::string& name, const std::string& lastLoss = "1.5")
    {
        fs::create_directory(m_folder / name);
        writeText(m_folder / (name + "/metrics.csv"), "tick,total\n1,2.5\n2,2.25\n3," + lastLoss + "\n");
        return m_folder / name;
    }

    WorkFolder m_folder;
};

} // namespace

TEST_F(MappedColumns, AreRememberedByTheSessionAndShown)
{
    const auto path = made("run");
    const auto session = m_folder / "s.nanscope";
    const auto first = run({"import", path, "--session", session, "--map", "loss=total", "--map", "step=tick"});
    EXPECT_EQ(first.status, 0) << first.err;
    EXPECT_THAT(first.out, HasSubstr("Columns: loss is 'total', step is 'tick'\n"));
    const auto again = run({"import", path, "--session", session});
    EXPECT_THAT(again.out, HasSubstr("as said before"));
    const auto json = run({"import", path, "--session", session, "--json"}).json();
    EXPECT_EQ(json["imports"][0]["columns"]["loss"], "total");
    EXPECT_EQ(run({"list", session, "series", "--json"}).json()["series"][0]["name"], "loss");
    EXPECT_EQ(run({"import", path, "--session", session, "--no-map"}).status, 4) << "nothing is known of it then";
}

TEST_F(MappedColumns, GoWithEveryCommandThatReadsLogs)
{
    const auto a = made("a");
    const auto b = made("b", "nan");
    const std::vector<std::string> words {"--map", "loss=total", "--map", "step=tick"};
    const auto with = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), words.begin(), words.end());
        return run(arguments);
    };
    EXPECT_THAT(with({"diff", a, b}).out, HasSubstr("loss first differs at step 3"));
    EXPECT_THAT(with({"export", b, "--series", "loss"}).out, HasSubstr(",3,nan,"));
    EXPECT_EQ(with({"list", b, "series", "--json"}).json()["series"][0]["nan"], 1);
    EXPECT_EQ(with({"diagnose", b, "--json"}).json()["rollback"]["recommended"], nullptr);
    EXPECT_EQ(with({"whatif", "detector", b}).status, 0);
    EXPECT_EQ(with({"report", b, "-o", m_folder / "r.md"}).status, 0);
}

TEST_F(MappedColumns, AreOneSentenceWhereTheyAreNotThere)
{
    const auto path = made("run");
    const auto wrong = run({"list", path, "series", "--map", "loss=totl"});
    EXPECT_EQ(wrong.status, 2);
    EXPECT_THAT(wrong.err, HasSubstr("There is no column 'totl' in these logs; the nearest are total, tick: "));
    EXPECT_THAT(wrong.errors(), SizeIs(1));
    const auto name = run({"import", path, "--map", "los=total"});
    EXPECT_EQ(name.status, 2);
    EXPECT_THAT(name.err, HasSubstr("'los'; the nearest are loss"));
    const auto alone = run({"import", path + "/metrics.csv"});
    EXPECT_EQ(alone.status, 4);
    EXPECT_THAT(alone.err, HasSubstr("--map step=tick --map loss=total: "));
    EXPECT_THAT(alone.errors(), SizeIs(1));
    const auto session = m_folder / "s.nanscope";
    run({"import", path, "--session", session});
    EXPECT_EQ(run({"list", session, "series", "--map", "loss=total"}).status, 2);
}
