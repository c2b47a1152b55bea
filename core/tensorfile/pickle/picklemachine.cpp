// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/pickle/picklemachine.h"

#include <charconv>
#include <string>

#include "core/tensorfile/bytes.h"

namespace nanscope::tensorfile {

namespace {

auto corrupt(std::string what)
{
    return failure(ErrorKind::corrupt, std::move(what));
}

auto emptyStack()
{
    return corrupt("The pickle inside takes more objects than it made; the file is damaged");
}

std::string_view withoutQuotes(std::string_view text)
{
    const bool quoted =
        text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front();
    return quoted ? text.substr(1, text.size() - 2) : text;
}

} // namespace

PickleMachine::Step PickleMachine::push(Result<NodeId> node)
{
    if (!node) {
        return tl::make_unexpected(node.error());
    }
    m_stack.push_back(*node);
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

PickleMachine::Step PickleMachine::pushText(Result<std::span<const std::byte>> text)
{
    if (!text) {
        return tl::make_unexpected(text.error());
    }
    Node node;
    node.kind = NodeKind::text;
    node.index = static_cast<std::uint32_t>(text->size());
    node.offset = static_cast<std::uint64_t>(text->data() - m_graph.pickle.data());
    return push(m_calls.make(node));
}

PickleMachine::Step PickleMachine::pushSized(std::size_t width)
{
    return pushText(m_reader.number(width).and_then([this](std::uint64_t size) { return m_reader.take(size); }));
}

PickleMachine::Step PickleMachine::pushLong(std::size_t width)
{
    const auto bytes = m_reader.number(width).and_then([this](std::uint64_t size) { return m_reader.take(size); });
    if (!bytes) {
        return tl::make_unexpected(bytes.error());
    }
    if (bytes->size() > sizeof(std::int64_t)) {
        return push(m_calls.makeOpaque("builtins int of more than 64 bits"));
    }
    std::uint64_t value = 0;
    for (std::size_t i = bytes->size(); i-- > 0;) {
        value = value << 8 | static_cast<std::uint64_t>((*bytes)[i]);
    }
    if (!bytes->empty() && (bytes->back() & std::byte {0x80}) != std::byte {0} && bytes->size() < sizeof(value)) {
        value |= ~std::uint64_t {0} << (8 * bytes->size());
    }
    return pushInteger(static_cast<std::int64_t>(value));
}

PickleMachine::Step PickleMachine::pushLine()
{
    return pushText(m_reader.line().map([](std::string_view line) { return asBytes(withoutQuotes(line)); }));
}

PickleMachine::Step PickleMachine::pushDecimal()
{
    auto line = m_reader.line();
    if (!line) {
        return tl::make_unexpected(line.error());
    }
    if (*line == "00" || *line == "01") {
        return pushBoolean(line->back() == '1');
    }
    if (line->ends_with('L')) {
        line->remove_suffix(1);
    }
    std::int64_t value = 0;
    const auto parsed = std::from_chars(line->data(), line->data() + line->size(), value);
    if (parsed.ec == std::errc::result_out_of_range) {
        return push(m_calls.makeOpaque("builtins int of more than 64 bits"));
    }
    if (parsed.ec != std::errc() || parsed.ptr != line->data() + line->size()) {
        return corrupt("A number in the pickle inside is not one; the file is damaged");
    }
    return pushInteger(value);
}

Result<std::uint64_t> PickleMachine::decimalLine()
{
    const auto line = m_reader.line();
    if (!line) {
        return tl::make_unexpected(line.error());
    }
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(line->data(), line->data() + line->size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != line->data() + line->size()) {
        return corrupt("A number in the pickle inside is not one; the file is damaged");
    }
    return value;
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
    const auto items = popToMark();
    if (!items) {
        return tl::make_unexpected(items.error());
    }
    if (kind == NodeKind::dict && items->size() % 2 != 0) {
        return corrupt("A dict in the pickle inside has a key without a value; the file is damaged");
    }
    return push(m_calls.makeSequence(kind, *items));
}

PickleMachine::Step PickleMachine::appendMarked()
{
    const auto items = popToMark();
    if (!items) {
        return tl::make_unexpected(items.error());
    }
    if (m_stack.size() <= floor()) {
        return emptyStack();
    }
    const auto target = m_stack.back();
    if (m_graph.nodes[target].kind == NodeKind::sequence && !items->empty()) {
        auto& list = m_graph.growable(target);
        list.insert(list.end(), items->begin(), items->end());
    }
    return {};
}

PickleMachine::Step PickleMachine::setMarked()
{
    const auto items = popToMark();
    if (!items) {
        return tl::make_unexpected(items.error());
    }
    if (m_stack.size() <= floor()) {
        return emptyStack();
    }
    if (items->size() % 2 != 0) {
        return corrupt("A dict in the pickle inside has a key without a value; the file is damaged");
    }
    const auto target = m_stack.back();
    if (m_graph.nodes[target].kind == NodeKind::dict && !items->empty()) {
        auto& entries = m_graph.growable(target);
        entries.insert(entries.end(), items->begin(), items->end());
    }
    return {};
}

PickleMachine::Step PickleMachine::setOne()
{
    if (m_stack.size() - floor() < 3) {
        return emptyStack();
    }
    m_marks.push_back(static_cast<std::uint32_t>(m_stack.size() - 2));
    return setMarked();
}

PickleMachine::Step PickleMachine::remember(Result<std::uint64_t> slot)
{
    if (!slot) {
        return tl::make_unexpected(slot.error());
    }
    if (m_stack.size() <= floor()) {
        return emptyStack();
    }
    // Every slot was put there by an opcode of at least one byte, so no honest number is larger than the pickle.
    if (*slot > m_graph.pickle.size()) {
        return failure(ErrorKind::refused,
            "The pickle inside asks for more memory than its size justifies; it is damaged or made to do harm");
    }
    if (*slot >= m_memo.size()) {
        m_memo.resize(*slot + 1, PickleGraph::none);
    }
    m_memo[*slot] = m_stack.back();
    return {};
}

PickleMachine::Step PickleMachine::recall(Result<std::uint64_t> slot)
{
    if (!slot) {
        return tl::make_unexpected(slot.error());
    }
    if (*slot >= m_memo.size() || m_memo[*slot] == PickleGraph::none) {
        return corrupt("The pickle inside refers to an object that it did not make; the file is damaged");
    }
    return push(m_memo[*slot]);
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
    const auto callable = m_calls.makeGlobal(*module, *name);
    const auto arguments = m_calls.makeSequence(NodeKind::sequence, *items);
    if (!callable || !arguments) {
        return tl::make_unexpected(callable ? arguments.error() : callable.error());
    }
    return push(m_calls.call(*callable, *arguments));
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

} // namespace nanscope::tensorfile
