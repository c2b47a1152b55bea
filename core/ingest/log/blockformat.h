// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// For console formats that print a step as a block: a line that names the step, and below it one line per value.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ingest/log/logformat.h"
#include "core/ingest/text/consoletext.h"

namespace nanscope::ingest {

class BlockFormat : public LogFormat
{
public:
    struct Head
    {
        std::int64_t step = 0;
        bool inferred = false;
    };
    struct Value
    {
        std::string_view name;
        double number = 0;
    };

    int sniff(std::span<const std::string_view>) override { return 1; }
    std::optional<int> stepBase(const LogLine&) const override { return 1; }
    bool parse(const LogLine& line, LogBuilder& builder) override;
    std::int64_t heldSince() const override { return m_open; }
    void finish(LogBuilder& builder) override { giveOut(builder); }

protected:
    virtual std::optional<Head> headOf(std::string_view text) = 0;
    virtual std::optional<Value> valueOf(std::string_view text) const = 0;
    /// A line that begins something else: values below it are no longer those of the step.
    virtual bool endsBlock(std::string_view) const { return false; }
    /// Belongs to the last step, whatever stands between them.
    virtual bool isLate(const Value&) const { return false; }

private:
    struct Step
    {
        Head head;
        bool ended = false;
    };
    struct Held
    {
        std::string name;
        double number;
        std::int64_t line;
    };

    void open(const Head& head, const LogLine& line);
    bool take(const Value& value, const LogLine& line, LogBuilder& builder);
    void giveOut(LogBuilder& builder);

    // A block is given out as a whole, so that an import that is broken off inside of one begins at its first line.
    std::int64_t m_open = 0; ///< line of its head, 0 for none
    std::optional<int> m_rank;
    int m_lane = 0;
    int m_process = 0;
    std::vector<Held> m_held;
    std::map<int, Step> m_steps; ///< the last one of each process
};

} // namespace nanscope::ingest
