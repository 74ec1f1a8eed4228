"""What each of several processes does in test_distributed.py: every case is called by
all of them, with a mesh of all, and a folder if it wants one; what fails in one fails
the case."""

import os
import traceback
from datetime import timedelta

import evoformer
import evoformer.distributed
import pytest
import torch
import torch.distributed as dist
from torch.distributed.tensor import (DTensor, Partial, Replicate, Shard,
                                      distribute_module, distribute_tensor,
                                      init_device_mesh)
from evoformer import _runtime, nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.parallel import (ColwiseParallel, RowwiseParallel,
                                               parallelize_module)
from torch_cases import Case

# By the number of processes, by name. Most meshes of the four have two devices.
CASES = {2: {}, 4: {}}


def case(function):
    CASES[4][function.__name__] = function
    return function


def of_any_size(function):
    """Of two processes, too."""
    CASES[2][function.__name__] = function
    return case(function)


def run(rank, folder, size):
    """Calls all cases of so many processes; writes to the folder what failed."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank,
                            world_size=size, timeout=timedelta(minutes=30))
    mesh = init_device_mesh("cpu", (2, size // 2), mesh_dim_names=("rows", "heads"))
    for name, function in CASES[size].items():
        try:
            given = (mesh, folder)[:function.__code__.co_argcount]
            function(*given)
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
    """Bits, but where parts of a sum come from several devices: their terms are added in
    another order, and both sums are off by up to a unit in the last place of the
    largest."""
    for one, exact in zip(found, true, strict=True):
        whole = one.full_tensor() if isinstance(one, DTensor) else one
        summed = isinstance(one, DTensor) and any(
            isinstance(place, Partial) for place in one.placements)
        if summed:
            ulp = torch.finfo(exact.dtype).eps * exact.abs().max()
            assert (whole - exact).abs().max() <= 2 * ulp
        else:
            assert torch.equal(whole, exact)


def hold(case, mesh, placements, expected, moves=False, **options):
    """That operands with these placements give one process's results and gradients,
    which lie as expected: out, lse, gradients of query, key, value, pair and gate. And
    whether anything is sent for that."""
    def function(*operands):
        return attention(*operands, **options)
    true = gradients(function, flatten(case), case.weight)
    operands = [spread(t, mesh, place)
                for t, place in zip(flatten(case), placements, strict=True)]
    weight = spread(case.weight, mesh, placements[0])
    with CommDebugMode() as sent:
        found = gradients(function, operands, weight)
    assert (sent.get_total_counts() > 0) == moves
    assert [list(one.placements) for one in found] == expected
    agree(found, true)


@of_any_size
def compiled_once(mesh, folder):
    """By one process; the others wait and take what it has made, the processor's code
    too."""
    cache = os.path.join(folder, "cache")
    before = os.environ.get("EVOFORMER_CACHE_DIR")
    os.environ["EVOFORMER_CACHE_DIR"] = cache
    try:
        dist.barrier()
        where = evoformer.device("cpu")
        program = where.compile(_runtime.describe("type=f32 depth=5 value_depth=7"))
        tensors = [torch.zeros(1, 1, 3, 1, depth) for depth in (5, 5, 7)]
        out = evoformer.attention(*tensors)
    finally:
        if before is None:
            del os.environ["EVOFORMER_CACHE_DIR"]
        else:
            os.environ["EVOFORMER_CACHE_DIR"] = before
    assert not out.any()
    processes = dist.get_world_size()
    origins = [None] * processes
    dist.all_gather_object(origins, program.origin)
    assert sorted(origins) == ["compiled"] + ["disk"] * (processes - 1)
    # The program above and the call's, and their code.
    assert not [name for name in os.listdir(cache) if not name.endswith(".plan")]


ALL, SUM = Replicate(), Partial()


def one(*dimensions):
    return [[ALL] if at is None else [SUM] if at == "+" else [Shard(at)]
            for at in dimensions]


@of_any_size
def rows(mesh):
    """A pair bias that all rows share has a gradient that is a sum; 5 rows are cut
    unevenly."""
    every = init_device_mesh("cpu", (dist.get_world_size(),))
    for n in (4, 5):
        hold(Case(n=n), every, one(1, 1, 1, 1, None, 1),
             one(1, 1, 1, 1, 1, "+", 1))


@case
def replicated(mesh):
    """Each device has and computes all, also of dimensions of size 1."""
    for sizes in ({}, {"b": 1, "n": 1, "h": 1, "sq": 1, "sk": 1}):
        hold(Case(**sizes), mesh["rows"], one(*[None] * 6), one(*[None] * 7))


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


@of_any_size
def queries(mesh):
    """Also where keys are cut: then they are gathered."""
    for keys in (None, 2):
        hold(Case(), mesh["rows"], one(2, keys, keys, None, 3, 2),
             one(2, 3, 2, "+", "+", 3, 2), moves=keys is not None)


@case
def bounds(mesh):
    """Causal attention counts queries from the first: they are gathered."""
    hold(Case(), mesh["rows"], one(2, None, None, None, 3, 2),
         one(None, None, None, None, None, None, None), moves=True, causal=True)


@case
def compiled(mesh):
    """torch.compile sees one operator, of DTensors."""
    case = Case(n=4)
    operands = [spread(t, mesh["rows"], place)
                for t, place in zip(flatten(case), one(1, 1, 1, 1, None, 1))]
    weight = spread(case.weight, mesh["rows"], [Shard(1)])

    def function(query, key, value, mask, pair, gate):
        return evoformer.attention(query, key, value, [mask, pair], gate)

    def results(function):
        out = function(*operands)
        wanted = [t for t in operands if t.requires_grad]
        return [out, *torch.autograd.grad(out, wanted, weight)]
    graph = torch.compile(function, backend="aot_eager", fullgraph=True)
    for mine, same in zip(results(graph), results(function), strict=True):
        assert mine.placements == same.placements
        assert torch.equal(mine.to_local(), same.to_local())


# Modules ---------------------------------------------------------------------

def blocks(c=12, heads=4):
    """Triangle attention around starting and ending nodes with parameters that are not
    0, and its operands."""
    generator = torch.Generator().manual_seed(0)
    modules = torch.nn.ModuleList(
        [nn.TriangleAttention(c, heads, 8, starting) for starting in (True, False)])
    for parameter in modules.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator) * 0.3
    z = torch.randn(12, 12, c, generator=generator)
    mask = torch.rand(12, 12, generator=generator) < 0.8
    return modules, z, mask


def update(modules, z, mask, between=lambda z: z):
    """The result, and gradients of parameters by their names."""
    start, end = modules
    z = z + start(z, mask)
    z = between(z)
    z = z + end(z, mask)
    z.square().mean().backward()
    return z.detach(), {name: p.grad for name, p in modules.named_parameters()}


def agree_in_sums(found, true):
    """Where products of matrices are cut otherwise too."""
    one, gradients = ([t.full_tensor() if isinstance(t, DTensor) else t for t in part]
                      for part in ([found[0]], found[1].values()))
    for mine, exact in zip([*one, *gradients], [true[0], *true[1].values()], strict=True):
        torch.testing.assert_close(mine, exact, rtol=1e-4,
                                   atol=1e-5 * exact.abs().max().item())


@of_any_size
def axial(mesh):
    """Rows, then columns: one exchange of z between them, and the pair biases of all
    rows."""
    every = init_device_mesh("cpu", (dist.get_world_size(),))
    true = update(*blocks())
    modules, z, mask = blocks()
    distribute_module(modules, every)
    rows, columns = [Shard(0)], [Shard(1)]
    found = update(modules, distribute_tensor(z, every, rows),
                   distribute_tensor(mask, every, rows),
                   lambda z: z.redistribute(placements=columns))
    assert found[0].placements == tuple(columns)
    agree_in_sums(found, true)


@case
def parallel_heads(mesh):
    true = update(*blocks())
    modules, z, mask = blocks()
    wide, narrow = ColwiseParallel(use_local_output=False), RowwiseParallel()
    for module in modules:
        parallelize_module(module, mesh["heads"], {
            "linear": wide, "mha.linear_q": wide, "mha.linear_k": wide,
            "mha.linear_v": wide, "mha.linear_g": wide, "mha.linear_o": narrow})
    found = update(modules, z, distribute_tensor(mask, mesh["heads"], [ALL]))
    agree_in_sums(found, true)


@of_any_size
def sharded_parameters(mesh):
    """FSDP: what attention sees are ordinary tensors."""
    true = update(*blocks())
    modules, z, mask = blocks()
    for module in modules:
        fully_shard(module, mesh=mesh["rows"])
    agree_in_sums(update(modules, z, mask), true)


# Keys ------------------------------------------------------------------------

def parts(case, sizes, rank):
    """The operands of a process."""
    first = sum(sizes[:rank])
    own = slice(first, first + sizes[rank])
    return [t.detach().requires_grad_(t.requires_grad) for t in (
        case.query, case.key[:, :, own], case.value[:, :, own], case.mask[..., own],
        case.pair[..., own], case.gate)]


@of_any_size
def keys(mesh):
    """Uneven parts, one without keys; queries without keys in a part and in all."""
    rank, processes = dist.get_rank(), dist.get_world_size()
    cuts = {2: ((19, 0), (2, 17)), 4: ((8, 7, 4, 0), (2, 2, 5, 10))}[processes]
    for kind, sizes in zip((torch.float32, torch.bfloat16), cuts, strict=True):
        whole = Case(kind=kind)
        whole.mask[:, 0, ..., :8] = False
        whole.mask[:, 1] = sizes[0] == 2
        rows = whole.normal(1, 2, 2, 19, 1)

        of_lse = whole.normal(1, 2, 2, 19).detach().float()

        def results(call, *operands):
            """And gradients, of a loss of both."""
            out, lse = call(*operands[:3], [*operands[3:5], operands[6]], operands[5],
                            return_lse=True)
            loss = (lse.masked_fill(lse == -torch.inf, 0) * of_lse).sum() + (
                out * whole.weight.to(kind)).sum()
            wanted = [t for t in operands if t.requires_grad]
            return [out, lse, *torch.autograd.grad(loss, wanted)]
        true = results(evoformer.attention, *flatten(whole), rows)
        found = results(evoformer.distributed.context_parallel,
                        *parts(whole, sizes, rank), rows)
        own = slice(sum(sizes[:rank]), sum(sizes[:rank + 1]))
        for at, at_keys in ((3, 2), (4, 2), (5, 4)):
            true[at] = true[at].movedim(at_keys, 0)[own].movedim(0, at_keys)
        for i, (one, exact) in enumerate(zip(found, true, strict=True)):
            assert one.shape == exact.shape and one.dtype == exact.dtype
            if i == 1:
                assert torch.equal(one.isinf(), exact.isinf())
                one, exact = (t.masked_fill(t.isinf(), 0) for t in (one, exact))
            # Sums in another order, and of parts that are rounded. Those of softmax's
            # shifts are 0 but for roundings, of numbers about 1.
            size = max(exact.abs().max().item(), 1.0) if exact.numel() else 0
            bound = processes * torch.finfo(exact.dtype).eps * size
            assert ((one - exact).abs() <= bound).all(), (kind, i)
        # The same in every process.
        for one in (found[0], found[1], found[2], found[6]):
            others = [torch.empty_like(one) for _ in range(processes)]
            dist.all_gather(others, one.contiguous())
            assert all(torch.equal(other, others[0]) for other in others)


@case
def layouts_of_keys(mesh):
    whole = Case()
    rank, sizes = dist.get_rank(), (5, 5, 5, 4)
    query, key, value, mask, pair, gate = parts(whole, sizes, rank)
    out, lse = evoformer.distributed.context_parallel(
        query, key, value, [mask, pair], gate, return_lse=True)
    for layout in ("bnhsd", "shdbn"):
        order = ["bnshd".index(c) for c in layout]
        other = evoformer.distributed.context_parallel(
            *(t.permute(order) for t in (query, key, value)), [mask, pair],
            gate.permute(order), layout=layout, return_lse=True)
        # The processor's vectors hold other elements: functions round otherwise.
        for one, same in zip(other, (out.permute(order), lse)):
            ulp = torch.finfo(one.dtype).eps * same.abs().max()
            assert (one - same).abs().max() <= 2 * ulp
    # A group of two, which has half of the processes.
    pair = evoformer.distributed.context_parallel(
        whole.query, *(t.chunk(2, 2)[mesh.get_local_rank("heads")]
                       for t in (whole.key, whole.value)),
        group=mesh.get_group("heads"))
    exact = evoformer.attention(whole.query, whole.key, whole.value)
    bound = 2 * torch.finfo(exact.dtype).eps * exact.abs().max()
    assert (pair - exact).abs().max() <= bound


@case
def refused_keys(mesh):
    """In every process, also where one alone was given what does not fit."""
    call = evoformer.distributed.context_parallel
    query, key, value, mask, pair, gate = (t.detach() for t in flatten(Case()))
    rank = dist.get_rank()
    for option in ({"causal": True}, {"keys": (None, "i+1")},
                   {"key_lengths": torch.ones(1, 2, dtype=torch.int32)}):
        with pytest.raises(NotImplementedError, match=f"was given {list(option)[0]}; "
                                                      "accepted are biases alone"):
            call(query, key, value, **option)
    with pytest.raises(TypeError, match="has no argument 'dropout'"):
        call(query, key, value, dropout=0.1)
    with pytest.raises(TypeError, match="key is a DTensor; accepted are tensors of this"):
        call(query, spread(key, mesh["rows"], [Shard(2)]), value)
    with pytest.raises(TypeError, match="query is a ndarray; accepted are"):
        call(query.numpy(), key, value)
    with pytest.raises(TypeError, match="biases is a Tensor; accepted is a list"):
        call(query, key, value, pair)
    with pytest.raises(ValueError, match="process 0 has layout .*; process 2 has .* query "
                                         "1x2x18x2x16 .* that differ in their keys alone"):
        call(query[:, :, 1:] if rank == 2 else query, key, value)
    with pytest.raises(ValueError, match="gate has size 1|process 1 has ValueError: gate"):
        call(query, key, value, gate=gate[:, :1] if rank == 1 else gate)
    with pytest.raises(ValueError, match=r"biases\[0\] has shape .* and key one key"):
        call(query, key[:, :, :1], value[:, :, :1], [pair[..., :1]])
    leaf = query.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(call(query, key, value).sum() + call(
        leaf, key, value).sum(), leaf)
    assert gradient.isfinite().all()
    with pytest.raises(NotImplementedError, match="no second derivative"):
        torch.autograd.grad(call(leaf, key, value).sum(), leaf, create_graph=True)


@case
def refused(mesh):
    """By name, before anything is launched or sent."""
    every, pairs = init_device_mesh("cpu", (dist.get_world_size(),)), mesh["rows"]
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
    with pytest.raises(TypeError, match="dropout_state is a Tensor and query a DTensor"):
        evoformer.attention(*whole, dropout_p=0.1, dropout_state=torch.tensor([3, 4]))


@case
def shared_keys(mesh):
    """One head of keys for all: their gradients are sums over devices; and groups of
    heads, of which each device has some with their keys."""
    for key_heads, place, gradient in ((1, None, "+"), (2, 3, 3)):
        case = Case(h=4)
        case.key, case.value = (t[..., :key_heads, :].detach().requires_grad_()
                                for t in (case.key, case.value))
        hold(case, mesh["heads"], one(3, place, place, None, 2, 3),
             one(3, 2, 3, gradient, gradient, 2, 3))


@case
def dropout(mesh):
    """What one process drops of all of it, whatever is spread; by a state of the caller's
    or one that the first process draws."""
    case = Case(n=4)
    state = torch.tensor([3, 2 ** 40 + 4])

    def run(operands, state):
        out, _ = attention(*operands, dropout_p=0.4, dropout_state=state)
        return out, *torch.autograd.grad(out.square().sum(), operands[:3])
    true = run(flatten(case), state)
    operands = [spread(t, mesh["rows"], place) for t, place in zip(
        flatten(case), one(1, 1, 1, 1, None, 1), strict=True)]
    found = run(operands, spread(state, mesh["rows"], [ALL]))
    agree(found, true)
    # Processes whose generators stand elsewhere.
    torch.manual_seed(dist.get_rank())
    out, _ = attention(*operands, dropout_p=0.4)
    gathered = [torch.empty_like(out.full_tensor()) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, out.full_tensor().contiguous())
    columns = mesh["heads"].size()
    for number, one_of_all in enumerate(gathered):
        assert torch.equal(one_of_all, gathered[number % columns])


@case
def scores(mesh):
    """Rows whose number a score does not read stay spread."""
    case = Case(n=4)
    slopes = case.normal(2, 1, 1)

    def run(operands, slopes, score):
        q, k, v, *_ = operands
        out = evoformer.attention(q, k, v, score=score, captures=[slopes])
        return out, *torch.autograd.grad(out.square().sum(), (q, k, v, slopes))

    def alibi(x, b, n, h, i, j, sq, sk, slope):
        return x - slope * abs(i - j)

    def by_row(x, b, n, h, i, j, sq, sk, slope):
        return x * (n + 1) - slope
    for score, moved in ((alibi, False), (by_row, True)):
        true = run(flatten(case), slopes, score)
        operands = [spread(t, mesh["rows"], place) for t, place in zip(
            flatten(case), one(1, 1, 1, 1, None, 1), strict=True)]
        found = run(operands, spread(slopes, mesh["rows"], [ALL]), score)
        assert found[0].placements == ((Replicate(),) if moved else operands[0].placements)
        agree(found, true)


@of_any_size
def gradient_of_lse(mesh):
    """As the output's: of rows, and of queries."""
    for placements in (one(1, 1, 1, 1, None, 1), one(2, None, None, None, 3, 2)):
        case = Case(n=4)
        weight = case.normal(1, 4, 2, 19).detach()

        def run(operands, weight):
            _, lse = attention(*operands)
            wanted = [operands[0], operands[1], operands[4]]
            return torch.autograd.grad((lse * weight).sum(), wanted)
        true = run(flatten(case), weight)
        found = run([spread(t, mesh["rows"], place)
                     for t, place in zip(flatten(case), placements, strict=True)],
                    spread(weight, mesh["rows"], [ALL]))
        agree(found, true)


@of_any_size
def weights(mesh):
    """Of rows and of queries, without anything sent; and of keys, which are gathered."""
    case = Case(n=4)
    true = evoformer.attention_weights(case.query, case.key, [case.mask, case.pair])
    for query, key, mask, pair, place in ((1, 1, 1, None, 1), (2, None, None, 3, 3),
                                          (None, 2, 4, 4, None)):
        operands = [spread(t, mesh["rows"], at) for t, at in zip(
            (case.query, case.key, case.mask, case.pair), one(query, key, mask, pair),
            strict=True)]
        with CommDebugMode() as sent:
            found = evoformer.attention_weights(*operands[:2], operands[2:])
        assert (sent.get_total_counts() > 0) == (place is None)
        assert place is None or [list(found.placements)] == one(place)
        assert torch.equal(found.full_tensor(), true)
    with pytest.raises(TypeError, match="key is a Tensor and query a DTensor"):
        evoformer.attention_weights(operands[0], case.key)
