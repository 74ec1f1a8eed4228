"""One shape of a suite in a process of its own: what fails or dies there takes no
other shape with it. First everything is compiled, beside the other shapes; then,
alone on the device, it is measured. Says what it finds through a pipe."""

import time

import torch

from . import memory, peers, shapes
from .clock import Clock

# More than the host takes to launch a pass.
SPIN_MS = 4
# What is farther from the results in float32, relative to their norm, is no result.
WRONG = 0.05


class Candidate:
    """A way to compute the attention of a shape, and what became of it."""

    def __init__(self, shape, device, peer, function, layout, tiling=None):
        self.shape, self.device, self.function = shape, device, function
        self.record = {"peer": peer, "layout": layout, "tiling": tiling,
                       "problems": {}}

    def open(self):
        """(the forward pass, what it differentiates, the output's gradient)."""
        leaves, mask, gradient = shapes.make_operands(
            self.shape, self.device, self.record["layout"] == "head-major")
        q, k, v, pair = leaves
        return lambda: self.function(q, k, v, mask, pair), leaves, gradient

    def attempt(self, name, action):
        """Whether the action succeeds. Whatever another package raises is a
        result here."""
        try:
            action()
            return True
        except Exception as error:
            self.record["problems"][name] = peers.describe(error)
            return False

    def compile(self):
        """Runs both passes once. Other shapes do so at the same time: memory that
        is not there now may be when this one is measured alone."""
        def both():
            forward, leaves, gradient = self.open()
            out = forward()
            self.attempt("backward", lambda: (
                torch.autograd.grad(out, leaves, gradient), wait(self.device)))
        self.attempt("forward", both)
        problems = self.record["problems"]
        for name in [n for n in problems if problems[n].startswith("OutOfMemory")]:
            del problems[name]

    def measure(self, clock, repeat, expected):
        problems = self.record["problems"]
        if "forward" in problems:
            return
        opened = []
        if not self.attempt("forward", lambda: opened.extend(self.open())):
            return
        forward, leaves, gradient = opened
        self.attempt("forward", lambda: self.time(
            "forward", lambda: [forward().detach()], clock, repeat, expected))
        if problems:
            return

        def backward():
            out = forward()
            self.time("backward", lambda: torch.autograd.grad(
                out, leaves, gradient, retain_graph=True), clock, repeat, expected)
        self.attempt("backward", backward)
        if not problems:
            self.attempt("memory", lambda: self.weigh(forward, leaves, gradient))

    def time(self, name, run, clock, repeat, expected):
        """Checks what a pass gives, then times it."""
        first, second = run(), run()
        equal = all(bits(a).equal(bits(b)) for a, b in zip(first, second))
        del second
        names = ("out",) if name == "forward" else shapes.GRADIENTS
        errors = {n: distance(found, expected[n]) for n, found in zip(names, first)}
        del first
        self.record.setdefault("errors", {}).update(errors)
        worst = max(errors, key=errors.get)
        if not errors[worst] < WRONG:
            raise ValueError(f"wrong: {worst} is {errors[worst]:.2g} of its norm off")
        low, median, high = clock.quartiles(run, repeat)
        self.record[name] = {"ms": median, "low": low, "high": high, "equal": equal}

    def weigh(self, forward, leaves, gradient):
        """The most memory that both passes take beside operands and the output's
        gradient."""
        peak = memory.peak_mb(
            lambda: torch.autograd.grad(forward(), leaves, gradient), self.device)
        if peak is not None:
            self.record["peak_mb"] = peak


def wait(device):
    if device != "cpu":
        torch.cuda.synchronize()


def bits(tensor):
    kind = torch.int32 if tensor.element_size() == 4 else torch.int16
    return tensor.contiguous().view(kind)


def distance(found, expected):
    """Relative to the norm; not a number where it is not finite."""
    return ((found.float() - expected).norm() / expected.norm()).item()


def list_candidates(shape, device, chosen):
    """All that is installed; FlexAttention in several tilings, and it and this
    project with both orders of operands."""
    found = []
    for peer, function in peers.available(device).items():
        if chosen and peer not in chosen:
            continue
        layouts = (("model", "head-major") if peer in ("evoformer", "flex") else
                   ("model",))
        ways = ({None: function} if peer != "flex" else
                {tiling: peers.flex_by(options)
                 for tiling, options in peers.flex_tilings(device).items()})
        found += [Candidate(shape, device, peer, way, layout, tiling)
                  for layout in layouts for tiling, way in ways.items()]
    return found


def main(pipe, shape, device, chosen, repeat, deadline):
    """`deadline`: the time, as of time.time(), until which may be compiled."""
    candidates = list_candidates(shape, device, chosen)
    for candidate in candidates:
        if candidate.record["peer"] in peers.READY:
            continue
        if time.time() < deadline:
            candidate.compile()
        else:
            candidate.record["problems"]["forward"] = "was not compiled in time"
        memory.release()
    pipe.send("ready")
    if pipe.recv() != "go":
        return
    clock = Clock(device, SPIN_MS)
    expected = shapes.reference(shape, device)
    for candidate in candidates:
        candidate.measure(clock, repeat, expected)
        memory.release()
        pipe.send(candidate.record)
    pipe.send("done")
