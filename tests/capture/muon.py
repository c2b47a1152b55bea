# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Stands for KellerJordan's package, by its names: torch has a Muon of its own since 2.9 only."""

import torch


def zeropower_via_newtonschulz5(G, steps=5):
    X = G.bfloat16()
    tall = X.shape[-2] > X.shape[-1]
    X = X.mT if tall else X
    X = X / (X.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        A = X @ X.mT
        X = 3.4445 * X + (-4.7750 * A + 2.0315 * (A @ A)) @ X
    return X.mT if tall else X


class Muon(torch.optim.Optimizer):
    def __init__(self, params, lr=0.02, momentum=0.95, nesterov=True, weight_decay=0.0):
        super().__init__(params, {"lr": lr, "momentum": momentum, "nesterov": nesterov, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for weight in group["params"]:
                state = self.state[weight]
                buffer = state.setdefault("momentum_buffer", torch.zeros_like(weight))
                buffer.lerp_(weight.grad, 1 - group["momentum"])
                # In place as there: after the step the gradient is what went into the iteration.
                update = weight.grad.lerp_(buffer, group["momentum"]) if group["nesterov"] else buffer
                weight.mul_(1 - group["lr"] * group["weight_decay"])
                weight.add_(zeropower_via_newtonschulz5(update), alpha=-group["lr"])
