// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/capture/capturefile.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <chrono>
#include <future>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/try.h"
#include "core/model/scenewords.h"
#include "core/tensorfile/capture/sidecar.h"
#include "core/tensorfile/capture/splitcall.h"
#include "core/tensorfile/scan/scantensor.h"
#include "core/tensorfile/sharding.h"
#include "core/tensorfile/tensorsource.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::tensorfile {

namespace {

constexpr std::array<std::string_view, 3> inputNames {"input", "X", "x"};
constexpr std::array<std::string_view, 3> outputNames {"output", "Y", "y"};
constexpr std::array<std::string_view, 1> updateName {"update"};
// Of an optimizer's state; the update is what was computed from these.
constexpr std::array<std::string_view, 3> momentNames {"momentum", "momentum_buffer", "grad"};

/// Cuts the text up to `mark` off the front of `rest`; none, and nothing cut, where there is no mark.
std::optional<std::string_view> cutAt(std::string_view& rest, std::string_view mark)
{
    const auto at = rest.find(mark);
    if (at == rest.npos) {
        return std::nullopt;
    }
    const auto head = rest.substr(0, at);
    rest.remove_prefix(at + mark.size());
    return head;
}

/// The number behind `word` at the start of `text`, as in "step_120" and "iter=7".
std::optional<std::int64_t> numberBehind(std::string_view word, std::string_view text)
{
    if (!text.starts_with(word)) {
        return std::nullopt;
    }
    text.remove_prefix(word.size());
    if (!text.empty() && std::string_view("-_=").find(text.front()) != std::string_view::npos) {
        text.remove_prefix(1);
    }
    return numberIn<std::int64_t>(text.substr(0, text.find_first_not_of("0123456789")));
}

/// The update that dumps by hand are called after, "layer3_step120_in"; none where a name gives two.
std::optional<std::int64_t> stepOfName(std::string_view stem)
{
    const auto text = lowered(stem);
    std::optional<std::int64_t> step;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool begins = at == 0 || std::isalpha(static_cast<unsigned char>(text[at - 1])) == 0;
        for (const auto* word : {"step", "iteration", "iter"}) {
            const auto found = begins ? numberBehind(word, std::string_view(text).substr(at)) : std::nullopt;
            if (found && step && *step != *found) {
                return std::nullopt;
            }
            step = found ? found : step;
        }
    }
    return step;
}

void readName(std::string_view stem, Capture& capture)
{
    capture.step = capture.step ? capture.step : stepOfName(stem);
    const auto said = parseDumpName(stem);
    if (!said) {
        return;
    }
    capture.rank = said->rank;
    capture.pid = said->pid;
    if (said->timestampMs) {
        capture.timestampMs = *said->timestampMs;
        capture.timestampFromName = true;
    }
}

void readDict(const PickleValue& root, Capture& capture)
{
    if (const auto* rank = root.find("rank")) {
        if (const auto* number = std::get_if<std::int64_t>(&rank->value);
            number != nullptr && *number >= 0 && *number <= std::numeric_limits<int>::max()) {
            capture.rank = static_cast<int>(*number);
        }
    }
    if (const auto* step = root.find("step")) {
        const auto* number = std::get_if<std::int64_t>(&step->value);
        capture.step = number != nullptr && *number >= 0 ? *number : capture.step;
    }
    if (const auto* epsilon = root.find("epsilon")) {
        if (const auto* number = std::get_if<double>(&epsilon->value)) {
            capture.epsilon = *number;
        } else if (const auto* whole = std::get_if<std::int64_t>(&epsilon->value)) {
            capture.epsilon = static_cast<double>(*whole);
        }
    }
}

std::vector<std::int64_t> numbersIn(const PickleValue* value)
{
    std::vector<std::int64_t> numbers;
    const auto* items = value != nullptr ? std::get_if<PickleList>(&value->value) : nullptr;
    for (const auto& item : items != nullptr ? *items : PickleList()) {
        const auto* number = std::get_if<std::int64_t>(&item.value);
        numbers.push_back(number != nullptr ? *number : -1);
    }
    return numbers;
}

/// By name and contents; a dict of another origin has no reason to hold the shape and the format of its tensor.
bool isWrapped(const PickleValue& root, const CaptureFile& file)
{
    const auto& capture = file.capture;
    const auto* rank = root.find("rank");
    const auto* type = root.find("dtype");
    const auto* typeName = type != nullptr ? std::get_if<std::string>(&type->value) : nullptr;
    const auto expected = "torch." + std::string(torchName(capture.input.dtype));
    return capture.timestampFromName && file.output && rank != nullptr && root.find("epsilon") != nullptr
        && typeName != nullptr && *typeName == expected && numbersIn(root.find("shape")) == capture.input.shape;
}

template <std::size_t count>
const Tensor* firstTensor(const PickleValue& root, const std::array<std::string_view, count>& names)
{
    for (const auto name : names) {
        const auto* value = root.find(name);
        if (value != nullptr && value->tensor() != nullptr) {
            return value->tensor();
        }
    }
    return nullptr;
}

/// An update alone is what goes into the iteration; beside the momentum or the gradient it is what came of them.
const Tensor* inputOf(const PickleValue& root)
{
    if (root.tensor() != nullptr) {
        return root.tensor();
    }
    if (const auto* input = firstTensor(root, inputNames)) {
        return input;
    }
    const auto* update = firstTensor(root, updateName);
    const auto* moment = firstTensor(root, momentNames);
    const bool ofMoment = moment != nullptr && (update == nullptr || update->shape() == moment->shape());
    return ofMoment ? moment : update;
}

const Tensor* outputOf(const PickleValue& root, const Tensor& input)
{
    if (const auto* output = firstTensor(root, outputNames)) {
        return output;
    }
    const auto* update = firstTensor(root, updateName);
    return update != nullptr && update != &input && update->shape() == input.shape() ? update : nullptr;
}

/// Newton-Schulz of a part is not a part of Newton-Schulz of the whole: nothing that was computed from it alone may
/// be held against the dump.
std::string partOf(const CaptureFile& file)
{
    for (const auto* tensor : {&file.input, file.output ? &*file.output : nullptr}) {
        auto part = tensor != nullptr && tensor->sharding() != nullptr ? partText(*tensor->sharding()) : std::string();
        if (!part.empty()) {
            return part;
        }
    }
    return {};
}

/// What a dump says of itself counts before its sidecar.
void spread(CaptureFile& file, const SaidBeside& known)
{
    const auto take = [](Tensor& tensor, const std::shared_ptr<const Sharding>& sharding) {
        if (sharding != nullptr && tensor.sharding() == nullptr && sharding->shape.size() == tensor.shape().size()) {
            tensor = tensor.withSharding(sharding);
        }
    };
    take(file.input, known.input);
    if (file.output) {
        take(*file.output, known.output);
    }
    if (auto part = partOf(file); !part.empty()) {
        file.capture.part = std::move(part);
    }
}

CaptureTensor factsOf(const Tensor& tensor)
{
    return {tensor.shape(), tensor.dtype(), {}};
}

/// Of a call that was saved as two files.
bool isSplit(const CaptureFile& file)
{
    return file.output && file.output->source() != file.input.source();
}

Result<CaptureFile> noInput(const TensorFile& file)
{
    const auto hint =
        file.opaque.empty() ? std::string() : "; it also names " + file.opaque.front() + ", which is never run";
    return failure(ErrorKind::unsupported,
        "The file holds neither a tensor nor a dict with a tensor named input (or X, x, update, momentum, grad), so it "
        "is no "
        "capture"
            + hint);
}

/// Of a DTensor a rank may hold nothing; a whole call has something to orthogonalise.
Result<void> requireElements(const CaptureFile& file)
{
    const auto empty = [](const Tensor& tensor) { return tensor.elements() == 0 && tensor.sharding() == nullptr; };
    const auto* tensor = empty(file.input) ? &file.input : file.output && empty(*file.output) ? &*file.output : nullptr;
    return tensor == nullptr ? Result<void>()
                             : failure(ErrorKind::format,
                                 "The " + std::string(tensor == &file.input ? "input" : "output") + " has no elements ("
                                     + shapeText(tensor->shape()) + "), so there is nothing to judge");
}

Result<CaptureFile> collect(const std::filesystem::path& path, const TensorFile& file)
{
    const auto* input = inputOf(file.root);
    if (input == nullptr) {
        return noInput(file);
    }
    CaptureFile result;
    result.input = *input;
    result.capture.input = factsOf(*input);
    auto& capture = result.capture;
    capture.identity = file.identity;
    const auto beside = outputBeside(path, file);
    if (const auto* output = beside ? beside->root.tensor() : outputOf(file.root, *input)) {
        result.output = *output;
        capture.output = factsOf(*output);
    }
    if (beside) {
        ContentHash both;
        both.add(file.identity + beside->identity);
        capture.identity = both.hex();
    }
    capture.scene.loneTensor = input == file.root.tensor() && !beside && !namesAnInput(path.stem().string());
    capture.part = partOf(result);
    capture.file = path.filename().string();
    capture.path = path.string();
    constexpr std::int64_t nsPerMs = 1'000'000;
    capture.timestampMs = input->source()->stamp().modifiedNs / nsPerMs;
    readName(path.stem().string(), capture);
    readDict(file.root, capture);
    const auto said = readSidecar(path, capture);
    spread(result, said);
    result.otherCode = said.otherCode;
    const auto& scene = capture.scene;
    result.wrapped = scene.state == OwnState::none && scene.otherTensors == 0 && isWrapped(file.root, result);
    TRY(requireElements(result));
    return result;
}

Result<std::vector<Scan>> scanChecked(
    const Tensor& tensor, const std::shared_ptr<const platform::FileReader>& file, const ReadWatch& watch)
{
    auto scanned = TRY(scanVerifying(tensor, file, watch));
    const auto matches =
        TRY(scanned.checksumMatches ? Result<bool>(*scanned.checksumMatches) : checksumMatches(tensor, watch));
    if (!matches) {
        return failure(ErrorKind::corrupt,
            "The checksum of a tensor does not match, so its values cannot be trusted; copy the file again from where "
            "it "
            "was written");
    }
    return std::move(scanned.batches);
}

std::int64_t bytesOf(const Tensor& tensor)
{
    return tensor.elements() * static_cast<std::int64_t>(sizeOf(tensor.dtype()));
}

/// Counts what the threads of a scan read, and reports it on the job's own.
class ScanMeter
{
public:
    ScanMeter(const CaptureFile& file, const JobContext& job)
        : m_job(job)
        , m_name(file.capture.file)
        , m_total(bytesOf(file.input) + (file.output ? bytesOf(*file.output) : 0))
    { }

    ReadWatch watch()
    {
        return {m_job.cancel, [this](std::int64_t bytes) { add(bytes); }};
    }

    void tell()
    {
        m_told = m_done;
        m_job.progress({"inspect", "scan", m_told, std::max(m_told, m_total), "bytes", m_name});
    }

private:
    static constexpr std::int64_t step = std::int64_t {1} << 22;

    void add(std::int64_t bytes)
    {
        m_done += bytes;
        if (std::this_thread::get_id() == m_owner && m_done - m_told >= step) {
            tell();
        }
    }

    const JobContext& m_job;
    std::string m_name;
    std::int64_t m_total;
    std::thread::id m_owner = std::this_thread::get_id();
    std::atomic<std::int64_t> m_done = 0;
    std::int64_t m_told = 0; ///< the owner's
};

using PendingScan = std::future<Result<std::vector<Scan>>>;

/// A second thread pays where scanning takes longer than starting one.
PendingScan startOutputScan(
    const CaptureFile& file, const std::shared_ptr<const platform::FileReader>& opened, const ReadWatch& watch)
{
    constexpr std::int64_t elementsPerThread = std::int64_t {1} << 22;
    if (!file.output) {
        return {};
    }
    const auto scan = [tensor = *file.output, opened, watch] { return scanChecked(tensor, opened, watch); };
    if (std::min(file.input.elements(), file.output->elements()) >= elementsPerThread) {
        try {
            return std::async(std::launch::async, scan);
        } catch (const std::system_error&) {
            // No thread to be had: the scan waits until its result is asked for.
        }
    }
    return std::async(std::launch::deferred, scan);
}

Result<std::vector<Scan>> finished(PendingScan pending, ScanMeter& meter)
{
    while (pending.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout) {
        meter.tell();
    }
    return pending.get();
}

using Reader = std::shared_ptr<const platform::FileReader>;

/// Its own where the call was saved as two files.
Result<Reader> readerOfOutput(const CaptureFile& file, const Reader& ofInput)
{
    if (!isSplit(file)) {
        return ofInput;
    }
    return file.output->source()->reopen().map(
        [](platform::FileReader&& reader) { return std::make_shared<const platform::FileReader>(std::move(reader)); });
}

Result<void> scanOpened(
    CaptureFile& file, const std::shared_ptr<const platform::FileReader>& opened, const JobContext& job = {})
{
    const auto named = [&](Error error) { return withPath(std::move(error), file.capture.path); };
    const auto ofOutput = TRY(readerOfOutput(file, opened));
    ScanMeter meter(file, job);
    auto outputScan = startOutputScan(file, ofOutput, meter.watch());
    auto input = scanChecked(file.input, opened, meter.watch()).map_error(named);
    auto output = file.output ? finished(std::move(outputScan), meter).map_error(named) : Result<std::vector<Scan>> {};
    if (!input || !output) {
        return tl::make_unexpected(input ? output.error() : input.error());
    }
    file.capture.input.batches = std::move(*input);
    if (file.capture.output) {
        file.capture.output->batches = std::move(*output);
    }
    return {};
}

Result<TensorToWrite> contentsOf(const Tensor& tensor, const char* name)
{
    TensorToWrite whole {name, tensor.dtype(), tensor.shape(), {}};
    for (std::int64_t batch = 0; batch < tensor.matrices().batch; ++batch) {
        auto bits = TRY(tensor.readBits(batch));
        whole.bytes.insert(whole.bytes.end(), bits.begin(), bits.end());
    }
    return whole;
}

/// One file with what two hold.
Result<std::vector<std::byte>> joinedBytes(const CaptureFile& file)
{
    auto input = TRY(contentsOf(file.input, "input"));
    auto output = TRY(contentsOf(*file.output, "output"));
    return ptBytes({{"input", std::move(input)}, {"output", std::move(output)}});
}

Result<Capture> sidecarCapture(const std::filesystem::path& path)
{
    return readLoneSidecar(path).map([&](Capture capture) {
        readName(path.stem().string(), capture);
        return capture;
    });
}

Result<CaptureFile> refuseSidecar(const std::filesystem::path& path)
{
    const auto capture = TRY(sidecarCapture(path));
    return failure(ErrorKind::unsupported,
        fmt::format("There is nothing to replay: {}; {}", withheldText(capture.scene), whatKeepsMore(capture.scene)),
        path.string());
}

/// Opens the file once: the identity is that of what `opened` holds, whatever lies under the path by now.
Result<CaptureFile> openWanted(const CaptureRef& wanted, std::shared_ptr<const platform::FileReader>& opened)
{
    if (wanted.empty()) {
        return failure(ErrorKind::refused,
            "The session names a file outside its own folder and the folder it was imported from, which is not "
            "opened; import the folder that holds the capture");
    }
    if (looksLikeSidecar(wanted.path)) {
        return refuseSidecar(wanted.path);
    }
    const auto path = inputBeside(wanted.path).value_or(wanted.path);
    auto file = openTensorFile(path, opened)
                    .and_then([&](const TensorFile& tensors) { return collect(path, tensors); })
                    .map_error([&](Error error) { return withPath(std::move(error), path); });
    if (file && !wanted.identity.empty() && file->capture.identity != wanted.identity) {
        return failure(ErrorKind::refused,
            "The file holds another capture than the one that was imported under this name; import its folder again",
            wanted.path);
    }
    return file;
}

} // namespace

std::optional<DumpName> parseDumpName(std::string_view stem)
{
    auto rest = stem;
    auto lead = cutAt(rest, "dion_nan_capture_rank");
    lead = lead ? lead : cutAt(rest, "nanscope_control_rank");
    const auto rank = cutAt(rest, "_shape");
    const auto shape = cutAt(rest, "_pid");
    const auto pid = cutAt(rest, "_");
    if (!lead || !lead->empty() || !rank || !shape || !pid) {
        return std::nullopt;
    }
    return DumpName {numberIn<int>(*rank), numberIn<int>(*pid), numberIn<std::int64_t>(rest)};
}

bool looksLikeSidecar(const std::filesystem::path& path)
{
    return path.extension() == ".json" && parseDumpName(path.stem().string());
}

bool isThere(const CaptureRef& wanted)
{
    if (!looksLikeSidecar(wanted.path)) {
        return openCapture(wanted).has_value();
    }
    const auto capture = sidecarCapture(wanted.path);
    return capture && (wanted.identity.empty() || capture->identity == wanted.identity);
}

Result<CaptureFile> openCapture(const CaptureRef& wanted)
{
    std::shared_ptr<const platform::FileReader> opened;
    return openWanted(wanted, opened);
}

Result<std::optional<std::vector<std::byte>>> captureBytes(const CaptureRef& wanted, std::uint64_t limit)
{
    std::shared_ptr<const platform::FileReader> opened;
    auto file = TRY(openWanted(wanted, opened));
    const bool split = isSplit(file);
    const auto size = split ? static_cast<std::uint64_t>(bytesOf(file.input) + bytesOf(*file.output)) : opened->size();
    if (size > limit) {
        return std::nullopt;
    }
    auto scanned = scanOpened(file, opened);
    if (split) {
        return scanned.and_then([&] { return joinedBytes(file); }).map([](auto bytes) {
            return std::optional(std::move(bytes));
        });
    }
    std::vector<std::byte> bytes(size);
    return scanned.and_then([&] { return opened->readAt(0, bytes); }).map([&] {
        return std::optional(std::move(bytes));
    });
}

Result<void> scanCapture(CaptureFile& file, const JobContext& job)
{
    if (file.input.source() == nullptr) {
        return failure(ErrorKind::usage, "The capture was not opened from a file", file.capture.path);
    }
    auto reopened = TRY(file.input.source()->reopen());
    return scanOpened(file, std::make_shared<const platform::FileReader>(std::move(reopened)), job);
}

Result<CaptureFile> readCapture(
    const std::filesystem::path& path, const std::function<bool(const Capture&)>& known, const JobContext& job)
{
    std::shared_ptr<const platform::FileReader> opened;
    auto file = openWanted(path, opened);
    if (!file || (known && known(file->capture))) {
        return file;
    }
    return scanOpened(*file, opened, job).map([&] { return std::move(*file); });
}

Result<CaptureFile> readCaptureOrCounts(
    const std::filesystem::path& path, const std::function<bool(const Capture&)>& known, const JobContext& job)
{
    if (!looksLikeSidecar(path)) {
        return readCapture(path, known, job);
    }
    return sidecarCapture(path).map([&](Capture capture) {
        if (known) {
            known(capture);
        }
        CaptureFile file;
        file.capture = std::move(capture);
        return file;
    });
}

} // namespace nanscope::tensorfile
