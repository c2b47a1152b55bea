// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/checkpoint/checkpoint.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>

#include <fmt/format.h>
#include <simdjson.h>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/tensorfile/checkpoint/checkpointindex.h"
#include "core/tensorfile/scan/scantensor.h"
#include "core/tensorfile/tensorfile.h"
#include "core/tensorfile/tensorsource.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::tensorfile {

namespace fs = std::filesystem;

namespace {

constexpr auto distributedIndex = ".metadata";
constexpr auto checksumDiffers = "its checksum does not match, so its values cannot be trusted";

/// By a key of its dict ("optim", "optimizer_state_dict") or by the name that torch gives to moments.
bool namesOptimizer(std::string_view name)
{
    constexpr std::array moments {".exp_avg", ".exp_avg_sq", ".momentum_buffer", ".max_exp_avg_sq"};
    const auto dotted = '.' + std::string(name) + '.';
    return dotted.find(".optim.") != std::string::npos || dotted.find(".optimizer") != std::string::npos
        || std::ranges::any_of(moments, [&](std::string_view moment) { return name.ends_with(moment); });
}

/// The weights in fp32 that a run goes on with, which DeepSpeed's ZeRO and Megatron-LM keep among the state of the
/// optimizer. Of ZeRO's stage 3 they are all there is of the weights.
bool namesMasterWeights(std::string_view name)
{
    constexpr std::array groups {".single_partition_of_fp32_groups.", ".fp32_flat_groups.", ".fp32_from_fp16_params."};
    const auto dotted = '.' + std::string(name) + '.';
    return std::ranges::any_of(groups, [&](std::string_view group) { return dotted.find(group) != std::string::npos; });
}

/// "optimizer.pt" of Hugging Face and "…_optim_states.pt" of DeepSpeed. Megatron's "model_optim_rng.pt" has weights,
/// too.
bool isOptimizerFile(std::string_view file)
{
    return file.starts_with("optimizer") || file.find("optim_states") != std::string_view::npos;
}

bool holdsTensors(const fs::path& path)
{
    return looksLikeTensorFile(path) || path.extension() == ".ckpt";
}

/// One number per dimension for the element `flat` in row-major order.
Shape placeIn(const Shape& shape, std::int64_t flat)
{
    Shape place(shape.size());
    for (std::size_t i = shape.size(); i-- > 0;) {
        place[i] = flat % shape[i];
        flat /= shape[i];
    }
    return place;
}

/// Row-major index in the whole of element `index` of a part that begins at `begin`.
std::int64_t indexInWhole(const Shape& whole, const Shape& begin, const Shape& part, std::int64_t index)
{
    const auto place = placeIn(part, index);
    std::int64_t flat = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
        flat = flat * whole[i] + place[i] + (begin.empty() ? 0 : begin[i]);
    }
    return flat;
}

bool liesIn(const Shape& whole, const Shape& begin, const Shape& part)
{
    if (part.size() != whole.size() || (!begin.empty() && begin.size() != whole.size())) {
        return false;
    }
    for (std::size_t i = 0; i < whole.size(); ++i) {
        const auto from = begin.empty() ? 0 : begin[i];
        if (from < 0 || from > whole[i] || part[i] > whole[i] - from) {
            return false;
        }
    }
    return true;
}

class CheckpointReader
{
public:
    CheckpointReader(const fs::path& root, const JobContext& job)
        : m_root(root)
        , m_job(job)
    { }

    Result<CheckpointScan> read();

private:
    Result<void> readFolder();
    void readFile(const fs::path& path);
    void readDistributed(const fs::path& metadata);
    void checkShardIndex(const fs::path& path);
    void visit(const PickleValue& value, const std::string& name, const fs::path& path);
    void addWhole(const Tensor& tensor, const std::string& name, const fs::path& path);
    void addPieces(const CheckpointTensor& tensor, const fs::path& folder);
    std::string addPiece(Parameter& parameter, const CheckpointPiece& piece, const fs::path& folder);
    std::string scanInto(Parameter& parameter, const Tensor& tensor, const Shape& begin,
        const std::shared_ptr<const platform::FileReader>& file);
    Parameter begin(const std::string& name, const fs::path& path, std::optional<DType> dtype, const Shape& shape);
    void finish(Parameter parameter);
    void reject(const fs::path& path, std::string reason);
    void noteDamage(const Error& error);
    void note(const std::vector<std::string>& opaque);
    std::string relative(const fs::path& path) const;
    bool stopped() const { return m_job.cancel.cancelled(); }
    ReadWatch watch(const std::string& name);
    void tell(const std::string& name);
    void expect(const fs::path& file);

    fs::path m_root;
    const JobContext& m_job;
    CheckpointScan m_result;
    std::int64_t m_expected = 0; ///< bytes of the files that are known
    std::int64_t m_bytes = 0; ///< that were read
    std::int64_t m_told = 0; ///< of them
    std::shared_ptr<const platform::FileReader> m_file; ///< the one that is being read
    /// Scans of the tensors of that file by where they lie: tied weights are read once.
    std::map<std::tuple<std::string, std::int64_t, Shape, Shape>, std::size_t> m_seen;
};

std::string CheckpointReader::relative(const fs::path& path) const
{
    return path == m_root ? std::string() : path.lexically_relative(m_root).generic_string();
}

void CheckpointReader::reject(const fs::path& path, std::string reason)
{
    const auto name = relative(path);
    m_result.rejected.push_back({name.empty() ? path.filename().string() : name, std::move(reason)});
}

void CheckpointReader::noteDamage(const Error& error)
{
    m_result.damaged += error.kind == ErrorKind::truncated || error.kind == ErrorKind::corrupt ? 1 : 0;
}

void CheckpointReader::note(const std::vector<std::string>& opaque)
{
    for (const auto& name : opaque) {
        if (std::ranges::find(m_result.opaque, name) == m_result.opaque.end()) {
            m_result.opaque.push_back(name);
        }
    }
}

Parameter CheckpointReader::begin(
    const std::string& name, const fs::path& path, std::optional<DType> dtype, const Shape& shape)
{
    Parameter parameter;
    parameter.name = name;
    parameter.file = relative(path);
    parameter.dtype = dtype;
    parameter.shape = shape;
    parameter.optimizerState =
        !namesMasterWeights(name) && (namesOptimizer(name) || isOptimizerFile(path.filename().string()));
    return parameter;
}

void CheckpointReader::finish(Parameter parameter)
{
    tell(parameter.name);
    m_result.parameters.push_back(std::move(parameter));
}

void CheckpointReader::expect(const fs::path& file)
{
    std::error_code error;
    const auto size = fs::file_size(file, error);
    m_expected += error ? 0 : static_cast<std::int64_t>(size);
}

void CheckpointReader::tell(const std::string& name)
{
    m_told = m_bytes;
    const auto total = m_expected == 0 ? 0 : std::max(m_expected, m_bytes);
    m_job.progress({"inspect", "read", m_bytes, total, "bytes", name});
}

/// One tensor may take minutes.
ReadWatch CheckpointReader::watch(const std::string& name)
{
    constexpr std::int64_t step = std::int64_t {1} << 22;
    return {m_job.cancel, [this, name](std::int64_t bytes) {
                m_bytes += bytes;
                if (m_bytes - m_told >= step) {
                    tell(name);
                }
            }};
}

/// Adds what `tensor` holds to the whole; why it could not, or nothing.
std::string CheckpointReader::scanInto(Parameter& parameter, const Tensor& tensor, const Shape& begin,
    const std::shared_ptr<const platform::FileReader>& file)
{
    const auto scanned = scanVerifying(tensor, file, watch(parameter.name));
    if (!scanned) {
        noteDamage(scanned.error());
        return scanned.error().what;
    }
    if (!scanned->checksumMatches.value_or(true)) {
        ++m_result.damaged;
        return checksumDiffers; // values that cannot be trusted accuse nothing
    }
    const auto matrix = tensor.matrices().rows * tensor.matrices().cols;
    for (std::size_t i = 0; i < scanned->batches.size(); ++i) {
        const auto& part = scanned->batches[i];
        const auto inPart = static_cast<std::int64_t>(i) * matrix + part.firstNonFinite;
        addScan(parameter.scan, part,
            part.firstNonFinite < 0 ? -1 : indexInWhole(parameter.shape, begin, tensor.shape(), inPart));
    }
    return {};
}

void CheckpointReader::addWhole(const Tensor& tensor, const std::string& name, const fs::path& path)
{
    if (!isFloating(tensor.dtype()) || tensor.elements() == 0) {
        ++m_result.others;
        return;
    }
    auto parameter = begin(name, path, tensor.dtype(), tensor.shape());
    const auto [seen, isNew] = m_seen.try_emplace(
        {tensor.storageKey(), tensor.storageOffset(), tensor.shape(), tensor.strides()}, m_result.parameters.size());
    if (isNew) {
        parameter.problem = scanInto(parameter, tensor, {}, m_file);
    } else {
        parameter.scan = m_result.parameters[seen->second].scan;
        parameter.problem = m_result.parameters[seen->second].problem;
    }
    finish(std::move(parameter));
}

void CheckpointReader::visit(const PickleValue& value, const std::string& name, const fs::path& path)
{
    const auto inner = [&](const std::string& key) { return name.empty() ? key : name + '.' + key; };
    if (stopped()) {
        return;
    }
    if (const auto* tensor = value.tensor()) {
        addWhole(*tensor, name.empty() ? path.stem().string() : name, path);
    } else if (const auto* dict = std::get_if<PickleDict>(&value.value)) {
        for (const auto& [key, held] : *dict) {
            const auto* text = std::get_if<std::string>(&key.value);
            const auto* number = std::get_if<std::int64_t>(&key.value);
            visit(held, inner(text != nullptr ? *text : number != nullptr ? std::to_string(*number) : "?"), path);
        }
    } else if (const auto* list = std::get_if<PickleList>(&value.value)) {
        for (std::size_t i = 0; i < list->size(); ++i) {
            visit((*list)[i], inner(std::to_string(i)), path);
        }
    }
}

void CheckpointReader::readFile(const fs::path& path)
{
    ++m_result.files;
    m_seen.clear();
    const auto file = openTensorFile(path, m_file);
    if (!file) {
        noteDamage(file.error());
        reject(path, file.error().what);
        return;
    }
    const auto* input = file->root.find("input");
    if (path != m_root && input != nullptr && input->tensor() != nullptr) {
        reject(path,
            "a dump of one call, no part of a checkpoint; inspect it by itself, or dumps of shards with --stitch");
        return;
    }
    note(file->opaque);
    visit(file->root, {}, path);
}

/// Each piece is a file of its own with one tensor in it; why it was not read, or nothing.
std::string CheckpointReader::addPiece(Parameter& parameter, const CheckpointPiece& piece, const fs::path& folder)
{
    if (piece.transformed) {
        return "it was compressed or encrypted when it was saved, which is not undone here";
    }
    std::shared_ptr<const platform::FileReader> opened;
    const auto file = openTensorFile(folder / piece.file, opened, piece.part);
    if (!file) {
        std::error_code ignored;
        m_result.damaged += fs::exists(folder / piece.file, ignored) ? 0 : 1;
        noteDamage(file.error());
        return fmt::format("{}: {}", piece.file, file.error().what);
    }
    const auto* root = &file->root;
    if (const auto* dict = std::get_if<PickleDict>(&root->value); dict != nullptr && dict->size() == 1) {
        root = &dict->front().second; // safetensors
    }
    const auto* tensor = root->tensor();
    if (tensor == nullptr || !liesIn(parameter.shape, piece.offset, tensor->shape())) {
        ++m_result.damaged;
        return fmt::format("{}: what lies there is not the tensor that .metadata describes", piece.file);
    }
    return tensor->elements() == 0 ? "" : scanInto(parameter, *tensor, piece.offset, opened);
}

void CheckpointReader::addPieces(const CheckpointTensor& tensor, const fs::path& folder)
{
    const bool empty = std::ranges::find(tensor.shape, 0) != tensor.shape.end();
    if (empty || (tensor.dtype && !isFloating(*tensor.dtype))) {
        ++m_result.others;
        return;
    }
    const auto first = tensor.pieces.empty() ? std::string(distributedIndex) : tensor.pieces.front().file;
    auto parameter = begin(tensor.name, folder / first, tensor.dtype, tensor.shape);
    std::int64_t elements = 1;
    const bool countable = std::ranges::all_of(
        tensor.shape, [&](std::int64_t extent) { return extent > 0 && multiplies(elements, extent, elements); });
    if (!countable) {
        parameter.problem = "it claims more elements than can be counted; .metadata is damaged";
        return finish(std::move(parameter));
    }
    for (const auto& piece : tensor.pieces) {
        auto problem = addPiece(parameter, piece, folder);
        parameter.problem = parameter.problem.empty() ? std::move(problem) : parameter.problem;
    }
    if (parameter.problem.empty() && parameter.scan.count != elements) {
        ++m_result.damaged;
        parameter.problem =
            fmt::format("{} of its {} are in its files", countText(parameter.scan.count), counted(elements, "element"));
    }
    finish(std::move(parameter));
}

void CheckpointReader::readDistributed(const fs::path& metadata)
{
    ++m_result.files;
    const auto index = readCheckpointIndex(metadata);
    if (!index) {
        reject(metadata, index.error().what);
        return;
    }
    for (const auto& tensor : index->tensors) {
        if (stopped()) {
            return;
        }
        addPieces(tensor, metadata.parent_path());
    }
}

/// "model.safetensors.index.json" names the file of every tensor ("weight_map", Hugging Face transformers).
void CheckpointReader::checkShardIndex(const fs::path& path)
{
    simdjson::dom::parser parser;
    simdjson::dom::object map;
    if (parser.load(path.string())["weight_map"].get(map) != simdjson::SUCCESS) {
        return reject(path, "it has no weight_map, so whether all files are here is not known");
    }
    std::set<std::string> missing;
    for (const auto& [name, value] : map) {
        std::string_view file;
        std::error_code ignored;
        if (value.get(file) == simdjson::SUCCESS
            && !fs::exists(path.parent_path() / fs::path(file).filename(), ignored)) {
            missing.emplace(file);
        }
    }
    for (const auto& file : missing) {
        ++m_result.damaged;
        reject(path.parent_path() / file, "the index names this file, and it is not here; copy it, or save again");
    }
}

Result<void> CheckpointReader::readFolder()
{
    constexpr int deepest = 6;
    std::set<fs::path> files; // in an order that does not depend on the file system
    std::error_code error;
    for (fs::recursive_directory_iterator entry(m_root, error); !error && entry != fs::recursive_directory_iterator();
         entry.increment(error)) {
        std::error_code ignored;
        if (entry.depth() >= deepest && entry->is_directory(ignored)) {
            entry.disable_recursion_pending();
            reject(entry->path(), "it lies too deep in the folder; move it up, or name it by itself");
        }
        if (entry->is_regular_file(ignored)) {
            files.insert(entry->path());
        }
        if (stopped()) {
            break;
        }
    }
    if (error) {
        return failure(ErrorKind::io, "The folder cannot be read: " + error.message(), m_root.string());
    }
    for (const auto& path : files) {
        if (holdsTensors(path) || path.extension() == ".distcp") {
            expect(path);
        }
    }
    for (const auto& path : files) {
        const auto name = path.filename().string();
        if (stopped()) {
            break;
        }
        if (name == distributedIndex) {
            readDistributed(path);
        } else if (name.ends_with(".distcp") && !files.contains(path.parent_path() / distributedIndex)) {
            ++m_result.files;
            ++m_result.damaged;
            reject(path, "there is no .metadata beside it: saving was not finished, and torch cannot load it either");
        } else if (name.ends_with(".index.json")) {
            checkShardIndex(path);
        } else if (holdsTensors(path)) {
            readFile(path);
        }
    }
    return {};
}

Result<CheckpointScan> CheckpointReader::read()
{
    std::error_code ignored;
    if (fs::is_directory(m_root, ignored)) {
        TRY(readFolder());
    } else if (m_root.filename() == distributedIndex) {
        readDistributed(m_root);
    } else {
        expect(m_root);
        readFile(m_root);
    }
    if (stopped()) {
        return failure(ErrorKind::cancelled, "cancelled while reading the checkpoint", m_root.string());
    }
    const bool none = m_result.parameters.empty() && m_result.others == 0;
    if (none && m_result.rejected.size() == 1) {
        const auto kind = m_result.damaged > 0 ? ErrorKind::corrupt : ErrorKind::unsupported;
        const auto& only = m_result.rejected.front();
        const bool within = fs::is_directory(m_root, ignored);
        return failure(kind, only.reason, (within ? m_root / only.path : m_root).string());
    }
    if (none && m_result.rejected.empty()) {
        return failure(ErrorKind::unsupported,
            "There is no tensor here: no .safetensors, .pt, .pth, .bin or .ckpt file with one, and no .metadata of a "
            "distributed checkpoint",
            m_root.string());
    }
    return std::move(m_result);
}

/// Names below `folder`, sizes and times.
std::string stampOf(std::vector<fs::path> files, const fs::path& folder)
{
    std::ranges::sort(files);
    ContentHash hash;
    for (const auto& file : files) {
        std::error_code ignored;
        hash.add(file.lexically_relative(folder).string());
        hash.add(static_cast<std::uint64_t>(fs::file_size(file, ignored)));
        hash.add(static_cast<std::uint64_t>(fs::last_write_time(file, ignored).time_since_epoch().count()));
    }
    return hash.hex();
}

} // namespace

ParameterState Parameter::state() const
{
    if (scan.nan == 0 && scan.nonFinite() > 0 && problem.empty()) {
        const bool mask = scan.posInf == 0 && scan.negInf + scan.zero == scan.count;
        const bool notYetTaken = scan.nonFinite() == scan.count;
        return mask || notYetTaken ? ParameterState::sentinel : ParameterState::nonFinite;
    }
    return scan.nonFinite() > 0 ? ParameterState::nonFinite
        : problem.empty()       ? ParameterState::finite
                                : ParameterState::notRead;
}

Shape Parameter::firstNonFinite() const
{
    return scan.firstNonFinite < 0 ? Shape {} : placeIn(shape, scan.firstNonFinite);
}

std::string checkpointStamp(const fs::path& path)
{
    std::error_code error;
    if (fs::is_regular_file(path, error)) {
        return stampOf({path}, path.parent_path());
    }
    std::vector<fs::path> files;
    for (fs::recursive_directory_iterator entry(path, error); !error && entry != fs::recursive_directory_iterator();
         entry.increment(error)) {
        std::error_code ignored;
        if (entry->is_regular_file(ignored)) {
            files.push_back(entry->path());
        }
    }
    return files.empty() ? std::string() : stampOf(std::move(files), path);
}

Result<CheckpointScan> scanCheckpoint(const fs::path& path, const JobContext& job)
{
    return CheckpointReader(path, job).read();
}

} // namespace nanscope::tensorfile
