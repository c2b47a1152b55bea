// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/checkpoint/checkpointindex.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "core/base/guarded.h"
#include "core/base/try.h"
#include "core/tensorfile/pickle/picklefields.h"
#include "core/tensorfile/pickle/picklegraph.h"
#include "core/tensorfile/tensorsource.h"

namespace nanscope::tensorfile {

namespace {

auto badMetadata(std::string what)
{
    return failure(ErrorKind::corrupt, std::move(what) + "; the file is damaged, or of a torch newer than 2.11");
}

/// Fills an index from the graph of a pickled Metadata.
class IndexReader
{
public:
    explicit IndexReader(const PickleGraph& graph)
        : m_graph(graph)
    { }

    Result<CheckpointIndex> read();

private:
    std::optional<std::span<const NodeId>> dict(const RecordFields& fields, std::string_view name) const;
    Result<void> addEntry(NodeId name, NodeId metadata);
    std::optional<DType> dtypeOf(const RecordFields& tensor) const;
    Result<void> addPiece(NodeId index, NodeId storage);
    Result<CheckpointPiece> pieceOf(const RecordFields& index, const RecordFields& storage) const;

    const PickleGraph& m_graph;
    CheckpointIndex m_index;
    std::unordered_map<std::string_view, std::size_t> m_tensors; ///< by names that lie in the pickle
};

std::optional<std::span<const NodeId>> IndexReader::dict(const RecordFields& fields, std::string_view name) const
{
    const auto found = fields.find(name);
    const bool isDict = found && m_graph.nodes[*found].kind == NodeKind::dict;
    return isDict ? std::optional(m_graph.items(m_graph.nodes[*found])) : std::nullopt;
}

/// TensorProperties pickles itself as a tuple that begins with the dtype (__getstate__ in metadata.py).
std::optional<DType> IndexReader::dtypeOf(const RecordFields& tensor) const
{
    const auto properties = tensor.find("properties");
    if (!properties || m_graph.nodes[*properties].kind != NodeKind::record) {
        return std::nullopt;
    }
    const auto state = m_graph.records[m_graph.nodes[*properties].index].state;
    const auto fields = state == PickleGraph::none ? std::span<const NodeId>() : m_graph.items(m_graph.nodes[state]);
    if (fields.empty() || m_graph.nodes[fields[0]].kind != NodeKind::global) {
        return std::nullopt;
    }
    const auto& global = m_graph.globals[m_graph.nodes[fields[0]].index];
    return global.known == Known::dtype ? std::optional(global.dtype) : std::nullopt;
}

Result<void> IndexReader::addEntry(NodeId name, NodeId metadata)
{
    const RecordFields fields(m_graph, metadata);
    if (fields.type() != RecordClass::checkpointTensor) {
        return {};
    }
    CheckpointTensor tensor;
    const auto size = fields.find("size");
    if (m_graph.nodes[name].kind != NodeKind::text || !size || !readIntegers(m_graph, *size, tensor.shape)) {
        return badMetadata("A tensor of the checkpoint has no name or no shape");
    }
    const auto text = m_graph.text(m_graph.nodes[name]);
    tensor.name = text;
    tensor.dtype = dtypeOf(fields);
    m_tensors.emplace(text, m_index.tensors.size());
    m_index.tensors.push_back(std::move(tensor));
    return {};
}

bool leadsOut(const std::filesystem::path& file)
{
    return file.empty() || file.is_absolute()
        || std::any_of(file.begin(), file.end(), [](const auto& part) { return part == ".."; });
}

Result<CheckpointPiece> IndexReader::pieceOf(const RecordFields& index, const RecordFields& storage) const
{
    const auto file = storage.text("relative_path");
    const auto offset = storage.integer("offset");
    const auto length = storage.integer("length");
    CheckpointPiece piece;
    const auto begin = index.find("offset");
    const bool scalar = !begin || m_graph.nodes[*begin].kind == NodeKind::none;
    if (!file || !offset || !length || *offset < 0 || *length < 0
        || (!scalar && !readIntegers(m_graph, *begin, piece.offset))) {
        return badMetadata("The place of a tensor of the checkpoint is not given");
    }
    if (leadsOut(*file)) {
        return failure(ErrorKind::refused,
            "The checkpoint names a file outside its own folder, which is not opened; it was made to do harm, or "
            "moved");
    }
    piece.file = *file;
    piece.part = {static_cast<std::uint64_t>(*offset), static_cast<std::uint64_t>(*length)};
    const auto transforms = storage.items("transform_descriptors");
    piece.transformed = transforms && !transforms->empty();
    return piece;
}

Result<void> IndexReader::addPiece(NodeId index, NodeId storage)
{
    const RecordFields key(m_graph, index);
    const auto name = key.text("fqn");
    const auto tensor = name ? m_tensors.find(*name) : m_tensors.end();
    if (tensor == m_tensors.end()) {
        return {}; // a Python object
    }
    return pieceOf(key, RecordFields(m_graph, storage)).map([&](CheckpointPiece piece) {
        m_index.tensors[tensor->second].pieces.push_back(std::move(piece));
    });
}

Result<CheckpointIndex> IndexReader::read()
{
    const RecordFields root(m_graph, m_graph.root);
    const auto entries = dict(root, "state_dict_metadata");
    const auto places = dict(root, "storage_data");
    if (root.type() != RecordClass::checkpoint || !entries || !places) {
        return badMetadata("This is no .metadata of torch.distributed.checkpoint");
    }
    for (std::size_t i = 0; i + 1 < entries->size(); i += 2) {
        TRY(addEntry((*entries)[i], (*entries)[i + 1]));
    }
    for (std::size_t i = 0; i + 1 < places->size(); i += 2) {
        TRY(addPiece((*places)[i], (*places)[i + 1]));
    }
    return std::move(m_index);
}

Result<CheckpointIndex> readIndex(const std::filesystem::path& path, const platform::FileReader& file)
{
    constexpr std::uint64_t largest = std::uint64_t {1} << 30; // a million pieces take a tenth of it
    if (file.size() == 0 || file.size() > largest) {
        return failure(file.size() == 0 ? ErrorKind::truncated : ErrorKind::refused,
            file.size() == 0 ? "The file is empty; saving the checkpoint was not finished"
                             : "The file is larger than 1 GiB; it describes no checkpoint we know");
    }
    std::vector<std::byte> bytes(file.size());
    TRY(file.readAt(0, bytes));
    return readPickleGraph(bytes, std::make_shared<const Tensor::Source>(path, file))
        .and_then([](const PickleGraph& graph) { return IndexReader(graph).read(); });
}

} // namespace

Result<CheckpointIndex> readCheckpointIndex(const std::filesystem::path& metadata)
{
    return platform::FileReader::open(metadata)
        .and_then([&](const platform::FileReader& file) { return guarded([&] { return readIndex(metadata, file); }); })
        .map_error([&](Error error) { return withPath(std::move(error), metadata); });
}

} // namespace nanscope::tensorfile
