"""Losses of a target: plain, and in the worst case on a ball or a box.

Losses are functions of *directions*: linear outputs that must stay small for a decision to be right. For two classes
it is the logit with its sign turned, for several the lead of every other class, for a number the output and its
negative. The plain loss takes their values, the robust loss their upper bounds on a ball: the same function.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import one_hot, softplus

from lcifr.learn.target import Target
from lcifr.models.rule import Kind


def directions(target: Target, label: Tensor) -> Tensor:
    """(n, k, outputs): what must stay small if ``label`` (n,) is to be the decision."""
    if target.kind is Kind.SIGN:
        return (1.0 - 2.0 * label)[:, None, None]
    if target.kind is Kind.NUMBER:
        return label.new_tensor([[1.0], [-1.0]]).expand(len(label), 2, 1)
    unit = torch.eye(target.outputs, dtype=label.dtype, device=label.device)
    return unit - unit[label.long()][:, None, :]


def of(target: Target, values: Tensor, label: Tensor, absolute: Callable[[Tensor], Tensor] = torch.abs) -> Tensor:
    """(n,) from the values, or upper bounds, of the directions (n, k); logistic, cross-entropy or squared.

    Bounds make it the worst loss of the whole ball against the label: like the claim that is proved (:func:`holds`)
    it does not take the number at z for that at f(x).

    Parameters
    ----------
    absolute : what takes the place of |u|, for an optimiser that needs it smooth.
    """
    if target.kind is Kind.SIGN:
        return softplus(values[:, 0])
    if target.kind is Kind.CLASS:
        return values.logsumexp(1)  # log Σ exp(oₖ − o_label), the label's own direction being 0
    above, below = values[:, 0] - label, values[:, 1] + label
    return ((above + below) / 2 + absolute((above - below) / 2)).square()  # the square of the larger one


def values(target: Target, output: Tensor, label: Tensor) -> Tensor:
    """(n, k) the directions at ``output`` (n, outputs)."""
    if target.kind is Kind.SIGN:
        return (1.0 - 2.0 * label)[:, None] * output
    return (directions(target, label) @ output[:, :, None])[:, :, 0]


def lengths(target: Target, weight: Tensor, absolute: Callable[[Tensor], Tensor] = torch.abs) -> Tensor:
    """What a ball of radius 1 adds to each direction before a linear head ``weight`` (outputs, d).

    ‖w‖₁ for one output; (classes, classes) ‖w_k − w_l‖₁ for several classes.
    """
    return _added(target, sizes(target, weight, absolute))


def sizes(target: Target, weight: Tensor, absolute: Callable[[Tensor], Tensor] = torch.abs) -> Tensor:
    """What a step of 1 in each coordinate adds: (1, d) |w| for one output, (classes, classes, d) |w_k − w_l|."""
    return absolute(weight[None] - weight[:, None]) if target.kind is Kind.CLASS else absolute(weight)


def _added(target: Target, sizes: Tensor) -> Tensor:
    return sizes.sum(2) if target.kind is Kind.CLASS else sizes.sum()


def worst_values(target: Target, output: Tensor, label: Tensor, epsilon: Tensor, lengths: Tensor) -> Tensor:
    """(n, k) the largest values on the ball of radius ``epsilon`` (n,) before a linear head: exact.

    Parameters
    ----------
    lengths : of the head's weights, from :func:`lengths`.
    """
    if target.kind is Kind.CLASS:
        return values(target, output, label) + epsilon[:, None] * lengths[label.long()]
    return values(target, output, label) + (epsilon * lengths)[:, None]


def worst_around(target: Target, output: Tensor, label: Tensor, reach: Tensor, sizes: Tensor) -> Tensor:
    """(n, k) the largest values on balls or boxes, before a linear head with ``output`` at their middles: exact.

    Parameters
    ----------
    reach : (n, 1) radii of balls, or (n, d) half the edges of boxes. sizes : of the weights, from :func:`sizes`.
    """
    if reach.shape[1] == 1:
        return worst_values(target, output, label, reach[:, 0], _added(target, sizes))
    if target.kind is Kind.CLASS:
        return values(target, output, label) + (sizes[label.long()] * reach[:, None]).sum(2)
    return values(target, output, label) + reach @ sizes.T


def decide(target: Target, output: Tensor) -> Tensor:
    """(n,) what the rule decides, as the label's code or scaled number."""
    return torch.as_tensor(target.rule.decide(output.detach().cpu().numpy())).to(output)


def holds(target: Target, output: Tensor, decision: Tensor, bounds: Tensor, tolerance: float = 0.0) -> Tensor:
    """(n,) whether ``bounds`` (n, k) of the decision's directions prove that the decision stays.

    Parameters
    ----------
    tolerance : for a number: how far two similar people may be apart, in units of y. The own number is that at z,
        f(x) is somewhere in the ball: so the largest and the smallest number there must be less than this apart.
    """
    if target.kind is Kind.NUMBER:
        room = 4 * torch.finfo(bounds.dtype).eps * bounds.abs().sum(1)
        return (bounds.sum(1) + room) * target.sd < tolerance
    if target.kind is Kind.SIGN:
        return bounds[:, 0] < 0
    own = one_hot(decision.long(), target.outputs).bool()
    return torch.where(own, -torch.inf, bounds).amax(1) < 0
