// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/source.h"
#include "core/base/table.h"
#include "core/base/try.h"
#include "core/session/session.h"

namespace nanscope {

namespace {

class Sql : public Command
{
public:
    explicit Sql(CLI::App& root)
        : Command(root, "sql", "One read-only statement on a session")
    {
        options().add("session", m_session, "A session file").required();
        options().add("query", m_query, "For example \"select * from captures limit 3\"").required();
    }

    Result<int> run(Terminal& terminal) override;

private:
    std::string m_session;
    std::string m_query;
};

std::string text(const session::QueryTable& result)
{
    std::vector<Table::Column> columns;
    for (const auto& column : result.columns) {
        columns.push_back({column});
    }
    Table table(std::move(columns));
    for (const auto& row : result.rows) {
        std::vector<std::string> cells;
        for (const auto& cell : row) {
            cells.push_back(cell.value_or("NULL"));
        }
        table.add(std::move(cells));
    }
    return table.text();
}

Json json(const session::QueryTable& result)
{
    auto rows = Json::array();
    for (const auto& row : result.rows) {
        auto cells = Json::array();
        for (const auto& cell : row) {
            cells.push_back(cell ? Json(*cell) : nullptr);
        }
        rows.push_back(std::move(cells));
    }
    return {{"schema", "nanscope.sql/1"}, {"columns", result.columns}, {"rows", std::move(rows)}};
}

Result<int> Sql::run(Terminal& terminal)
{
    const auto session = TRY(session::Session::open(m_session, session::OpenMode::readOnly));
    const auto result = TRY(session.query(m_query, terminal.cancelToken()));
    terminal.answer([&] { return json(result); }, [&] { return text(result); });
    return exitDone;
}

} // namespace

std::unique_ptr<Command> makeSql(CLI::App& root)
{
    return std::make_unique<Sql>(root);
}

} // namespace nanscope
