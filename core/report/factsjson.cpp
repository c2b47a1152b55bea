// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/factsjson.h"

#include <concepts>
#include <type_traits>

#include "core/report/jsonread.h"
#include "core/report/report.h"

namespace nanscope {

namespace {

using jsonread::Json;

// One list of fields for each type serves the writer and the reader: they cannot disagree. T is const for the writer.
template <class T, class Type>
concept Of = std::same_as<std::remove_const_t<T>, Type>;

template <class Visit>
void fields(Visit& visit, Of<EvidenceLine> auto& line)
{
    visit("text", line.text);
    visit("source", line.source);
}

template <class Visit>
void fields(Visit& visit, Of<VariantFit> auto& fit)
{
    visit("variant", fit.variant);
    visit("fit", fit.fit);
}

template <class Visit>
void fields(Visit& visit, Of<Identification> auto& id)
{
    visit("names", id.names);
    visit("how", id.how);
    visit("fit", id.fit);
    visit("runner_up", id.runnerUp);
    visit("runner_up_name", id.runnerUpName);
    visit("matches_none", id.matchesNone);
    visit("all", id.all);
}

template <class Visit>
void fields(Visit& visit, Of<MemberResult> auto& member)
{
    visit("variant", member.variant);
    visit("precision", member.precision);
    visit("roundings", member.roundings);
    visit("finite", member.finite);
    visit("reproducing", member.reproducing);
    visit("slack_percent", member.slackPercent);
    visit("slack_needed", member.slackNeeded);
    visit("absmax_q", member.absmaxQ);
    visit("headroom_binades", member.headroomBinades);
    visit("first_bad", member.firstBad);
    visit("published", member.published);
    visit("casts_first", member.castsFirst);
    visit("recorded_epsilon", member.recordedEpsilon);
    visit("cast_loses", member.castLoses);
    visit("forecast_by", member.forecastBy);
}

template <class Visit>
void fields(Visit& visit, Of<std::pair<std::uint64_t, std::int64_t>> auto& bits)
{
    visit("bits", bits.first);
    visit("count", bits.second);
}

template <class Visit>
void fields(Visit& visit, Of<DamagePattern> auto& damage)
{
    visit("shape", damage.shape);
    visit("text", damage.text);
    visit("batch", damage.batch);
    visit("row_begin", damage.rowBegin);
    visit("row_end", damage.rowEnd);
    visit("col_begin", damage.colBegin);
    visit("col_end", damage.colEnd);
    visit("count", damage.count);
    visit("nan", damage.nan);
    visit("nan_bits", damage.nanBits);
}

template <class Visit>
void fields(Visit& visit, Of<LogTrend> auto& log)
{
    visit("climbing", log.climbing);
    visit("line", log.line);
}

template <class Visit>
void fields(Visit& visit, Of<UnjudgedTiles> auto& tiles)
{
    visit("count", tiles.count);
    visit("of", tiles.of);
    visit("error", tiles.error);
    visit("spread", tiles.spread);
    visit("row", tiles.row);
    visit("col", tiles.col);
}

template <class Visit>
void fields(Visit& visit, Of<OutputFit> auto& fit)
{
    visit("compared", fit.compared);
    visit("local_damage", fit.localDamage);
    visit("measured", fit.measured);
    visit("worst_tile_error", fit.worstTileError);
    visit("worst_row", fit.worstRow);
    visit("worst_col", fit.worstCol);
    visit("unless_ran", fit.unlessRan);
    visit("unjudged", fit.unjudged);
}

template <class Visit>
void fields(Visit& visit, Of<ControlCall> auto& control)
{
    visit("source", control.source);
    visit("same_call", control.sameCall);
    visit("input_norm", control.inputNorm);
    visit("identified", control.identified);
    visit("exact", control.exact);
}

template <class Visit>
void fields(Visit& visit, Of<DuplicateInput> auto& duplicate)
{
    visit("capture", duplicate.capture);
    visit("same_process", duplicate.sameProcess);
    visit("rank", duplicate.rank);
    visit("fits", duplicate.fits);
    visit("same_schedule", duplicate.sameSchedule);
}

template <class Visit>
void fields(Visit& visit, Of<FailureRate> auto& rate)
{
    visit("failures", rate.failures);
    visit("hours", rate.hours);
}

template <class Visit>
void fields(Visit& visit, Of<TriedExperiment> auto& tried)
{
    visit("id", tried.id);
    visit("seen", tried.seen);
    visit("hours", tried.hours);
    visit("times", tried.times);
}

template <class Visit>
void fields(Visit& visit, Of<CallsAgain> auto& called)
{
    visit("capture", called.capture);
    visit("failed", called.failed);
    visit("calls", called.calls);
    visit("same_gpu", called.sameGpu);
    visit("experiment", called.experiment);
}

template <class Visit>
void fields(Visit& visit, Of<Facts> auto& facts)
{
    visit("role", facts.role);
    visit("replayed", facts.replayed);
    visit("damage", facts.damage);
    if (!facts.replayed) {
        return;
    }
    visit("rows", facts.rows);
    visit("cols", facts.cols);
    visit("matrices", facts.matrices);
    visit("matrices_judged", facts.matricesJudged);
    visit("input_absmax", facts.inputAbsmax);
    visit("input_finite", facts.inputFinite);
    visit("input_zero", facts.inputZero);
    visit("output_finite", facts.outputFinite);
    visit("output_zero", facts.outputZero);
    visit("damage_on_zeros", facts.damageOnZeros);
    visit("damage_in_faint_lines", facts.damageInFaintLines);
    visit("damage_among_largest", facts.damageAmongLargest);
    visit("dumped_by_wrapper", facts.dumpedByWrapper);
    visit("exact_bits", facts.exactBits);
    visit("norm_may_vanish", facts.normMayVanish);
    visit("epsilon_matters", facts.epsilonMatters);
    visit("epsilon_missing", facts.epsilonMissing);
    visit("identified", facts.identified);
    visit("fit", facts.fit);
    visit("control", facts.control);
    visit("output_of_earlier", facts.outputOfEarlier);
    visit("output_of_earlier_off", facts.outputOfEarlierOff);
    visit("zero_in_places", facts.zeroInPlaces);
    visit("term_or_factor", facts.termOrFactor);
    visit("misplaced", facts.misplaced);
    visit("found", facts.found);
    visit("members", facts.members);
    visit("logs", facts.logs);
    visit("hardware_error", facts.hardwareError);
    visit("besides", facts.besides);
    visit("duplicate", facts.duplicate);
    visit("wrong_beside_other_ranks", facts.wrongBesideOtherRanks);
    visit("ran", facts.ran);
    visit("nothing_else", facts.nothingElse);
    visit("failure_rate", facts.failureRate);
    visit("tried", facts.tried);
    visit("called_again", facts.calledAgain);
}

constexpr DamageShape lastOf(DamageShape)
{
    return lastDamageShape;
}

constexpr Role lastOf(Role)
{
    return Role::healthy;
}

constexpr IdentifiedBy lastOf(IdentifiedBy)
{
    return IdentifiedBy::unknown;
}

constexpr Seen lastOf(Seen)
{
    return Seen::oftener;
}

class Writer
{
public:
    template <class T>
    void operator()(const char* key, const T& value)
    {
        m_json[key] = written(value);
    }

    template <class T>
    static Json written(const T& value)
    {
        if constexpr (std::is_enum_v<T>) {
            return name(value);
        } else if constexpr (std::same_as<T, double>) {
            return jsonNumber(value);
        } else if constexpr (std::integral<T> || std::same_as<T, std::string>) {
            return value;
        } else {
            Writer writer;
            fields(writer, value);
            return std::move(writer.m_json);
        }
    }

    template <class T>
    static Json written(const std::optional<T>& value)
    {
        return value ? written(*value) : Json(nullptr);
    }

    template <class T>
    static Json written(const std::vector<T>& values)
    {
        auto array = Json::array();
        for (const auto& value : values) {
            array.push_back(written(value));
        }
        return array;
    }

private:
    Json m_json = Json::object();
};

class Reader
{
public:
    explicit Reader(const Json& json)
        : m_json(json)
    { }

    template <class T>
    void operator()(const char* key, T& value)
    {
        read(jsonread::at(m_json, key), value);
    }

    template <class T>
    static void read(const Json& json, T& value)
    {
        if constexpr (std::is_enum_v<T>) {
            jsonread::readName(json, value, lastOf(T {}));
        } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
            jsonread::read(json, value);
        } else if (json.is_object()) {
            Reader reader(json);
            fields(reader, value);
        }
    }

    template <class T>
    static void read(const Json& json, std::optional<T>& value)
    {
        if (json.is_null()) {
            value.reset();
        } else {
            read(json, value.emplace());
        }
    }

    template <class T>
    static void read(const Json& json, std::vector<T>& values)
    {
        values.clear();
        for (const auto& item : json.is_array() ? json : Json::array()) {
            read(item, values.emplace_back());
        }
    }

private:
    const Json& m_json;
};

} // namespace

Json toJson(const Facts& facts)
{
    return Writer::written(facts);
}

Facts factsFromJson(const Json& json)
{
    Facts facts;
    Reader::read(json, facts);
    return facts;
}

} // namespace nanscope
