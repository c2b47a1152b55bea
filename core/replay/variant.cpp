// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variant.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/replay/nearest.h"

namespace nanscope {

namespace {

using Schedule = std::vector<Coefficients>;

// Keller Jordan's quintic, tuned for slope at zero rather than for convergence to one.
const Schedule jordan(5, Coefficients {3.4445, -4.7750, 2.0315});

// YouJiacheng's five steps.
const Schedule you {
    {4.0848, -6.8946, 2.9270},
    {3.9505, -6.3029, 2.6377},
    {3.7418, -5.5913, 2.3037},
    {2.8769, -3.1427, 1.2046},
    {2.8366, -3.0525, 1.2012},
};

// Polar Express for singular values down to 1e-3, without any safety factor.
const Schedule polarExpress {
    {8.28721201814563, -23.595886519098837, 17.300387312530933},
    {4.107059111542203, -2.9478499167379106, 0.5448431082926601},
    {3.9486908534822946, -2.908902115962949, 0.5518191394370137},
    {3.3184196573706015, -2.488488024314874, 0.51004894012372},
    {2.300652019954817, -1.6689039845747493, 0.4188073119525673},
    {1.891301407787398, -1.2679958271945868, 0.37680408948524835},
    {1.8750014808534479, -1.2500016453999487, 0.3750001645474248},
    {1.875, -1.25, 0.375},
};

// Polar Express with safety factor 2e-2 and cushion 2.
const Schedule polarExpressSafe {
    {8.156554524902461, -22.48329292557795, 15.878769915207462},
    {4.042929935166739, -2.808917465908714, 0.5000178451051316},
    {3.8916678022926607, -2.772484153217685, 0.5060648178503393},
    {3.285753657755655, -2.3681294933425376, 0.46449024233003106},
    {2.3465413258596377, -1.7097828382687081, 0.42323551169305323},
};

Schedule firstFive()
{
    return {polarExpress.begin(), polarExpress.begin() + 5};
}

Variant gramNewtonSchulz()
{
    Variant v;
    v.name = "gns-gram";
    v.title = "Gram Newton-Schulz, restart after two steps";
    v.source = "Dao-AILab/gram-newton-schulz v0.1.5 f08f25e, gram_newton_schulz/";
    v.safetyFactor = 1.05;
    v.steps = withSafetyFactor(firstFive(), v.safetyFactor);
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

std::vector<Variant> makeVariants()
{
    std::vector<Variant> all;

    Variant kj;
    kj.name = "keller-jordan";
    kj.title = "Muon as first published";
    kj.source = "KellerJordan/Muon 857d1ad, muon.py";
    kj.steps = jordan;
    kj.ignoresCallerEpsilon = true;
    kj.form = Form::standardScaled;
    kj.family = "jordan";
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
    dion.steps = you;
    dion.family = "you";
    all.push_back(dion);

    Variant express;
    express.name = "dion-polar-express";
    express.title = "dion polar_express (its default)";
    express.source = "microsoft/dion 0a059a4, dion/polar_express.py";
    express.steps = polarExpressSafe;
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
    deepspeed.steps = jordan;
    deepspeed.precision = Precision::fp16;
    deepspeed.ignoresCallerEpsilon = true;
    deepspeed.form = Form::gramFromLeft;
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
    unprotected.steps = firstFive();
    unprotected.ignoresCallerEpsilon = true;
    unprotected.form = Form::standardScaled;
    unprotected.family = "polar-express";
    unprotected.published = false;
    all.push_back(unprotected);
    return all;
}

} // namespace

std::span<const Variant> variants()
{
    static const std::vector<Variant> all = makeVariants();
    return all;
}

Result<const Variant*> findVariant(std::string_view name)
{
    const auto all = variants();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Variant& v) { return v.name == name; });
    if (found != all.end()) {
        return &*found;
    }
    std::vector<std::string_view> names;
    for (const auto& variant : all) {
        names.push_back(variant.name);
    }
    return failure(ErrorKind::usage,
        fmt::format("there is no variant '{}'; the nearest are {}", name, fmt::join(nearest(name, names, 3), ", ")));
}

} // namespace nanscope
