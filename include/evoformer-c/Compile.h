//===- Compile.h - Compiling attention through C ----------------*- C -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_C_COMPILE_H
#define EVOFORMER_C_COMPILE_H

#include "evoformer-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Code objects and the launch plan of a module. Immutable.
typedef struct EvoformerProgram EvoformerProgram;

/// The chips that are built in, separated by spaces. Never fails.
EVOFORMER_EXPORT const char *evoformerGetChips(void);

/// Those of them whose code later chips of the vendor run, too: NVIDIA's
/// without instructions that one chip alone has. Never fails.
EVOFORMER_EXPORT const char *evoformerGetPortableChips(void);

/// The MLIR module of one attention, from words separated by spaces, of which
/// only bias and capture may be repeated:
///
///   type=bf16             of query, key and value: f16, bf16, f32
///   heads=4 depth=32      depth: 1 to 256; without heads they are dynamic
///   group_size=2          heads of queries that share one of keys and values;
///                         divides heads; without: 1
///   shared=bn             the dimensions b and n of which keys and values have
///                         one for all: bn, b or n; without: none
///   keys_from=i-127       query i sees the keys from this one to before the
///   keys_to=i+sk-sq+1     other: sums of i or i/c*c (i rounded down to a
///                         multiple of c), sq, sk and numbers, where sq and sk
///                         are the numbers of queries and keys; without: from
///                         the first, and to the last
///   key_lengths=bn        how many keys, and queries, row n of batch b has:
///   query_lengths=n       the letters of bn whose dimensions the numbers have;
///                         without: all of them
///   ragged                sequences lie one behind the other: b of query, key,
///                         value, gate, out, lse and stats is 1, that of biases
///                         the sequence, and batch the number of these
///   batch=1 rows=1        likewise: the gradient of a bias that is not summed
///                         over them is faster where that is known
///   value_depth=32        default: depth
///   bias=bnk:i1           one word a bias, in order: the letters of bnhqk
///                         whose dimensions it has, the others have size 1;
///                         its type
///   score=%y~=~math.tanh~%x~:~f32;evoformer.yield~%y~:~f32
///                         what makes logits of scores, the ops of the region
///                         of evoformer.attention: ~ for a space, ; for the end
///                         of a line; of %x %b %n %h %i %j %sq %sk and %c0,
///                         %c1, ..
///   capture=h:f32         one word for each of these, in order, as bias=: they
///                         come behind the biases; grad= names them capture0, …
///                         Of type i32: indices, without a gradient; with a
///                         number, as capture=h:f32:32, a table of so many
///                         entries in the place of keys
///   gate=bf16 out=f32     types; without gate= there is none
///   dropout=0.1           with which probability weights are dropped, from 0
///                         to before 1
///   weights=retention:1   how weights are made of logits: softmax (default),
///                         linear, or retention with the least divisor
///   lse stats             further results
///   scale=0.25            default: depth^(-1/2)
///   pass=backward         the gradient instead; or pass=weights: the weights
///                         themselves, from stats, negative where dropout
///                         drops them, of the type that out= says
///   grad=query,bias1      which gradients (default: all)
///
/// Its function is `attention`. Its arguments are memrefs query, key, value
/// [b,n,s,h,d], each bias [b,n,h,q,k], gate, key_lengths and query_lengths
/// [b,n] i32, or where sequences start, of queries and keys [b+1] i32, dropout
/// [2] i64 (a seed and an offset), out [b,n,q,h,d], lse and stats [b,n,h,q]
/// f32, as far as they are there; backward takes no lse, but stats, then
/// out_grad and the gradients query_grad, key_grad, value_grad, bias0_grad, …,
/// gate_grad, each of its operand's type. Weights take no value, gate, out and
/// lse, but stats and then weights [b,n,h,q,k]. Of ragged sequences two scalars
/// follow: the most queries and keys that one has, q and k of biases. Strides
/// are arbitrary but for those of d, which are 1, and for lse and stats, which
/// are dense.
///
/// `*text` is to be released by evoformerFreeText.
EVOFORMER_EXPORT EvoformerStatus
evoformerDescribeAttention(const char *description, char **text);

/// Compiles a module, or takes the program from the cache. `options` are words
/// separated by spaces:
///
///   target=sm_80          a chip, see evoformerGetChips; default: cpu
///   device=cuda           cpu, cuda or hip: what runs it; default: cpu
///   schedule=v1:…         forces the cut
///   shape=bf16,32,384,384,1536
///                         type, depth, queries, keys, and batches times rows
///                         times heads, of which a table of schedules is asked
///                         where none is forced: the default is taken where it
///                         has none, or one that this module cannot have
///   schedules=FILE        the table, as evoformer-tune writes it; default:
///                         $EVOFORMER_SCHEDULES, or none
///   deferred              kernels are compiled, or taken from the cache,
///                         when a call needs them: a run of one alignment and
///                         size takes half of them. The plan has them over
///                         tiles
///   bias_gradients=apart  where gradients of biases are computed: apart,
///                         with-query or auto (the default)
///   partial_sum_bytes=0   the most memory that partial sums of one bias's
///                         gradient take; -1, the default: that of the
///                         gradients of query, key and value
///   f32_products=split    products of f32 are sums of products of narrower
///                         terms where the chip has an instruction for those;
///                         exact (the default): they are not
///   cubin=sm_90           with ptxas: machine code for this chip, not PTX
///   cache=DIR             on disk; without DIR: none. Default:
///                         $EVOFORMER_CACHE_DIR, $XDG_CACHE_HOME/evoformer or
///                         ~/.cache/evoformer
///
/// The folder holds code: it is made for its user alone, and one that others
/// own or can write to is not used, nor such an entry, which is said once on
/// standard error. Where a folder cannot be used the compiler does without.
/// `*program` holds one reference.
EVOFORMER_EXPORT EvoformerStatus evoformerCompile(const char *module,
                                                  const char *options,
                                                  EvoformerProgram **program);

EVOFORMER_EXPORT void evoformerProgramRelease(EvoformerProgram *program);

/// The launch plan as JSON (docs/launch-plan.md), code and kernels' reports
/// included. Valid while the program is.
EVOFORMER_EXPORT const char *
evoformerProgramGetPlan(const EvoformerProgram *program);

/// Where it came from: `compiled`, `memory` or `disk`, of the call that made
/// the program.
EVOFORMER_EXPORT const char *
evoformerProgramGetOrigin(const EvoformerProgram *program);

#ifdef __cplusplus
}
#endif

#endif // EVOFORMER_C_COMPILE_H
