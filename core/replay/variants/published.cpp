// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/published.h"

#include <utility>

namespace nanscope::replay::published {

Variant named(Variant v, std::string name, std::string title, std::string source)
{
    v.name = std::move(name);
    v.title = std::move(title);
    v.source = std::move(source);
    return v;
}

Variant kellerJordan()
{
    Variant kj;
    kj.name = "keller-jordan";
    kj.title = "Muon as first published";
    kj.source = "KellerJordan/Muon 857d1ad, muon.py";
    kj.steps = jordan();
    kj.ignoresCallerEpsilon = true;
    kj.form = Form::standardScaled;
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

std::vector<Variant> firstVariants()
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
    dion.steps = you();
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
    deepspeed.steps = jordan();
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
    unprotected.steps = polarExpressFive();
    unprotected.ignoresCallerEpsilon = true;
    unprotected.form = Form::standardScaled;
    unprotected.family = "polar-express";
    unprotected.published = false;
    all.push_back(unprotected);
    return all;
}

} // namespace nanscope::replay::published
