// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nanscope {

/// Columns of text for a terminal, two spaces apart. Cells are made printable.
class Table
{
public:
    enum class Align { left, right };
    struct Column
    {
        std::string head;
        Align align = Align::left;
    };

    explicit Table(std::vector<Column> columns)
        : m_columns(std::move(columns))
    { }

    void add(std::vector<std::string> row);
    std::string text(std::size_t indent = 0) const;

private:
    std::vector<Column> m_columns;
    std::vector<std::vector<std::string>> m_rows;
};

} // namespace nanscope
