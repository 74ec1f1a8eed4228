"""The examples pair_block.mlir and pair_block_backward.mlir: their arguments, and what
they compute, in f64."""

import os

import numpy as np

EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                        "examples")


def resized(name, length):
    """The text of an example for pairs of another length than 64."""
    with open(os.path.join(EXAMPLES, f"{name}.mlir"), encoding="utf-8") as file:
        text = file.read()
    return (text.replace("4096", str(length**2)).replace("64x", f"{length}x")
            .replace("[64, 64,", f"[{length}, {length},")
            .replace("[1, 64, 64,", f"[1, {length}, {length},")
            .replace("4, 64, 64]", f"4, {length}, {length}]"))


def make_arrays(length):
    """The arguments that are read, and a gradient of the output."""
    draw = np.random.default_rng(5)

    def normal(*shape, scale=1.0):
        return (draw.standard_normal(shape) * scale).astype(np.float32)

    arrays = {"pair": normal(length, length, 128),
              "mask": draw.random((1, length, 1, 1, length)) < 0.8,
              "gamma": normal(128), "beta": normal(128)}
    arrays |= {f"w_{name}": normal(128, 128, scale=128**-0.5)
               for name in ("query", "key", "value", "gate")}
    arrays["w_bias"] = normal(128, 4, scale=128**-0.5)
    arrays["w_out"] = normal(128, 128, scale=128**-0.5)
    arrays["w_in"] = normal(128, 512, scale=128**-0.5)
    arrays["w_back"] = normal(512, 128, scale=512**-0.5)
    return arrays, normal(length, length, 128)


def widen(arrays):
    return {name: array if array.dtype == bool else array.astype(np.float64)
            for name, array in arrays.items()}


def reference(a, out_grad):
    """In f64: the output, and its gradients by name, for `out_grad`."""
    length = len(out_grad)

    def norm(x):
        d = x - x.mean(-1, keepdims=True)
        r = 1 / np.sqrt((d**2).mean(-1, keepdims=True) + 1e-5)
        return d * r * a["gamma"] + a["beta"], d * r, r

    def norm_back(grad, normal, r):
        inner = grad * a["gamma"]
        both = (grad * normal).sum((0, 1)), grad.sum((0, 1))
        inner = inner - inner.mean(-1, keepdims=True)
        return r * (inner - normal * (inner * normal).mean(-1, keepdims=True)), *both

    def weights(left, right):
        return np.tensordot(left, right, ((0, 1), (0, 1)))

    x, x_normal, x_r = norm(a["pair"])
    heads = (length, length, 4, 32)
    q, k, v, g = ((x @ a[f"w_{name}"]).reshape(heads)
                  for name in ("query", "key", "value", "gate"))
    logits = np.einsum("nihd,njhd->nhij", q, k) / 32**0.5
    logits += (x @ a["w_bias"]).transpose(2, 0, 1)
    logits = np.where(a["mask"].reshape(length, 1, 1, length), logits, -np.inf)
    p = np.exp(logits - logits.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    open_, o = 1 / (1 + np.exp(-g)), np.einsum("nhij,njhd->nihd", p, v)
    attended = (o * open_).reshape(length, length, 128)
    between = a["pair"] + attended @ a["w_out"]
    y, y_normal, y_r = norm(between)
    wide = y @ a["w_in"]
    relu = np.maximum(wide, 0)
    out = between + relu @ a["w_back"]

    grad = {"w_back": weights(relu, out_grad)}
    d_wide = (out_grad @ a["w_back"].T) * (wide > 0)
    grad["w_in"] = weights(y, d_wide)
    d, gamma, beta = norm_back(d_wide @ a["w_in"].T, y_normal, y_r)
    d_between = out_grad + d
    grad["w_out"] = weights(attended, d_between)
    d_attended = (d_between @ a["w_out"].T).reshape(heads)
    d_o = d_attended * open_
    d_p = np.einsum("nihd,njhd->nhij", d_o, v)
    d_logits = p * (d_p - (d_p * p).sum(-1, keepdims=True))
    each = {"query": np.einsum("nhij,njhd->nihd", d_logits, k) / 32**0.5,
            "key": np.einsum("nhij,nihd->njhd", d_logits, q) / 32**0.5,
            "value": np.einsum("nhij,nihd->njhd", p, d_o),
            "gate": d_attended * o * open_ * (1 - open_),
            "bias": d_logits.sum(0).transpose(1, 2, 0)}
    d_x = 0
    for name, d_each in each.items():
        d_each = d_each.reshape(length, length, -1)
        grad[f"w_{name}"] = weights(x, d_each)
        d_x = d_x + d_each @ a[f"w_{name}"].T
    d, gamma2, beta2 = norm_back(d_x, x_normal, x_r)
    return out, grad | {"pair": d_between + d, "gamma": gamma + gamma2,
                        "beta": beta + beta2}


def expected(arrays, out_grad):
    """What the examples write: the output, and the gradients in the order of the
    function's destinations."""
    out, gradients = reference(widen(arrays), out_grad.astype(np.float64))
    return ({"out": out},
            {name: gradients[name] for name in arrays if name != "mask"})


def command(tool, path, folder, given, wanted, suffix, options=()):
    """How `evoformer-run` runs one; outputs lie in `folder` afterwards."""
    words = [tool, str(path), *options]
    for name, array in given.items():
        np.save(os.path.join(folder, f"{name}.npy"), array)
        words.append(f"--input={name}={folder}/{name}.npy")
    for name, array in wanted.items():
        sizes = "x".join(map(str, array.shape))
        words += [f"--shape={name}{suffix}={sizes}",
                  f"--output={name}{suffix}={folder}/out.{name}.npy"]
    return words


def results(folder, wanted):
    return {name: np.load(os.path.join(folder, f"out.{name}.npy")) for name in wanted}


def errors(found, wanted):
    """The largest of each array, of its largest element."""
    return {name: np.abs(found[name] - exact).max() / np.abs(exact).max()
            for name, exact in wanted.items()}


# All is f32: sums of 128 to 512 products of numbers about 1 after another.
MOST_ERROR = 2e-5
