// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/variant.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace nanscope::replay {

namespace {

using Schedule = std::vector<Coefficients>;

/// Keller Jordan's quintic, tuned for slope at zero rather than for convergence to one.
const Schedule& kellerJordanSteps()
{
    static const Schedule steps(5, Coefficients {3.4445, -4.7750, 2.0315});
    return steps;
}

/// YouJiacheng's five steps.
const Schedule& youJiachengSteps()
{
    static const Schedule steps {
        {4.0848, -6.8946, 2.9270},
        {3.9505, -6.3029, 2.6377},
        {3.7418, -5.5913, 2.3037},
        {2.8769, -3.1427, 1.2046},
        {2.8366, -3.0525, 1.2012},
    };
    return steps;
}

/// Polar Express for singular values down to 1e-3, without any safety factor.
const Schedule& polarExpress()
{
    static const Schedule steps {
        {8.28721201814563, -23.595886519098837, 17.300387312530933},
        {4.107059111542203, -2.9478499167379106, 0.5448431082926601},
        {3.9486908534822946, -2.908902115962949, 0.5518191394370137},
        {3.3184196573706015, -2.488488024314874, 0.51004894012372},
        {2.300652019954817, -1.6689039845747493, 0.4188073119525673},
        {1.891301407787398, -1.2679958271945868, 0.37680408948524835},
        {1.8750014808534479, -1.2500016453999487, 0.3750001645474248},
        {1.875, -1.25, 0.375},
    };
    return steps;
}

Schedule polarExpressFive()
{
    return {polarExpress().begin(), polarExpress().begin() + 5};
}

/// Polar Express with safety factor 2e-2 and cushion 2.
const Schedule& polarExpressSafe()
{
    static const Schedule steps {
        {8.156554524902461, -22.48329292557795, 15.878769915207462},
        {4.042929935166739, -2.808917465908714, 0.5000178451051316},
        {3.8916678022926607, -2.772484153217685, 0.5060648178503393},
        {3.285753657755655, -2.3681294933425376, 0.46449024233003106},
        {2.3465413258596377, -1.7097828382687081, 0.42323551169305323},
    };
    return steps;
}

/// Eight of Keller Jordan's, then two classical quintics that pin what is near 1.
Schedule hybrid()
{
    Schedule steps(8, kellerJordanSteps().front());
    steps.resize(10, Coefficients {2.0, -1.5, 0.5});
    return steps;
}

/// CANS, no safety factor.
const Schedule& cansSchedule()
{
    static const Schedule steps {
        {8.4703, -25.1081, 18.6293},
        {4.1828, -3.1087, 0.5806},
        {3.9619, -2.9541, 0.5630},
        {3.2866, -2.4647, 0.5074},
        {2.2737, -1.6447, 0.4162},
    };
    return steps;
}

/// What is shared with another variant, under a name of its own.
Variant named(Variant v, std::string name, std::string title, std::string source)
{
    v.name = std::move(name);
    v.title = std::move(title);
    v.source = std::move(source);
    return v;
}

/// Muon as first published, which much is compared with and copied from.
Variant kellerJordan()
{
    Variant kj;
    kj.name = "keller-jordan";
    kj.title = "Muon as first published";
    kj.source = "KellerJordan/Muon 857d1ad, muon.py";
    kj.steps = kellerJordanSteps();
    kj.ignoresCallerEpsilon = true;
    kj.form = Form::standardScaled;
    kj.symmetricKernels = false;
    kj.family = "jordan";
    return kj;
}

Variant gramNewtonSchulz()
{
    Variant v;
    v.name = "gns-gram";
    v.title = "Gram Newton-Schulz, restart after two steps";
    v.source = "Dao-AILab/gram-newton-schulz v0.1.5 f08f25e, gram_newton_schulz/";
    v.safetyFactor = 1.05;
    v.steps = withSafetyFactor(polarExpressFive(), v.safetyFactor);
    v.castOrder = CastOrder::normalizeFirst;
    v.precision = Precision::fp16;
    v.lowering = Lowering::fused;
    v.epsilon = 1e-7;
    v.ignoresCallerEpsilon = true;
    v.form = Form::gram;
    v.restarts = {2};
    v.squareUsesStandard = true;
    v.family = "gns";
    return v;
}

std::vector<Variant> coreVariants()
{
    std::vector<Variant> all;

    const auto kj = kellerJordan();
    all.push_back(kj);

    Variant torchMuon = kj;
    torchMuon.name = "torch-muon";
    torchMuon.title = "torch.optim.Muon";
    torchMuon.source = "pytorch/pytorch 098e03f, torch/optim/_muon.py";
    torchMuon.form = Form::standard;
    torchMuon.lowering = Lowering::fused;
    torchMuon.ignoresCallerEpsilon = false;
    torchMuon.epsilonRule = EpsilonRule::clamp;
    all.push_back(torchMuon);

    Variant dion;
    dion.name = "dion-ns5";
    dion.title = "dion zeropower_via_newtonschulz5 and newton_schulz_triton";
    dion.source = "microsoft/dion 0a059a4, dion/newton_schulz_triton.py";
    dion.steps = youJiachengSteps();
    dion.family = "you";
    all.push_back(dion);

    Variant express;
    express.name = "dion-polar-express";
    express.title = "dion polar_express (its default)";
    express.source = "microsoft/dion 0a059a4, dion/polar_express.py";
    express.steps = polarExpressSafe();
    express.safetyFactor = 1.02;
    express.epsilon = 1e-6;
    express.normFactor = 1.02;
    express.tall = TallRule::multiplyRight;
    express.family = "polar-express";
    all.push_back(express);

    Variant gnsStandard = gramNewtonSchulz();
    gnsStandard.name = "gns-standard";
    gnsStandard.title = "gram-newton-schulz, standard loop";
    gnsStandard.form = Form::standard;
    gnsStandard.restarts.clear();
    all.push_back(gnsStandard);

    all.push_back(gramNewtonSchulz());

    Variant deepspeed;
    deepspeed.name = "deepspeed-gram";
    deepspeed.title = "DeepSpeed zeropower_via_gram_newtonschulz, before its cast was moved";
    deepspeed.source = "deepspeedai/DeepSpeed 15e3bf4, before PR 8533";
    deepspeed.steps = kellerJordanSteps();
    deepspeed.precision = Precision::fp16;
    deepspeed.ignoresCallerEpsilon = true;
    deepspeed.form = Form::gramFromLeft;
    deepspeed.symmetricKernels = false;
    deepspeed.restarts = {2};
    deepspeed.squareUsesStandard = true;
    deepspeed.family = "jordan";
    all.push_back(deepspeed);

    Variant naiveGram = gramNewtonSchulz();
    naiveGram.name = "gram-no-restart";
    naiveGram.title = "Gram Newton-Schulz without a restart";
    naiveGram.restarts.clear();
    naiveGram.published = false;
    all.push_back(naiveGram);

    Variant unprotected;
    unprotected.name = "polar-express-unprotected";
    unprotected.title = "Polar Express, five steps without safety factor";
    unprotected.source = "NoahAmsel/PolarExpress 7f0fb57, polar_express/basic.py";
    unprotected.steps = polarExpressFive();
    unprotected.ignoresCallerEpsilon = true;
    unprotected.form = Form::standardScaled;
    unprotected.symmetricKernels = false;
    unprotected.family = "polar-express";
    unprotected.published = false;
    all.push_back(unprotected);
    return all;
}

constexpr const char* dionSource = "microsoft/dion 0a059a4, dion/";

std::vector<Variant> ofDion()
{
    Variant triton;
    triton.steps = youJiachengSteps();
    triton.lowering = Lowering::fused;
    triton.family = "you";

    Variant express = triton;
    express.steps = polarExpressSafe();
    express.safetyFactor = 1.02;
    express.epsilon = 1e-6;
    express.normFactor = 1.02;
    express.family = "polar-express";

    Variant twoStage;
    twoStage.steps = hybrid();
    twoStage.epsilon = 1e-6;
    twoStage.tall = TallRule::multiplyRight;
    twoStage.family = "hybrid";

    return {
        named(triton, "dion-ns5-triton", "dion newton_schulz_triton",
            std::string(dionSource) + "newton_schulz_triton.py"),
        named(express, "dion-polar-express-triton", "dion polar_express_triton",
            std::string(dionSource) + "polar_express.py"),
        named(twoStage, "dion-hybrid", "dion hybrid_newton_schulz (a branch)",
            "microsoft/dion 3d1214d, jcl/hybrid-newton-schulz"),
    };
}

std::vector<Variant> ofNanogpt()
{
    Variant modded;
    modded.steps = polarExpressSafe();
    modded.lowering = Lowering::fused;
    modded.epsilon = 1e-6;
    modded.ignoresCallerEpsilon = true;
    modded.normFactor = 1.02;
    modded.safetyFactor = 1.02;
    modded.tall = TallRule::multiplyRight;
    modded.family = "polar-express";

    Variant split = modded;
    split.addInPlace = true;

    Variant nanochat = modded;
    nanochat.lowering = Lowering::eager;
    nanochat.normFactor = 1.01;
    nanochat.equalizeRows = true;
    nanochat.symmetricKernels = false;
    nanochat.rescaleOutput = true;
    nanochat.family = "nanochat";

    const std::string source = "KellerJordan/modded-nanogpt f411b3d, train_gpt.py";
    return {
        named(modded, "modded-nanogpt", "modded-nanogpt polar_express", source),
        named(split, "modded-nanogpt-split", "modded-nanogpt polar_express, large matrices", source),
        named(nanochat, "nanochat", "nanochat: rows equalized, result rescaled",
            "karpathy/nanochat 92d63d4, nanochat/optim.py"),
    };
}

std::vector<Variant> ofGram()
{
    Variant gram = gramNewtonSchulz();
    gram.tall = TallRule::multiplyRight;
    Variant standard = gram;
    standard.form = Form::standard;
    standard.restarts.clear();

    Variant deepspeed = gramNewtonSchulz();
    deepspeed.steps = kellerJordanSteps();
    deepspeed.safetyFactor = 1;
    deepspeed.lowering = Lowering::eager;
    deepspeed.form = Form::gramFromLeft;
    deepspeed.symmetricKernels = false;
    deepspeed.family = "jordan";
    Variant fromBf16 = deepspeed;
    fromBf16.normalizeIn = Precision::bf16;

    const std::string gns = "gram-newton-schulz 0.1.6 (PyPI), gram_newton_schulz.py";
    const std::string after = "deepspeedai/DeepSpeed after PR 8533, original_muon.py";
    return {
        named(standard, "gns-standard-0.1.6", "gram-newton-schulz 0.1.6, standard loop", gns),
        named(gram, "gns-gram-0.1.6", "Gram Newton-Schulz 0.1.6, right products for tall matrices", gns),
        named(deepspeed, "deepspeed-gram-8533", "DeepSpeed, normalized before the cast, fp32 gradients", after),
        named(fromBf16, "deepspeed-gram-8533-bf16", "DeepSpeed, normalized before the cast, bf16 gradients", after),
    };
}

std::vector<Variant> ofTurboMuon()
{
    Variant turbo;
    turbo.steps = {
        {4.6051, -9.6552, 5.6769},
        {4.7505, -6.0861, 2.1790},
        {2.7763, -2.3190, 0.5523},
        {2.4231, -2.2861, 0.8193},
    };
    turbo.normalization = Normalization::aol;
    turbo.lowering = Lowering::fused;
    turbo.family = "turbo-muon";

    Variant flash = kellerJordan();
    flash.form = Form::standard;
    flash.symmetricKernels = true;
    return {
        named(turbo, "turbo-muon", "Turbo-Muon (AOL) and dion newton_schulz_triton_fast",
            "thib-s/flash-newton-schulz cdb03db, newton_schulz_triton.py"),
        named(flash, "flash-muon", "flash-muon fast_newtonschulz", "nil0x9/flash-muon 80ac87f, flash_muon/muon.py"),
    };
}

Variant paperLike(Schedule steps, const char* family)
{
    Variant v = kellerJordan();
    v.steps = std::move(steps);
    v.normFactor = 1.01;
    v.family = family;
    return v;
}

std::vector<Variant> ofPolarExpress()
{
    // The factor is in all steps but the steady last one.
    auto eight = withSafetyFactor(polarExpress(), 1.01);
    eight.back() = polarExpress().back();
    Variant five = paperLike(withSafetyFactor(polarExpressFive(), 1.01), "polar-express-paper-5");
    five.safetyFactor = 1.01;
    // Computed at import with the factor inside the recursion, so that these are other digits than those printed.
    const Schedule computed {
        {8.237312490495555, -23.1577474145582, 16.68056841144592},
        {4.082441999064836, -2.8930477353325887, 0.5252849256975651},
        {3.9263479922546556, -2.8547468034765293, 0.5318022422894989},
        {3.2982187133085143, -2.424541981026706, 0.48632008358844075},
        {2.297036943455258, -1.636625581259032, 0.40026284559536324},
        {1.8763805351440388, -1.2347896577722206, 0.35891887501668285},
        {1.8564423485632715, -1.2132449880964424, 0.35680034878400435},
        {1.8564327152541042, -1.2132319436823145, 0.35679681879874264},
    };
    Variant cans = paperLike(cansSchedule(), "cans");
    cans.normFactor = 1;
    cans.published = false;
    const std::string basic = "NoahAmsel/PolarExpress 7f0fb57, polar_express/basic.py";
    return {
        named(paperLike(eight, "polar-express-paper"), "polar-express", "Polar Express as in its paper, eight steps",
            basic),
        named(five, "polar-express-5", "Polar Express as in its paper, five steps", basic),
        named(paperLike(computed, "polar-express-paper"), "polar-express-package",
            "Polar Express as its package computes it, eight steps",
            "NoahAmsel/PolarExpress 458c71b, polar_express/_core.py"),
        named(cans, "cans", "CANS coefficients in Muon's loop, without safety factor",
            "arXiv 2506.10935 as in NVIDIA-NeMo/Emerging-Optimizers fd77292"),
    };
}

std::vector<Variant> ofEmerging()
{
    // fp32 throughout unless torch is set to "medium", which is --precision bf16 here; two addmm a step.
    Variant emerging;
    emerging.source = "NVIDIA-NeMo/Emerging-Optimizers fd77292, muon_utils.py";
    emerging.castOrder = CastOrder::normalizeFirst;
    emerging.precision = Precision::fp32;
    emerging.lowering = Lowering::fused;
    emerging.epsilonRule = EpsilonRule::clamp;
    emerging.epsilon = 1e-15;
    const auto set = [&](const char* name, const char* title, Schedule steps, const char* family,
                         Beyond beyond = Beyond::repeatLast) {
        Variant v = named(emerging, name, title, emerging.source);
        v.steps = std::move(steps);
        v.family = family;
        v.beyond = beyond;
        return v;
    };
    const Schedule express {
        {8.2051, -22.9019, 16.4607},
        {4.0664, -2.8612, 0.5184},
        {3.9096, -2.8234, 0.5250},
        {3.2856, -2.4153, 0.4853},
        {2.2779, -1.6198, 0.3985},
        {1.8726, -1.2307, 0.3585},
        {1.8564, -1.2132, 0.3568},
        {1.8750, -1.2500, 0.3750},
    };
    const Schedule aol {
        {4.0098, -7.0585, 2.4635},
        {3.4585, -5.5479, 2.5959},
        {2.7573, -3.2939, 1.4254},
        {2.7215, -3.0494, 1.3169},
    };
    const Schedule cubic {
        {3.3656576, -3.3420992, 0},
        {2.5744352, -1.4957376, 0},
        {2.5368962, -1.4312570, 0},
        {2.4418906, -1.2764040, 0},
        {2.2230472, -0.9630650, 0},
    };
    auto five = set("emerging-polar-express-5", "Emerging-Optimizers polar_express, five steps",
        {express.begin(), express.begin() + 5}, "polar-express-paper-5");
    five.safetyFactor = 1.01;
    auto precise = set("emerging-double-norm", "Emerging-Optimizers quintic, norm in fp64 and no epsilon",
        youJiachengSteps(), "you", Beyond::cycle);
    precise.normPrecision = Precision::fp64;
    precise.epsilon = 0;
    precise.ignoresCallerEpsilon = true;
    return {
        set("emerging-simple", "Emerging-Optimizers simple", kellerJordanSteps(), "jordan", Beyond::cycle),
        set("emerging-quintic", "Emerging-Optimizers quintic (its default)", youJiachengSteps(), "you", Beyond::cycle),
        set("emerging-polar-express", "Emerging-Optimizers polar_express, eight steps", express, "polar-express-paper"),
        five,
        set("emerging-cans", "Emerging-Optimizers cans", cansSchedule(), "cans"),
        set("emerging-aol", "Emerging-Optimizers aol", aol, "emerging-aol", Beyond::cycle),
        set("emerging-hybrid", "Emerging-Optimizers deepseekv4, eight steps and two", hybrid(), "hybrid"),
        set("emerging-cubic5", "Emerging-Optimizers cubic5", cubic, "cubic5", Beyond::exact),
        precise,
    };
}

std::vector<Variant> makeVariants()
{
    auto all = coreVariants();
    for (auto&& part : {ofDion(), ofNanogpt(), ofGram(), ofTurboMuon(), ofPolarExpress(), ofEmerging()}) {
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

} // namespace

std::span<const Variant> variants()
{
    static const std::vector<Variant> all = makeVariants();
    return all;
}

const Variant* builtInVariant(std::string_view name)
{
    const auto all = variants();
    const auto found = std::ranges::find(all, name, &Variant::name);
    return found == all.end() ? nullptr : &*found;
}

} // namespace nanscope::replay
