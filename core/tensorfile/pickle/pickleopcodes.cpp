// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <charconv>
#include <string>

#include "core/tensorfile/pickle/picklemachine.h"

namespace nanscope::tensorfile {

namespace {

/// Opcodes are grouped by what they do; the letters are those of Python's pickle.py.
enum class Group : std::uint8_t { unknown, number, text, container, memo, object, stack };

Group groupOf(unsigned char code)
{
    switch (code) {
    case 'N':
    case 'I':
    case 'J':
    case 'K':
    case 'M':
    case 'L':
    case 'F':
    case 'G':
    case 0x88:
    case 0x89:
    case 0x8a:
    case 0x8b:
        return Group::number;
    case 'S':
    case 'T':
    case 'U':
    case 'V':
    case 'X':
    case 'B':
    case 'C':
    case 0x8c:
    case 0x8d:
    case 0x8e:
    case 0x96:
        return Group::text;
    case ']':
    case '}':
    case ')':
    case 't':
    case 'l':
    case 'd':
    case 'a':
    case 'e':
    case 's':
    case 'u':
    case 0x85:
    case 0x86:
    case 0x87:
    case 0x8f:
    case 0x90:
    case 0x91:
        return Group::container;
    case 'p':
    case 'q':
    case 'r':
    case 'g':
    case 'h':
    case 'j':
    case 0x94:
        return Group::memo;
    case 'c':
    case 'i':
    case 'o':
    case 'R':
    case 'b':
    case 'P':
    case 'Q':
    case 0x81:
    case 0x82:
    case 0x83:
    case 0x84:
    case 0x92:
    case 0x93:
        return Group::object;
    case '(':
    case '0':
    case '1':
    case '2':
    case 0x80:
    case 0x95:
        return Group::stack;
    default:
        return Group::unknown;
    }
}

auto corrupt(std::string what)
{
    return failure(ErrorKind::corrupt, std::move(what));
}

Result<double> parseReal(std::string_view text)
{
    double value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
        return corrupt("A number in the pickle inside is not one; the file is damaged");
    }
    return value;
}

Result<void> ignoring(const Result<std::uint64_t>& argument)
{
    return argument.map([](std::uint64_t) {});
}

} // namespace

PickleMachine::Step PickleMachine::stepNumber(unsigned char code)
{
    const auto signed32 = [](std::uint64_t bits) { return std::int64_t {static_cast<std::int32_t>(bits)}; };
    const auto plain = [](std::uint64_t bits) { return static_cast<std::int64_t>(bits); };
    const auto pushThis = [this](std::int64_t value) { return pushInteger(value); };
    switch (code) {
    case 'N':
        return push(m_calls.make({}));
    case 'I':
    case 'L':
        return pushDecimal();
    case 'J':
        return m_reader.number(4).map(signed32).and_then(pushThis);
    case 'K':
        return m_reader.number(1).map(plain).and_then(pushThis);
    case 'M':
        return m_reader.number(2).map(plain).and_then(pushThis);
    case 'F':
        return m_reader.line().and_then(parseReal).and_then([this](double value) { return pushReal(value); });
    case 'G':
        return m_reader.bigEndianReal().and_then([this](double value) { return pushReal(value); });
    case 0x8a:
        return pushLong(1);
    case 0x8b:
        return pushLong(4);
    default:
        return pushBoolean(code == 0x88);
    }
}

PickleMachine::Step PickleMachine::stepText(unsigned char code)
{
    switch (code) {
    case 'S':
    case 'V':
        return pushLine();
    case 'U':
    case 'C':
    case 0x8c:
        return pushSized(1);
    case 'T':
    case 'X':
    case 'B':
        return pushSized(4);
    default:
        return pushSized(8);
    }
}

PickleMachine::Step PickleMachine::stepContainer(unsigned char code)
{
    switch (code) {
    case ']':
    case ')':
    case 0x8f:
        return push(m_calls.makeSequence(NodeKind::sequence, {}));
    case '}':
        return push(m_calls.makeSequence(NodeKind::dict, {}));
    case 't':
    case 'l':
    case 0x91:
        return pushMarked(NodeKind::sequence);
    case 'd':
        return pushMarked(NodeKind::dict);
    case 'a':
        if (m_stack.size() - floor() < 2) {
            return corrupt("The pickle inside takes more objects than it made; the file is damaged");
        }
        m_marks.push_back(static_cast<std::uint32_t>(m_stack.size() - 1));
        return appendMarked();
    case 'e':
    case 0x90:
        return appendMarked();
    case 's':
        return setOne();
    case 'u':
        return setMarked();
    default:
        return pushTuple(code - 0x84U);
    }
}

PickleMachine::Step PickleMachine::stepMemo(unsigned char code)
{
    switch (code) {
    case 'p':
        return remember(decimalLine());
    case 'q':
        return remember(m_reader.number(1));
    case 'r':
        return remember(m_reader.number(4));
    case 'g':
        return recall(decimalLine());
    case 'h':
        return recall(m_reader.number(1));
    case 'j':
        return recall(m_reader.number(4));
    default:
        return remember(m_memo.size());
    }
}

PickleMachine::Step PickleMachine::stepObject(unsigned char code)
{
    switch (code) {
    case 'c': {
        const auto module = m_reader.line();
        const auto name = m_reader.line();
        if (!module || !name) {
            return corrupt("A name in the pickle inside is not complete; the file is damaged");
        }
        return push(m_calls.makeGlobal(*module, *name));
    }
    case 0x93:
        return stackGlobal();
    case 'i':
        return instance();
    case 'o':
        return marshalled();
    case 'R':
    case 0x81:
        return reduce();
    case 0x92:
        // The keyword arguments of NEWOBJ_EX mean nothing to the few classes that are rebuilt.
        return pop().and_then([this](NodeId) { return reduce(); });
    case 'b':
        // State that an object would take over, such as the _metadata of a state dict.
        return pop().and_then([this](NodeId state) -> Step {
            if (m_stack.size() <= floor()) {
                return corrupt("The pickle inside gives a state to nothing");
            }
            m_calls.build(m_stack.back(), state);
            return {};
        });
    case 'P':
        return pushLine().and_then([this] { return pop(); }).and_then([this](NodeId id) {
            return push(m_calls.persistent(id));
        });
    case 'Q':
        return pop().and_then([this](NodeId id) { return push(m_calls.persistent(id)); });
    default: {
        const auto extension = m_reader.number(code == 0x84 ? 4 : code - 0x81U);
        return extension ? push(m_calls.makeOpaque("copyreg extension")) : ignoring(extension);
    }
    }
}

PickleMachine::Step PickleMachine::stepStack(unsigned char code)
{
    switch (code) {
    case '(':
        m_marks.push_back(static_cast<std::uint32_t>(m_stack.size()));
        return {};
    case '0':
        if (m_stack.size() == floor() && !m_marks.empty()) {
            m_marks.pop_back();
            return {};
        }
        return pop().map([](NodeId) {});
    case '1':
        return popToMark().map([](const std::vector<NodeId>&) {});
    case '2':
        return pop().and_then([this](NodeId id) {
            m_stack.push_back(id);
            return push(id);
        });
    case 0x80:
        return m_reader.number(1).and_then([](std::uint64_t protocol) {
            return protocol <= 5 ? Step {}
                                 : Step(failure(ErrorKind::unsupported,
                                     "The pickle inside is of a protocol newer than 5; use a newer nanscope"));
        });
    default:
        return ignoring(m_reader.number(8)); // a frame is only a hint for reading ahead
    }
}

PickleMachine::Step PickleMachine::step(unsigned char code)
{
    switch (groupOf(code)) {
    case Group::number:
        return stepNumber(code);
    case Group::text:
        return stepText(code);
    case Group::container:
        return stepContainer(code);
    case Group::memo:
        return stepMemo(code);
    case Group::object:
        return stepObject(code);
    case Group::stack:
        return stepStack(code);
    case Group::unknown:
        break;
    }
    return corrupt("The pickle inside holds an instruction that does not exist; the file is damaged");
}

Result<NodeId> PickleMachine::run()
{
    constexpr unsigned char stop = '.';
    while (true) {
        const auto code = m_reader.number(1);
        if (!code) {
            return failure(ErrorKind::truncated, "The pickle inside has no end; the file is cut off or damaged");
        }
        if (*code == stop) {
            return pop();
        }
        if (auto done = step(static_cast<unsigned char>(*code)); !done) {
            return tl::make_unexpected(done.error());
        }
    }
}

Result<PickleGraph> readPickleGraph(std::span<const std::byte> pickle, std::shared_ptr<const Tensor::Source> source)
{
    // Every object takes an opcode of at least one byte; some of the room goes to what calls make.
    constexpr std::size_t always = std::size_t {1} << 16;
    PickleGraph graph;
    graph.pickle = pickle;
    graph.budget = always + pickle.size();
    const auto root = PickleMachine(graph, std::move(source)).run();
    if (!root) {
        return tl::make_unexpected(root.error());
    }
    graph.root = *root;
    return graph;
}

} // namespace nanscope::tensorfile
