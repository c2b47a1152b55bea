// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/report/jsonread.h"
#include "core/report/report.h"

namespace nanscope {

using namespace jsonread;

// In no unnamed namespace: jsonread's template for vectors finds them by their argument.
static void read(const Json& json, std::optional<NonFinite>& out)
{
    if (!json.is_object()) {
        return;
    }
    auto& first = out.emplace();
    read(at(json, "iteration"), first.iteration);
    readName(at(json, "op"), first.op, OpName::rescale);
    read(at(json, "index"), first.index);
    readName(at(json, "kind"), first.kind, ValueClass::negInf);
    read(at(json, "count"), first.count);
}

static void read(const Json& json, BatchOutcome& out)
{
    read(at(json, "batch"), out.batch);
    readName(at(json, "outcome"), out.outcome, Outcome::nan);
    read(at(json, "first_nonfinite"), out.firstNonFinite);
}

static void read(const Json& json, Gauge& out)
{
    read(at(json, "iteration"), out.iteration);
    read(at(json, "spectral_bound"), out.spectralBound);
    read(at(json, "spectral_limit"), out.spectralLimit);
    read(at(json, "absmax_q"), out.absmaxQ);
    read(at(json, "orthogonality"), out.orthogonality);
    read(at(json, "absmax_x"), out.absmaxX);
    read(at(json, "distance_to_fp64"), out.distanceToFp64);
}

static void read(const Json& json, DeepGauge& out)
{
    read(at(json, "iteration"), out.iteration);
    read(at(json, "iterate_distance"), out.iterateDistance);
    read(at(json, "lambda_min"), out.lambdaMin);
    read(at(json, "symmetry_error"), out.symmetryError);
    read(at(json, "commutator"), out.commutator);
    read(at(json, "signal_gains"), out.signalGains);
}

static void readDeep(const Json& json, Cell& cell)
{
    read(at(json, "deep_error"), cell.deepError);
    const auto& given = at(json, "deep");
    if (!given.is_object()) {
        return;
    }
    auto& deep = cell.deep.emplace();
    read(at(given, "batch"), deep.batch);
    read(at(given, "shares"), deep.shares);
    read(at(given, "seconds"), deep.seconds);
    std::vector<double> range;
    read(at(given, "output_range"), range);
    std::copy_n(range.begin(), std::min(range.size(), deep.outputRange.size()), deep.outputRange.begin());
    read(at(json, "gauges"), deep.steps);
}

static void read(const Json& json, Environment& out)
{
    read(at(json, "engine"), out.engine);
    read(at(json, "device"), out.device);
    read(at(json, "hardware"), out.hardware);
    read(at(json, "cuda"), out.cuda);
    read(at(json, "threads"), out.threads);
    read(at(json, "flags"), out.flags);
}

Result<Cell> cellFromJson(const Json& json)
{
    if (!json.is_object() || !at(json, "variant").is_string()) {
        return failure(ErrorKind::format, "this is not a cell of nanscope.sweep/1: it is no object with a \"variant\"");
    }
    Cell cell;
    read(at(json, "id"), cell.id);
    read(at(json, "capture"), cell.capture);
    read(at(json, "variant"), cell.variant);
    readName(at(json, "precision"), cell.precision, Precision::fp16);
    read(at(json, "device"), cell.device);
    readName(at(json, "lowering"), cell.lowering, Lowering::fused);
    cell.native = at(json, "arithmetic") == "native";
    read(at(json, "epsilon"), cell.epsilon);
    readName(at(json, "outcome"), cell.outcome, Outcome::nan);
    read(at(json, "first_nonfinite"), cell.firstNonFinite);
    read(at(json, "birth"), cell.birth);
    read(at(json, "batches"), cell.batches);
    read(at(json, "gauges"), cell.gauges);
    read(at(json, "seconds"), cell.seconds);
    read(at(json, "environment"), cell.environment);
    read(at(json, "error"), cell.error);
    readDeep(json, cell);
    return cell;
}

} // namespace nanscope
