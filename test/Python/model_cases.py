"""The models' own attention modules, as test_models.py runs them: one class for each
model, with what its modules take and which kernels they can be told to use."""

import importlib
import os

# Protenix would compile a layer normalisation of its own for CUDA.
os.environ["LAYERNORM_TYPE"] = "torch"

CHANNELS, PAIR, HIDDEN, HEADS = 16, 12, 8, 2


class Boltz:
    package = "boltz.model.layers.triangular_attention.attention"
    kernels = {"cuequivariance": dict(use_kernels=True)}
    modules = {"start": lambda m: m.TriangleAttentionStartingNode(
                   CHANNELS, HIDDEN, HEADS),
               "end": lambda m: m.TriangleAttentionEndingNode(
                   CHANNELS, HIDDEN, HEADS)}


class Protenix:
    package = "protenix.model.triangular.triangular"
    kernels = {"protenix": dict(triangle_attention="triattention"),
               "deepspeed": dict(triangle_attention="deepspeed"),
               "cuequivariance": dict(triangle_attention="cuequivariance")}
    modules = {"start": lambda m: m.TriangleAttention(CHANNELS, HIDDEN, HEADS),
               "end": lambda m: m.TriangleAttentionEndingNode(
                   CHANNELS, HIDDEN, HEADS)}


class OpenFold3:
    package = "openfold3.core.model.layers"
    kernels = {"triton": dict(use_triton_triangle_kernels=True),
               "deepspeed": dict(use_deepspeed_evo_attention=True),
               "cuequivariance": dict(use_cueq_triangle_kernels=True)}
    modules = {
        "start": lambda m: of(m, "triangular_attention").TriangleAttention(
            CHANNELS, HIDDEN, HEADS),
        "end": lambda m: of(m, "triangular_attention").TriangleAttentionEndingNode(
            CHANNELS, HIDDEN, HEADS),
        "row": lambda m: of(m, "msa").MSARowAttentionWithPairBias(
            CHANNELS, PAIR, HIDDEN, HEADS),
        "column": lambda m: of(m, "msa").MSAColumnAttention(CHANNELS, HIDDEN, HEADS),
        "single": lambda m: of(m, "attention_pair_bias").AttentionPairBias(
            CHANNELS, CHANNELS, CHANNELS, CHANNELS, PAIR, HIDDEN, HEADS)}


class OpenFold:
    # Of the package index's one release, 0.0.1 of 2022, which is of before these
    # kernels and does not build alone, nothing is installed; a checkout beside the
    # other models is used.
    package = "openfold.model"
    kernels = {"deepspeed": dict(use_deepspeed_evo_attention=True)}
    modules = {
        "start": lambda m: of(m, "triangular_attention").TriangleAttention(
            CHANNELS, HIDDEN, HEADS),
        "end": lambda m: of(m, "triangular_attention").TriangleAttentionEndingNode(
            CHANNELS, HIDDEN, HEADS),
        "row": lambda m: of(m, "msa").MSARowAttentionWithPairBias(
            CHANNELS, PAIR, HIDDEN, HEADS),
        "column": lambda m: of(m, "msa").MSAColumnAttention(CHANNELS, HIDDEN, HEADS)}


def of(package, name):
    return importlib.import_module(f"{package.__name__}.{name}")


MODELS = (Boltz, OpenFold, OpenFold3, Protenix)
