// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <charconv>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/tensorfile/corrupt.h"
#include "core/tensorfile/pickle/picklecalls.h"

namespace nanscope::tensorfile {

namespace {

/// Takes arguments of opcodes off the front of a pickle.
class PickleReader
{
public:
    explicit PickleReader(std::span<const std::byte> bytes)
        : m_bytes(bytes)
    { }

    Result<std::uint64_t> number(std::size_t width); ///< little-endian, at most 8 bytes
    Result<double> bigEndianReal();
    Result<std::span<const std::byte>> take(std::uint64_t size);
    Result<std::string_view> line(); ///< up to and without the next line feed

private:
    std::span<const std::byte> m_bytes;
    std::size_t m_at = 0;
};

Result<std::span<const std::byte>> PickleReader::take(std::uint64_t size)
{
    if (size > m_bytes.size() - m_at) {
        return failure(ErrorKind::corrupt, "The pickle inside claims more bytes than it has; the file is damaged");
    }
    const auto part = m_bytes.subspan(m_at, size);
    m_at += size;
    return part;
}

Result<std::uint64_t> PickleReader::number(std::size_t width)
{
    return take(width).map([](std::span<const std::byte> bytes) {
        std::uint64_t value = 0;
        for (std::size_t i = bytes.size(); i-- > 0;) {
            value = value << 8 | static_cast<std::uint64_t>(bytes[i]);
        }
        return value;
    });
}

Result<double> PickleReader::bigEndianReal()
{
    return number(8).map([](std::uint64_t bits) { return std::bit_cast<double>(__builtin_bswap64(bits)); });
}

Result<std::string_view> PickleReader::line()
{
    const auto rest = asText(m_bytes.subspan(m_at));
    const auto end = rest.find('\n');
    if (end == rest.npos) {
        return failure(ErrorKind::corrupt, "The pickle inside ends in the middle of a line; the file is damaged");
    }
    m_at += end + 1;
    return rest.substr(0, end);
}

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
    Step pushText(Result<std::span<const std::byte>> given);
    Step pushSized(std::size_t width); ///< a text whose length comes first
    Step pushLong(std::size_t width);
    Step pushLine();
    Step pushDecimal();
    Step pushTuple(std::size_t count);
    Step pushMarked(NodeKind kind);
    Step addMarked(NodeKind kind);
    Step setOne();
    Step remember(Result<std::uint64_t> given);
    Step recall(Result<std::uint64_t> given);
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

auto emptyStack()
{
    return corrupt("The pickle inside takes more objects than it made; the file is damaged");
}

template <class Number>
Result<Number> numberOf(std::string_view text)
{
    const auto value = numberIn<Number>(text);
    return value ? Result<Number>(*value) : corrupt("A number in the pickle inside is not one; the file is damaged");
}

PickleMachine::Step PickleMachine::push(Result<NodeId> node)
{
    m_stack.push_back(TRY(std::move(node)));
    return {};
}

PickleMachine::Step PickleMachine::pushInteger(std::int64_t value)
{
    Node node;
    node.kind = NodeKind::integer;
    node.integer = value;
    return push(m_calls.make(node));
}

PickleMachine::Step PickleMachine::pushBoolean(bool value)
{
    Node node;
    node.kind = NodeKind::boolean;
    node.integer = value ? 1 : 0;
    return push(m_calls.make(node));
}

PickleMachine::Step PickleMachine::pushReal(double value)
{
    Node node;
    node.kind = NodeKind::real;
    node.real = value;
    return push(m_calls.make(node));
}

PickleMachine::Step PickleMachine::pushText(Result<std::span<const std::byte>> given)
{
    const auto text = TRY(std::move(given));
    Node node;
    node.kind = NodeKind::text;
    node.index = static_cast<std::uint32_t>(text.size());
    node.offset = static_cast<std::uint64_t>(text.data() - m_graph.pickle.data());
    return push(m_calls.make(node));
}

PickleMachine::Step PickleMachine::pushSized(std::size_t width)
{
    return pushText(m_reader.number(width).and_then([this](std::uint64_t size) { return m_reader.take(size); }));
}

PickleMachine::Step PickleMachine::pushLong(std::size_t width)
{
    const auto bytes = TRY(m_reader.number(width).and_then([this](std::uint64_t size) { return m_reader.take(size); }));
    if (bytes.size() > sizeof(std::int64_t)) {
        return push(m_calls.makeOpaque("builtins int of more than 64 bits"));
    }
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
        value = value << 8 | static_cast<std::uint64_t>(bytes[i]);
    }
    if (!bytes.empty() && (bytes.back() & std::byte {0x80}) != std::byte {0} && bytes.size() < sizeof(value)) {
        value |= ~std::uint64_t {0} << (8 * bytes.size());
    }
    return pushInteger(static_cast<std::int64_t>(value));
}

PickleMachine::Step PickleMachine::pushLine()
{
    return pushText(m_reader.line().map([](std::string_view line) { return asBytes(unquoted(line)); }));
}

PickleMachine::Step PickleMachine::pushDecimal()
{
    auto line = TRY(m_reader.line());
    if (line == "00" || line == "01") {
        return pushBoolean(line.back() == '1');
    }
    if (line.ends_with('L')) {
        line.remove_suffix(1);
    }
    std::int64_t value = 0;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), value);
    if (parsed.ec == std::errc::result_out_of_range) {
        return push(m_calls.makeOpaque("builtins int of more than 64 bits"));
    }
    if (parsed.ec != std::errc() || parsed.ptr != line.data() + line.size()) {
        return corrupt("A number in the pickle inside is not one; the file is damaged");
    }
    return pushInteger(value);
}

Result<std::uint64_t> PickleMachine::decimalLine()
{
    return m_reader.line().and_then(numberOf<std::uint64_t>);
}

Result<NodeId> PickleMachine::pop()
{
    if (m_stack.size() <= floor()) {
        return emptyStack();
    }
    const auto id = m_stack.back();
    m_stack.pop_back();
    return id;
}

Result<std::vector<NodeId>> PickleMachine::popToMark()
{
    if (m_marks.empty()) {
        return emptyStack();
    }
    const auto begin = m_stack.begin() + m_marks.back();
    std::vector<NodeId> items(begin, m_stack.end());
    m_stack.erase(begin, m_stack.end());
    m_marks.pop_back();
    return items;
}

PickleMachine::Step PickleMachine::pushTuple(std::size_t count)
{
    if (m_stack.size() - floor() < count) {
        return emptyStack();
    }
    const auto items = std::span<const NodeId>(m_stack).last(count);
    const auto tuple = m_calls.makeSequence(NodeKind::sequence, items);
    m_stack.resize(m_stack.size() - count);
    return push(tuple);
}

PickleMachine::Step PickleMachine::pushMarked(NodeKind kind)
{
    const auto items = TRY(popToMark());
    if (kind == NodeKind::dict && items.size() % 2 != 0) {
        return corrupt("A dict in the pickle inside has a key without a value; the file is damaged");
    }
    return push(m_calls.makeSequence(kind, items));
}

PickleMachine::Step PickleMachine::addMarked(NodeKind kind)
{
    const auto items = TRY(popToMark());
    if (m_stack.size() <= floor()) {
        return emptyStack();
    }
    if (kind == NodeKind::dict && items.size() % 2 != 0) {
        return corrupt("A dict in the pickle inside has a key without a value; the file is damaged");
    }
    const auto target = m_stack.back();
    if (m_graph.nodes[target].kind == kind && !items.empty()) {
        auto& entries = m_graph.growable(target);
        entries.insert(entries.end(), items.begin(), items.end());
    }
    return {};
}

PickleMachine::Step PickleMachine::setOne()
{
    if (m_stack.size() - floor() < 3) {
        return emptyStack();
    }
    m_marks.push_back(static_cast<std::uint32_t>(m_stack.size() - 2));
    return addMarked(NodeKind::dict);
}

PickleMachine::Step PickleMachine::remember(Result<std::uint64_t> given)
{
    const auto slot = TRY(std::move(given));
    if (m_stack.size() <= floor()) {
        return emptyStack();
    }
    // Every slot was put there by an opcode of at least one byte, so no honest number is larger than the pickle.
    if (slot > m_graph.pickle.size()) {
        return failure(ErrorKind::refused,
            "The pickle inside asks for more memory than its size justifies; it is damaged or made to do harm");
    }
    if (slot >= m_memo.size()) {
        m_memo.resize(slot + 1, PickleGraph::none);
    }
    m_memo[slot] = m_stack.back();
    return {};
}

PickleMachine::Step PickleMachine::recall(Result<std::uint64_t> given)
{
    const auto slot = TRY(std::move(given));
    if (slot >= m_memo.size() || m_memo[slot] == PickleGraph::none) {
        return corrupt("The pickle inside refers to an object that it did not make; the file is damaged");
    }
    return push(m_memo[slot]);
}

PickleMachine::Step PickleMachine::reduce()
{
    const auto arguments = pop();
    const auto callable = pop();
    if (!arguments || !callable) {
        return emptyStack();
    }
    return push(m_calls.call(*callable, *arguments));
}

PickleMachine::Step PickleMachine::marshalled()
{
    const auto items = popToMark();
    if (!items || items->empty()) {
        return emptyStack();
    }
    const auto arguments = m_calls.makeSequence(NodeKind::sequence, std::span(*items).subspan(1));
    return push(arguments.and_then([&](NodeId tuple) { return m_calls.call(items->front(), tuple); }));
}

PickleMachine::Step PickleMachine::instance()
{
    const auto module = m_reader.line();
    const auto name = m_reader.line();
    const auto items = popToMark();
    if (!module || !name || !items) {
        return corrupt("An object in the pickle inside is not complete; the file is damaged");
    }
    const auto callable = TRY(m_calls.makeGlobal(*module, *name));
    const auto arguments = TRY(m_calls.makeSequence(NodeKind::sequence, *items));
    return push(m_calls.call(callable, arguments));
}

PickleMachine::Step PickleMachine::stackGlobal()
{
    const auto name = pop();
    const auto module = pop();
    if (!name || !module) {
        return emptyStack();
    }
    const auto& nameNode = m_graph.nodes[*name];
    const auto& moduleNode = m_graph.nodes[*module];
    if (nameNode.kind != NodeKind::text || moduleNode.kind != NodeKind::text) {
        return push(m_calls.makeOpaque("name that is not a text"));
    }
    return push(m_calls.makeGlobal(m_graph.text(moduleNode), m_graph.text(nameNode)));
}

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
        return m_reader.line().and_then(numberOf<double>).and_then([this](double value) { return pushReal(value); });
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
        return addMarked(NodeKind::sequence);
    case 'e':
    case 0x90:
        return addMarked(NodeKind::sequence);
    case 's':
        return setOne();
    case 'u':
        return addMarked(NodeKind::dict);
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
        TRY(step(static_cast<unsigned char>(*code)));
    }
}

Result<PickleGraph> readPickleGraph(std::span<const std::byte> pickle, std::shared_ptr<const Tensor::Source> source)
{
    // Every object takes an opcode of at least one byte; some of the room goes to what calls make.
    constexpr std::size_t always = std::size_t {1} << 16;
    PickleGraph graph;
    graph.pickle = pickle;
    graph.budget = always + pickle.size();
    graph.root = TRY(PickleMachine(graph, std::move(source)).run());
    return graph;
}

} // namespace nanscope::tensorfile
