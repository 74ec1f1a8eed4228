"""The weights of an attention, which `attention` does not store, on demand."""

from collections.abc import Sequence
from typing import Any, Optional

from . import _attention, _keys, _weights


def attention_weights(query: Any, key: Any, biases: Sequence[Any] = (),
                      scale: Optional[float] = None, layout: Optional[str] = None, *,
                      causal: bool = False, window: Optional[_attention.Window] = None,
                      keys: Optional[_attention.Bounds] = None,
                      key_lengths: Optional[Any] = None,
                      query_lengths: Optional[Any] = None,
                      cu_seqlens: Optional[Any] = None, max_seqlen: Optional[Any] = None,
                      score: Optional[_attention.Score] = None,
                      captures: Sequence[Any] = (), dropout_p: float = 0.0,
                      dropout_state: Optional[Any] = None,
                      weights: "_weights.Weights" = "softmax") -> Any:
    """The weights [b, n, h, sq, sk] by which `attention` of these operands adds up values:

        weight[b,n,h,i,j] = exp(logit[b,n,h,i,j] - lse[b,n,h,i])

    Those that dropout with this state drops are negative, and the others are not divided
    by 1 - dropout_p. A key that the query does not see or that a bias drops has 0, and so
    have all keys of a query that keeps none.

    Arguments are those of `attention`, torch tensors, JAX or NumPy arrays. dropout_p needs
    dropout_state. Weights that are no softmax have signs of their own: they take no
    dropout_p.

    Returns a tensor or an array of query's type, without gradient, with the dimensions of
    biases of the layout: b and n where it has them, h, sq, sk. With cu_seqlens its first
    dimension is the sequence, and sq and sk are the most that one has. It takes b n h sq
    sk elements of memory: for tests and for looking at a head, not for computing with.

    Raises TypeError and ValueError for operands that do not fit.
    """
    _attention._check_biases(biases)
    _attention._check_captures(captures, score)
    lengths = _attention._lengths(key_lengths, query_lengths, cu_seqlens, max_seqlen)
    dropout_p, lengths = _attention._dropout(dropout_p, dropout_state, lengths)
    made = _weights.word(weights)
    if made and dropout_p:
        raise ValueError(f"dropout_p is {dropout_p} with weights that are no softmax; "
                         "accepted is 0: the sign of a weight says what is dropped, and "
                         "these have signs of their own")
    seen, biases = _attention._with_score(_keys.resolve(causal, window, keys), biases,
                                          score, captures)
    backend: Any = _attention._backend(query)
    return backend.attention_weights(
        query, key, biases, scale, layout,
        seen._replace(dropout_p=dropout_p, weights=made), lengths)
