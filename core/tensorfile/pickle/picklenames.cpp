// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "core/tensorfile/pickle/picklegraph.h"

namespace nanscope::tensorfile {

namespace {

struct Allowed
{
    std::string_view module;
    std::string_view name;
    Known known;
};

constexpr std::array allowed {
    Allowed {"torch._utils", "_rebuild_tensor", Known::rebuildTensor},
    Allowed {"torch._utils", "_rebuild_tensor_v2", Known::rebuildTensorV2},
    Allowed {"torch._utils", "_rebuild_tensor_v3", Known::rebuildTensorV3},
    Allowed {"torch._utils", "_rebuild_parameter", Known::rebuildParameter},
    Allowed {"torch._utils", "_rebuild_parameter_with_state", Known::rebuildParameter},
    Allowed {"torch._utils", "_rebuild_wrapper_subclass", Known::rebuildWrapper},
    Allowed {"torch._tensor", "_rebuild_from_type_v2", Known::rebuildFromType},
    Allowed {"collections", "OrderedDict", Known::dict},
    Allowed {"collections", "defaultdict", Known::dict},
    Allowed {"collections", "Counter", Known::dict},
    Allowed {"builtins", "dict", Known::dict},
    Allowed {"__builtin__", "dict", Known::dict},
    Allowed {"torch", "Size", Known::list},
    Allowed {"builtins", "list", Known::list},
    Allowed {"builtins", "tuple", Known::list},
    Allowed {"builtins", "set", Known::list},
    Allowed {"builtins", "frozenset", Known::list},
    Allowed {"__builtin__", "list", Known::list},
    Allowed {"__builtin__", "tuple", Known::list},
    Allowed {"__builtin__", "set", Known::list},
    Allowed {"__builtin__", "frozenset", Known::list},
    Allowed {"torch", "device", Known::device},
    Allowed {"torch.serialization", "_get_layout", Known::layout},
    Allowed {"torch.storage", "UntypedStorage", Known::untypedStorage},
    Allowed {"torch", "UntypedStorage", Known::untypedStorage},
    Allowed {"torch", "Tensor", Known::tensorClass},
    Allowed {"torch._tensor", "Tensor", Known::tensorClass},
    Allowed {"torch.nn.parameter", "Parameter", Known::tensorClass},
    Allowed {"torch.nn.parameter", "Buffer", Known::tensorClass},
};

struct RecordName
{
    std::string_view name;
    RecordClass type;
};

// Their modules moved from torch.distributed._tensor to torch.distributed.tensor and within it; the names stayed.
constexpr std::array recordClasses {
    RecordName {"DTensor", RecordClass::dtensor},
    RecordName {"AsyncCollectiveTensor", RecordClass::asyncTensor},
    RecordName {"DTensorSpec", RecordClass::spec},
    RecordName {"TensorMeta", RecordClass::tensorMeta},
    RecordName {"ShardOrderEntry", RecordClass::shardOrder},
    RecordName {"DeviceMesh", RecordClass::mesh},
    RecordName {"_MeshLayout", RecordClass::meshLayout},
    RecordName {"_FlatLayout", RecordClass::flatLayout},
    RecordName {"Shard", RecordClass::shard},
    RecordName {"_StridedShard", RecordClass::stridedShard},
    RecordName {"Replicate", RecordClass::replicate},
    RecordName {"Partial", RecordClass::partial},
    RecordName {"_Partial", RecordClass::partial},
    RecordName {"_MaskPartial", RecordClass::maskPartial},
    RecordName {"_NormPartial", RecordClass::normPartial},
};

struct StorageClass
{
    std::string_view name;
    DType dtype;
};

constexpr std::array storageClasses {
    StorageClass {"DoubleStorage", DType::float64},
    StorageClass {"FloatStorage", DType::float32},
    StorageClass {"HalfStorage", DType::float16},
    StorageClass {"BFloat16Storage", DType::bfloat16},
    StorageClass {"LongStorage", DType::int64},
    StorageClass {"IntStorage", DType::int32},
    StorageClass {"ShortStorage", DType::int16},
    StorageClass {"CharStorage", DType::int8},
    StorageClass {"ByteStorage", DType::uint8},
    StorageClass {"BoolStorage", DType::boolean},
    StorageClass {"ComplexFloatStorage", DType::complex64},
    StorageClass {"ComplexDoubleStorage", DType::complex128},
};

} // namespace

PickleGlobal resolveGlobal(std::string_view module, std::string_view name)
{
    constexpr std::size_t longestName = 100; // in messages and lists
    PickleGlobal global;
    global.name = std::string(module.substr(0, longestName)) + " " + std::string(name.substr(0, longestName));
    for (const auto& entry : allowed) {
        if (entry.module == module && entry.name == name) {
            global.known = entry.known;
            return global;
        }
    }
    for (const auto& entry : recordClasses) {
        if (module.starts_with("torch.distributed.") && entry.name == name) {
            global.known = Known::record;
            global.record = entry.type;
            return global;
        }
    }
    const bool torch = module == "torch";
    if (const auto dtype = parseDType(name); torch && dtype && torchName(*dtype) == name) {
        global.known = Known::dtype;
        global.dtype = *dtype;
        return global;
    }
    for (const auto& entry : storageClasses) {
        if ((torch || module == "torch.cuda") && entry.name == name) {
            global.known = Known::typedStorage;
            global.dtype = entry.dtype;
        }
    }
    return global;
}

std::string_view nameOf(RecordClass record)
{
    const auto found = std::find_if(
        recordClasses.begin(), recordClasses.end(), [&](const auto& entry) { return entry.type == record; });
    return found == recordClasses.end() ? "object" : found->name;
}

} // namespace nanscope::tensorfile
