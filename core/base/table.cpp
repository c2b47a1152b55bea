// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/base/table.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/base/utf8.h"

namespace nanscope {

namespace {

std::string padded(const std::string& cell, std::size_t width, Table::Align align)
{
    const std::string space(width - std::min(width, textWidth(cell)), ' ');
    return align == Table::Align::right ? space + cell : cell + space;
}

} // namespace

void Table::add(std::vector<std::string> row)
{
    row.resize(m_columns.size());
    for (auto& cell : row) {
        cell = printable(cell);
    }
    m_rows.push_back(std::move(row));
}

std::string Table::text(std::size_t indent) const
{
    std::vector<std::string> head;
    std::vector<std::size_t> widths;
    for (const auto& column : m_columns) {
        head.push_back(printable(column.head));
        widths.push_back(textWidth(head.back()));
    }
    for (const auto& row : m_rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], textWidth(row[i]));
        }
    }
    std::string text;
    const auto addLine = [&](const std::vector<std::string>& row) {
        std::string line(indent, ' ');
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += (i == 0 ? "" : "  ") + padded(row[i], widths[i], m_columns[i].align);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    };
    addLine(head);
    std::for_each(m_rows.begin(), m_rows.end(), addLine);
    return text;
}

} // namespace nanscope
