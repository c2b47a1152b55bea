// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "core/tensorfile/pickle/picklecalls.h"
#include "core/tensorfile/pickle/picklereader.h"

namespace nanscope::tensorfile {

/// The stack machine that a pickle is a program for, reduced to building data.
class PickleMachine
{
public:
    PickleMachine(PickleGraph& graph, std::shared_ptr<const Tensor::Source> source)
        : m_graph(graph)
        , m_calls(graph, std::move(source))
        , m_reader(graph.pickle)
    { }

    /// Runs to the final stop.
    Result<NodeId> run();

private:
    using Step = Result<void>;

    Step step(unsigned char code);
    Step stepNumber(unsigned char code);
    Step stepText(unsigned char code);
    Step stepContainer(unsigned char code);
    Step stepMemo(unsigned char code);
    Step stepObject(unsigned char code);
    Step stepStack(unsigned char code);

    Step push(Result<NodeId> node);
    Step pushInteger(std::int64_t value);
    Step pushBoolean(bool value);
    Step pushReal(double value);
    Step pushText(Result<std::span<const std::byte>> text);
    Step pushSized(std::size_t width); ///< a text whose length comes first
    Step pushLong(std::size_t width);
    Step pushLine();
    Step pushDecimal();
    Step pushTuple(std::size_t count);
    Step pushMarked(NodeKind kind);
    Step appendMarked();
    Step setMarked();
    Step setOne();
    Step remember(Result<std::uint64_t> slot);
    Step recall(Result<std::uint64_t> slot);
    Step reduce();
    Step marshalled(); ///< OBJ
    Step instance(); ///< INST
    Step stackGlobal();

    Result<NodeId> pop();
    Result<std::vector<NodeId>> popToMark();
    Result<std::uint64_t> decimalLine();
    std::size_t floor() const { return m_marks.empty() ? 0 : m_marks.back(); }

    PickleGraph& m_graph;
    PickleCalls m_calls;
    PickleReader m_reader;
    std::vector<NodeId> m_stack;
    std::vector<std::uint32_t> m_marks;
    std::vector<NodeId> m_memo;
};

} // namespace nanscope::tensorfile
