"""What each of several processes does in test_distributed.py: every case is called by
all of them, with a mesh of all; what fails in one fails the case."""

import os
import traceback
from datetime import timedelta

import evoformer
import pytest
import torch
import torch.distributed as dist
from torch.distributed.tensor import (DTensor, Partial, Replicate, Shard,
                                      distribute_tensor, init_device_mesh)
from torch_cases import Case

SIZE = 4
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def run(rank, folder):
    """Calls all cases; writes to the folder what failed."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank,
                            world_size=SIZE, timeout=timedelta(minutes=30))
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("rows", "heads"))
    for name, function in CASES.items():
        try:
            function(mesh)
        except BaseException:
            # The others may wait for this one: nothing more can be said.
            with open(os.path.join(folder, f"{name}.{rank}"), "w") as file:
                file.write(traceback.format_exc())
            raise
        dist.barrier()
        if rank == 0:
            open(os.path.join(folder, f"{name}.passed"), "w").close()
    dist.destroy_process_group()


# Operands: query, key, value, mask, pair, gate -------------------------------

def attention(query, key, value, mask, pair, gate, **options):
    return evoformer.attention(query, key, value, [mask, pair], gate, return_lse=True,
                               **options)


def flatten(case):
    return [case.query, case.key, case.value, case.mask, case.pair, case.gate]


def gradients(function, operands, weight):
    out, lse = function(*operands)
    wanted = [t for t in operands if t.requires_grad]
    return [out, lse, *torch.autograd.grad(out, wanted, weight)]


def spread(tensor, mesh, placements):
    return distribute_tensor(tensor.detach(), mesh, placements).requires_grad_(
        tensor.requires_grad)


def agree(found, true):
    """Bits, but where parts of a sum come from several devices: then each addition may
    round otherwise."""
    for one, exact in zip(found, true, strict=True):
        whole = one.full_tensor() if isinstance(one, DTensor) else one
        summed = isinstance(one, DTensor) and any(
            isinstance(place, Partial) for place in one.placements)
        if summed:
            ulp = torch.finfo(exact.dtype).eps * exact.abs().max()
            assert (whole - exact).abs().max() <= dist.get_world_size() * ulp
        else:
            assert torch.equal(whole, exact)


def hold(case, mesh, placements, expected, **options):
    """That operands with these placements give one process's results and gradients,
    which lie as expected: out, lse, gradients of query, key, value, pair and gate."""
    def function(*operands):
        return attention(*operands, **options)
    true = gradients(function, flatten(case), case.weight)
    operands = [spread(t, mesh, place)
                for t, place in zip(flatten(case), placements, strict=True)]
    weight = spread(case.weight, mesh, placements[0])
    found = gradients(function, operands, weight)
    assert [list(one.placements) for one in found] == expected
    agree(found, true)


ALL, SUM = Replicate(), Partial()


def one(*dimensions):
    return [[ALL] if at is None else [SUM] if at == "+" else [Shard(at)]
            for at in dimensions]


@case
def rows(mesh):
    """A pair bias that all rows share has a gradient that is a sum; 5 rows on 4
    devices are cut unevenly."""
    every = init_device_mesh("cpu", (SIZE,))
    for n in (4, 5):
        hold(Case(n=n), every, one(1, 1, 1, 1, None, 1),
             one(1, 1, 1, 1, 1, "+", 1))


@case
def batches(mesh):
    hold(Case(b=2), mesh["rows"], one(0, 0, 0, 0, 0, 0), one(0, 0, 0, 0, 0, 0, 0))


@case
def heads(mesh):
    hold(Case(h=4), mesh["heads"], one(3, 3, 3, None, 2, 3), one(3, 2, 3, 3, 3, 2, 3))


@case
def rows_and_heads(mesh):
    hold(Case(h=4), mesh,
         [[Shard(1), Shard(3)]] * 3 + [[Shard(1), ALL], [ALL, Shard(2)],
                                       [Shard(1), Shard(3)]],
         [[Shard(1), Shard(3)], [Shard(1), Shard(2)], *[[Shard(1), Shard(3)]] * 3,
          [SUM, Shard(2)], [Shard(1), Shard(3)]])


@case
def queries(mesh):
    """Also where keys are cut: then they are gathered."""
    for keys in (None, 2):
        hold(Case(), mesh["rows"], one(2, keys, keys, None, 3, 2),
             one(2, 3, 2, "+", "+", 3, 2))


@case
def bounds(mesh):
    """Causal attention counts queries from the first: they are gathered."""
    hold(Case(), mesh["rows"], one(2, None, None, None, 3, 2),
         one(None, None, None, None, None, None, None), causal=True)


@case
def refused(mesh):
    """By name, before anything is launched or sent."""
    every, pairs = init_device_mesh("cpu", (SIZE,)), mesh["rows"]
    query, key, value, mask, pair, gate = flatten(Case(h=8))
    whole = [spread(t, every, [ALL]) for t in (query, key, value)]
    with pytest.raises(TypeError, match="key is a Tensor and query a DTensor"):
        evoformer.attention(whole[0], key, whole[2])
    with pytest.raises(TypeError, match=r"query is a Parameter and biases\[0\] a DTens"):
        evoformer.attention(torch.nn.Parameter(query), key, value,
                            [spread(pair, every, [ALL])])
    with pytest.raises(ValueError, match="gate is on .*, query on .* on one mesh"):
        evoformer.attention(*whole, gate=spread(gate, pairs, [ALL]))
    with pytest.raises(ValueError, match="value is sharded along 'd'; accepted are"):
        evoformer.attention(*whole[:2], spread(value, every, [Shard(4)]))
    with pytest.raises(ValueError, match="query is sharded along 'h' over 4 devices, and "
                                         "key has 2 heads that serve 8 of the query"):
        evoformer.attention(
            spread(query, every, [Shard(3)]),
            *(spread(t[..., :2, :], every, [ALL]) for t in (key, value)))
    with pytest.raises(ValueError, match=r"biases\[0\] has shape"):
        evoformer.attention(*whole, biases=[spread(pair[..., 1:], every, [Shard(2)])])
