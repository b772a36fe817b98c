/* Vectors of lanes for the tile generator: types, loads, stores, choices, conversions, transposes, exp.
 *
 *   rm_DxW                        W values of D; of bool: a mask, rm_int8xW … rm_int64xW, each lane 0 or -1
 *   RM_LOAD(DxW, p)               W cells from p on that are held as they are; RM_STORE(DxW, p, v)
 *   rm_load_DxW(p)                the same, of any dtype; rm_load_part_DxW(p, n): n of them, the other lanes 0
 *   rm_store_DxW(p, v)            and rm_store_part_DxW(p, v, n)
 *   rm_stream_DxW(p, v)           a store past the caches where p is aligned; RM_STREAMED() after the last
 *   rm_past_DxW(p)                how many cells p is past such an address
 *   rm_gather_DxW(p, step, n)     p[0], p[step] … n of them; rm_scatter_DxW(p, step, v, n)
 *   rm_copy_DxW(q, p, step, n)    the same cells, of any number, to q[0], q[1] …
 *   rm_splat_DxW(x)               x in each lane
 *   rm_select_DxW(mask, a, b)     a where the mask is set, else b
 *   rm_max_DxW, rm_min_DxW        a > b ? a : b, a < b ? a : b; rm_abs_DxW
 *   RM_TIMES_CELL(DxW, v, p)      v * *p, of float32 and float64
 *   rm_isnan_DxW(v)               a mask, of float32 and float64
 *   rm_narrow_DxW(v)              of float16 and bfloat16: what arithmetic on values of D gave, rounded to D
 *   rm_cast_float32_DxW(v)        and any float32 rounded to D
 *   rm_transpose_DxW(rows)        lane r of rows[c] and lane c of rows[r] change places
 *
 * A unit names what it uses: RM_VECTOR(D, W) or RM_VECTOR_BOOL(W), RM_TRANSPOSE(D, bytes, W), RM_EXP_…; float16 and
 * bfloat16 after uint16 and float32, bool after uint8, exp after float32 and float64 (refmlc/native/tile/headers.py).
 * Arithmetic is C's own on these types (+ - * / and comparisons), lane by lane. Needs the vector extensions of gcc and
 * clang. RM_PLAIN: no instruction by its name. */
#ifndef RM_VECTOR_H
#define RM_VECTOR_H

#include <string.h>

#include "rm_types.h"

#if defined __GNUC__ && !defined __clang__ && !defined RM_PLAIN
#define RM_GCC_BUILTINS 1
#else
#define RM_GCC_BUILTINS 0
#endif
#if RM_GCC_BUILTINS && defined __AVX512F__ && defined __AVX512VL__ && defined __AVX512BW__ && defined __AVX512DQ__
#define RM_AVX512 1
#else
#define RM_AVX512 0
#endif
#if RM_GCC_BUILTINS && defined __AVX2__
#define RM_AVX2 1
#else
#define RM_AVX2 0
#endif
#if RM_GCC_BUILTINS && defined __SSE2__
#define RM_SSE2 1
#else
#define RM_SSE2 0
#endif

/* -------------------------------------------------------------------------------------------------------------- types
 *
 * rm_DxW_at is the same in memory: on any address that an element may have, over cells of any type. */
#define RM_VECTOR_TYPE(D, T, W)                                                                         \
  typedef T rm_##D##x##W __attribute__((vector_size(sizeof(T) * W)));                                   \
  typedef T rm_##D##x##W##_at __attribute__((vector_size(sizeof(T) * W), aligned(sizeof(T)), may_alias));
#define RM_VECTOR_TYPES(W)                                                                              \
  RM_VECTOR_TYPE(int8, int8_t, W) RM_VECTOR_TYPE(int16, int16_t, W) RM_VECTOR_TYPE(int32, int32_t, W)   \
  RM_VECTOR_TYPE(int64, int64_t, W) RM_VECTOR_TYPE(uint8, uint8_t, W) RM_VECTOR_TYPE(uint16, uint16_t, W) \
  RM_VECTOR_TYPE(uint32, uint32_t, W) RM_VECTOR_TYPE(uint64, uint64_t, W)                               \
  RM_VECTOR_TYPE(float32, float, W) RM_VECTOR_TYPE(float64, double, W)                                  \
  typedef rm_float32x##W rm_float16x##W;                                                                \
  typedef rm_float32x##W rm_bfloat16x##W;
RM_VECTOR_TYPES(2)
RM_VECTOR_TYPES(4)
RM_VECTOR_TYPES(8)
RM_VECTOR_TYPES(16)
RM_VECTOR_TYPES(32)
RM_VECTOR_TYPES(64)

/* Ask for the memory around p, which need not exist. */
#define RM_FETCH(p) __builtin_prefetch(p, 0)
#define RM_FETCH_TO_WRITE(p) __builtin_prefetch(p, 1)

/* RM_TO(DxW, v): v, which may hold commas, converted to the type of the lanes, as C converts. */
#define RM_TO(type, ...) __builtin_convertvector((__VA_ARGS__), rm_##type)
#define RM_LOAD(type, p) ((rm_##type)*(const rm_##type##_at *)(p))
#define RM_STORE(type, p, v) (*(rm_##type##_at *)(p) = (v))

#define RM_LANES_2(F) F(0), F(1)
#define RM_LANES_4(F) RM_LANES_2(F), F(2), F(3)
#define RM_LANES_8(F) RM_LANES_4(F), F(4), F(5), F(6), F(7)
#define RM_LANES_16(F) RM_LANES_8(F), F(8), F(9), F(10), F(11), F(12), F(13), F(14), F(15)
#define RM_LANES_32(F)                                                                                  \
  RM_LANES_16(F), F(16), F(17), F(18), F(19), F(20), F(21), F(22), F(23), F(24), F(25), F(26), F(27),   \
      F(28), F(29), F(30), F(31)
#define RM_LANES_64(F)                                                                                  \
  RM_LANES_32(F), F(32), F(33), F(34), F(35), F(36), F(37), F(38), F(39), F(40), F(41), F(42), F(43),   \
      F(44), F(45), F(46), F(47), F(48), F(49), F(50), F(51), F(52), F(53), F(54), F(55), F(56), F(57), \
      F(58), F(59), F(60), F(61), F(62), F(63)
#define RM_MIX __builtin_shufflevector
#define RM_LANE_NUMBER(i) i
#define RM_LANE_X(i) x
#define RM_IOTA(W) RM_LANES_##W(RM_LANE_NUMBER)

/* ------------------------------------------------------------------------------------------- every dtype: memory, choices
 *
 * I: the integers as wide as a lane. A last vector of fewer cells is copied lane by lane: n is a constant. */
#define RM_VECTOR(D, W) RM_VECTOR_##D(W)

#define RM_VECTOR_SHAPE(D, T, I, W)                                                                     \
  RM_FN rm_##D##x##W rm_splat_##D##x##W(T x) { return (rm_##D##x##W){RM_LANES_##W(RM_LANE_X)}; }        \
  RM_FN rm_##D##x##W rm_select_##D##x##W(rm_##I##x##W mask, rm_##D##x##W a, rm_##D##x##W b) {           \
    return (rm_##D##x##W)((mask & (rm_##I##x##W)a) | (~mask & (rm_##I##x##W)b));                        \
  }

#define RM_VECTOR_MEMORY(D, T, W)                                                                       \
  RM_FN rm_##D##x##W rm_load_##D##x##W(const T *p) { return *(const rm_##D##x##W##_at *)p; }            \
  RM_FN void rm_store_##D##x##W(T *p, rm_##D##x##W v) { *(rm_##D##x##W##_at *)p = v; }                  \
  RM_FN rm_##D##x##W rm_load_part_##D##x##W(const T *p, int64_t n) {                                    \
    rm_##D##x##W v = {0};                                                                               \
    memcpy(&v, p, (size_t)n * sizeof *p);                                                               \
    return v;                                                                                           \
  }                                                                                                     \
  RM_FN void rm_store_part_##D##x##W(T *p, rm_##D##x##W v, int64_t n) { memcpy(p, &v, (size_t)n * sizeof *p); }

/* A vector of 64, 32 or 16 bytes can be written past the caches: for what is too long for them to keep. */
#define RM_STREAM_PLAIN(p, v) (*(p) = (v))
#if RM_AVX512
#define RM_STREAM_64(p, v) __builtin_ia32_movntps512((float *)(p), (rm_float32x16)(v))
#else
#define RM_STREAM_64 RM_STREAM_PLAIN
#endif
#if RM_AVX2
#define RM_STREAM_32(p, v) __builtin_ia32_movntps256((float *)(p), (rm_float32x8)(v))
#else
#define RM_STREAM_32 RM_STREAM_PLAIN
#endif
#if RM_SSE2
#define RM_STREAM_16(p, v) __builtin_ia32_movntps((float *)(p), (rm_float32x4)(v))
#define RM_STREAMED() __builtin_ia32_sfence()
#else
#define RM_STREAM_16 RM_STREAM_PLAIN
#define RM_STREAMED() ((void)0)
#endif
#define RM_VECTOR_STREAM(D, T, W, bytes)                                                                \
  RM_FN int64_t rm_past_##D##x##W(const T *p) {                                                         \
    return (int64_t)(((uintptr_t)p & (bytes - 1)) / sizeof *p);                                         \
  }                                                                                                     \
  RM_FN void rm_stream_##D##x##W(T *p, rm_##D##x##W v) {                                                \
    if (((uintptr_t)p & (bytes - 1)) == 0) {                                                            \
      RM_STREAM_##bytes((rm_##D##x##W *)p, v);                                                          \
    } else {                                                                                            \
      rm_store_##D##x##W(p, v);                                                                         \
    }                                                                                                   \
  }

#define RM_VECTOR_SCATTERED(D, T, W)                                                                    \
  RM_FN rm_##D##x##W rm_gather_##D##x##W(const T *p, int64_t step, int64_t n) {                         \
    if (step == 2 && n == W && sizeof(T) >= 4) {                                                        \
      const rm_##D##x##W a = *(const rm_##D##x##W##_at *)p, b = *(const rm_##D##x##W##_at *)(p + W - 1); \
      return RM_MIX(a, b, RM_LANES_##W(RM_LANE_EVEN_##W));                                              \
    }                                                                                                   \
    return (rm_##D##x##W){RM_LANES_##W(RM_LANE_GATHERED)};                                              \
  }                                                                                                     \
  RM_FN void rm_scatter_##D##x##W(T *p, int64_t step, rm_##D##x##W v, int64_t n) {                      \
    for (int64_t l = 0; l < n; ++l) p[step * l] = v[l];                                                 \
  }
/* The rest of a copy, fewer cells than lanes: with a mask, or lane by lane. */
#define RM_COPY_REST_PLAIN(q, p, step, n) \
  for (int64_t l = 0; l < (n); ++l) (q)[l] = (p)[(step) * l]
#if RM_AVX512
#define RM_COPY_REST(q, p, step, n, W)                                                                  \
  if (sizeof *(q) * W == 64 && sizeof *(q) == 4 && (step) == 1) {                                       \
    const uint16_t mask = (uint16_t)((1U << (n)) - 1);                                                  \
    __builtin_ia32_storeups512_mask(                                                                    \
        (float *)(q), __builtin_ia32_loadups512_mask((const float *)(p), (rm_float32x16){0}, mask), mask); \
  } else RM_COPY_REST_PLAIN(q, p, step, n)
#else
#define RM_COPY_REST(q, p, step, n, W) RM_COPY_REST_PLAIN(q, p, step, n)
#endif
#define RM_VECTOR_COPY(D, T, W)                                                                         \
  RM_FN void rm_copy_##D##x##W(T *q, const T *p, int64_t step, int64_t n) {                             \
    int64_t at = 0;                                                                                     \
    for (; at + W <= n; at += W) {                                                                      \
      rm_store_##D##x##W(q + at, step == 1 ? rm_load_##D##x##W(p + at) : rm_gather_##D##x##W(p + step * at, step, W)); \
    }                                                                                                   \
    RM_COPY_REST(q + at, p + step * at, step, n - at, W);                                               \
  }
#define RM_LANE_EVEN_2(l) (2 * (l) < 2 ? 2 * (l) : 2 * (l) + 1)
#define RM_LANE_EVEN_4(l) (2 * (l) < 4 ? 2 * (l) : 2 * (l) + 1)
#define RM_LANE_EVEN_8(l) (2 * (l) < 8 ? 2 * (l) : 2 * (l) + 1)
#define RM_LANE_EVEN_16(l) (2 * (l) < 16 ? 2 * (l) : 2 * (l) + 1)
#define RM_LANE_EVEN_32(l) (2 * (l) < 32 ? 2 * (l) : 2 * (l) + 1)
#define RM_LANE_EVEN_64(l) (2 * (l) < 64 ? 2 * (l) : 2 * (l) + 1)
#define RM_LANE_GATHERED(l) l < n ? p[step * l] : p[0]

/* ----------------------------------------------------------------------------------------------------- greater, smaller
 *
 * The instructions of x86 give the second operand unless the first is greater (smaller): just what is meant. */
#define RM_EXTREME(name, op, D, W)                                                                      \
  RM_FN rm_##D##x##W rm_##name##_##D##x##W(rm_##D##x##W a, rm_##D##x##W b) {                            \
    return rm_select_##D##x##W(a op b, a, b);                                                           \
  }
#define RM_EXTREMES(D, W) RM_EXTREME(max, >, D, W) RM_EXTREME(min, <, D, W)
#define RM_INSTRUCTION(name, D, W, call) \
  RM_FN rm_##D##x##W rm_##name##_##D##x##W(rm_##D##x##W a, rm_##D##x##W b) { return call; }
#define RM_INSTRUCTIONS(D, W, suffix)                                                                   \
  RM_INSTRUCTION(max, D, W, __builtin_ia32_max##suffix(a, b))                                           \
  RM_INSTRUCTION(min, D, W, __builtin_ia32_min##suffix(a, b))
#define RM_INSTRUCTIONS_512(D, W, all, suffix)                                                          \
  RM_INSTRUCTION(max, D, W, __builtin_ia32_max##suffix##_mask(a, b, a, all, 4))                       \
  RM_INSTRUCTION(min, D, W, __builtin_ia32_min##suffix##_mask(a, b, a, all, 4))

#define RM_EXTREMES_float32x2 RM_EXTREMES(float32, 2)
#define RM_EXTREMES_float32x4 RM_EXTREMES(float32, 4)
#define RM_EXTREMES_float32x8 RM_EXTREMES(float32, 8)
#define RM_EXTREMES_float32x16 RM_EXTREMES(float32, 16)
#define RM_EXTREMES_float64x2 RM_EXTREMES(float64, 2)
#define RM_EXTREMES_float64x4 RM_EXTREMES(float64, 4)
#define RM_EXTREMES_float64x8 RM_EXTREMES(float64, 8)
#if RM_SSE2
#undef RM_EXTREMES_float32x4
#undef RM_EXTREMES_float64x2
#define RM_EXTREMES_float32x4 RM_INSTRUCTIONS(float32, 4, ps)
#define RM_EXTREMES_float64x2 RM_INSTRUCTIONS(float64, 2, pd)
#endif
#if RM_AVX2
#undef RM_EXTREMES_float32x8
#undef RM_EXTREMES_float64x4
#define RM_EXTREMES_float32x8 RM_INSTRUCTIONS(float32, 8, ps256)
#define RM_EXTREMES_float64x4 RM_INSTRUCTIONS(float64, 4, pd256)
#endif
#if RM_AVX512
#undef RM_EXTREMES_float32x16
#undef RM_EXTREMES_float64x8
#define RM_EXTREMES_float32x16 RM_INSTRUCTIONS_512(float32, 16, -1, ps512)
#define RM_EXTREMES_float64x8 RM_INSTRUCTIONS_512(float64, 8, 255, pd512)
#endif

/* -------------------------------------------------------------------------------------------------- a vector times a cell
 *
 * Where registers of 64 bytes are worked on in halves (Zen 4; the build says RM_SPLIT_REGISTERS), a load that repeats a
 * cell in all lanes takes the time of an addition, a multiplication that does it by itself takes none. gcc makes the
 * former of what is written plainly: the instruction is named. Elsewhere one load for many multiplications is better. */
#define RM_TIMES_CELL(type, v, p) RM_TIMES_CELL_##type(v, p)
#define RM_TIMES_CELL_PLAIN(v, p) ((v) * *(p))
#define RM_TIMES_CELL_float32x2 RM_TIMES_CELL_PLAIN
#define RM_TIMES_CELL_float32x4 RM_TIMES_CELL_PLAIN
#define RM_TIMES_CELL_float32x8 RM_TIMES_CELL_PLAIN
#define RM_TIMES_CELL_float64x2 RM_TIMES_CELL_PLAIN
#define RM_TIMES_CELL_float64x4 RM_TIMES_CELL_PLAIN
#if RM_AVX512 && defined RM_SPLIT_REGISTERS
#define RM_TIMES_CELL_EMBEDDED(type, v, p, instruction)                                                 \
  __extension__({                                                                                       \
    rm_##type rm_product;                                                                               \
    __asm__(instruction : "=v"(rm_product) : "v"(v), "m"(*(p)));                                        \
    rm_product;                                                                                         \
  })
#define RM_TIMES_CELL_float32x16(v, p) RM_TIMES_CELL_EMBEDDED(float32x16, v, p, "vmulps %2%{1to16%}, %1, %0")
#define RM_TIMES_CELL_float64x8(v, p) RM_TIMES_CELL_EMBEDDED(float64x8, v, p, "vmulpd %2%{1to8%}, %1, %0")
#else
#define RM_TIMES_CELL_float32x16 RM_TIMES_CELL_PLAIN
#define RM_TIMES_CELL_float64x8 RM_TIMES_CELL_PLAIN
#endif

/* ------------------------------------------------------------------------------------------------ the dtypes, one by one */

#define RM_VECTOR_PLAIN(D, T, I, W) RM_VECTOR_SHAPE(D, T, I, W) RM_VECTOR_MEMORY(D, T, W) RM_VECTOR_SCATTERED(D, T, W)
#define RM_VECTOR_ABS(D, W)                                                                             \
  RM_FN rm_##D##x##W rm_abs_##D##x##W(rm_##D##x##W a) { return rm_select_##D##x##W(a < 0, 0 - a, a); }
#define RM_VECTOR_SIGNED(D, T, W) RM_VECTOR_PLAIN(D, T, D, W) RM_EXTREMES(D, W) RM_VECTOR_ABS(D, W)
#define RM_VECTOR_UNSIGNED(D, T, I, W)                                                                  \
  RM_VECTOR_PLAIN(D, T, I, W) RM_EXTREMES(D, W)                                                         \
  RM_FN rm_##D##x##W rm_abs_##D##x##W(rm_##D##x##W a) { return a; }
#define RM_VECTOR_int8(W) RM_VECTOR_SIGNED(int8, int8_t, W)
#define RM_VECTOR_int16(W) RM_VECTOR_SIGNED(int16, int16_t, W)
#define RM_VECTOR_int32(W) RM_VECTOR_SIGNED(int32, int32_t, W)
#define RM_VECTOR_int64(W) RM_VECTOR_SIGNED(int64, int64_t, W)
#define RM_VECTOR_uint8(W) RM_VECTOR_UNSIGNED(uint8, uint8_t, int8, W)
#define RM_VECTOR_uint16(W) RM_VECTOR_UNSIGNED(uint16, uint16_t, int16, W)
#define RM_VECTOR_uint32(W) RM_VECTOR_UNSIGNED(uint32, uint32_t, int32, W)
#define RM_VECTOR_uint64(W) RM_VECTOR_UNSIGNED(uint64, uint64_t, int64, W)

#define RM_VECTOR_FLOAT(D, T, I, U, SIGNLESS, W)                                                        \
  RM_VECTOR_PLAIN(D, T, I, W)                                                                           \
  RM_EXTREMES_##D##x##W                                                                                 \
  RM_FN rm_##D##x##W rm_abs_##D##x##W(rm_##D##x##W a) { return (rm_##D##x##W)((rm_##U##x##W)a & SIGNLESS); }
#define RM_VECTOR_NAN(D, I, W) RM_FN rm_##I##x##W rm_isnan_##D##x##W(rm_##D##x##W v) { return v != v; }
#define RM_VECTOR_float32(W) RM_VECTOR_FLOAT(float32, float, int32, uint32, 0x7fffffffU, W) RM_VECTOR_NAN(float32, int32, W)
#define RM_VECTOR_float64(W) RM_VECTOR_FLOAT(float64, double, int64, uint64, UINT64_C(0x7fffffffffffffff), W) RM_VECTOR_NAN(float64, int64, W)

/* Cells of bool: any byte but 0 is true. After RM_VECTOR(uint8, W). */
#define RM_VECTOR_BOOL(W)                                                                               \
  RM_FN rm_int8x##W rm_load_boolx##W(const uint8_t *p) { return rm_load_uint8x##W(p) != 0; }            \
  RM_FN rm_int8x##W rm_load_part_boolx##W(const uint8_t *p, int64_t n) { return rm_load_part_uint8x##W(p, n) != 0; } \
  RM_FN rm_int8x##W rm_gather_boolx##W(const uint8_t *p, int64_t step, int64_t n) {                     \
    return rm_gather_uint8x##W(p, step, n) != 0;                                                        \
  }                                                                                                     \
  RM_FN void rm_store_boolx##W(uint8_t *p, rm_int8x##W v) { rm_store_uint8x##W(p, (rm_uint8x##W)v & 1); } \
  RM_FN void rm_store_part_boolx##W(uint8_t *p, rm_int8x##W v, int64_t n) {                             \
    rm_store_part_uint8x##W(p, (rm_uint8x##W)v & 1, n);                                                 \
  }                                                                                                     \
  RM_FN void rm_scatter_boolx##W(uint8_t *p, int64_t step, rm_int8x##W v, int64_t n) {                  \
    rm_scatter_uint8x##W(p, step, (rm_uint8x##W)v & 1, n);                                              \
  }

/* ------------------------------------------------------------------------------------------------ float16 and bfloat16
 *
 * Values are held as float, memory holds codes. The same numbers as rm_dtypes.h, by other means; NaN is one class. */
#define RM_SMALL_MEMORY(D, W)                                                                           \
  RM_FN rm_float32x##W rm_load_##D##x##W(const uint16_t *p) { return rm_decode_##D##x##W(rm_load_uint16x##W(p)); }     \
  RM_FN rm_float32x##W rm_load_part_##D##x##W(const uint16_t *p, int64_t n) {                           \
    return rm_decode_##D##x##W(rm_load_part_uint16x##W(p, n));                                          \
  }                                                                                                     \
  RM_FN rm_float32x##W rm_gather_##D##x##W(const uint16_t *p, int64_t step, int64_t n) {                \
    return rm_decode_##D##x##W(rm_gather_uint16x##W(p, step, n));                                       \
  }                                                                                                     \
  RM_FN void rm_store_##D##x##W(uint16_t *p, rm_float32x##W v) { rm_store_uint16x##W(p, rm_encode_##D##x##W(v)); }     \
  RM_FN void rm_store_part_##D##x##W(uint16_t *p, rm_float32x##W v, int64_t n) {                        \
    rm_store_part_uint16x##W(p, rm_encode_##D##x##W(v), n);                                             \
  }                                                                                                     \
  RM_FN void rm_scatter_##D##x##W(uint16_t *p, int64_t step, rm_float32x##W v, int64_t n) {             \
    rm_scatter_uint16x##W(p, step, rm_encode_##D##x##W(v), n);                                          \
  }

/* Rounding adds just less than half of what is cut off, or half where the last digit kept is odd. Arithmetic gives NaN
 * only as an operand's, cut off here before, or the machine's own: there the carry does not leave the fraction. */
#define RM_VECTOR_bfloat16(W)                                                                           \
  RM_FN rm_float32x##W rm_decode_bfloat16x##W(rm_uint16x##W code) {                                     \
    return (rm_float32x##W)(RM_TO(uint32x##W, code) << 16);                                             \
  }                                                                                                     \
  RM_FN rm_uint16x##W rm_encode_bfloat16x##W(rm_float32x##W v) {                                        \
    return RM_TO(uint16x##W, (rm_uint32x##W)v >> 16);                                                   \
  }                                                                                                     \
  RM_FN rm_float32x##W rm_narrow_bfloat16x##W(rm_float32x##W v) {                                       \
    const rm_uint32x##W bits = (rm_uint32x##W)v;                                                        \
    return (rm_float32x##W)((bits + 0x7fffU + (bits >> 16 & 1U)) & 0xffff0000U);                        \
  }                                                                                                     \
  RM_FN rm_float32x##W rm_cast_float32_bfloat16x##W(rm_float32x##W v) {                                 \
    return rm_select_float32x##W(v == v, rm_narrow_bfloat16x##W(v), rm_splat_float32x##W(NAN));         \
  }                                                                                                     \
  RM_SMALL_MEMORY(bfloat16, W)

#define RM_HALF_INSTRUCTIONS(W, to_float, to_half)                                                      \
  RM_FN rm_float32x##W rm_decode_float16x##W(rm_uint16x##W code) { return to_float; }                   \
  RM_FN rm_uint16x##W rm_encode_float16x##W(rm_float32x##W v) { return (rm_uint16x##W)to_half; }        \
  RM_FN rm_float32x##W rm_narrow_float16x##W(rm_float32x##W v) {                                        \
    return rm_decode_float16x##W(rm_encode_float16x##W(v));                                             \
  }

/* Codes below 0x400 are multiples of 2**-24: an addition that float has to align makes integers of them, or rounds to
 * them. 112 is the difference of the biases, 13 that of the lengths of the fractions. */
#define RM_HALF_PLAIN(W)                                                                                \
  RM_FN rm_float32x##W rm_decode_float16x##W(rm_uint16x##W code) {                                      \
    const rm_uint32x##W all = RM_TO(uint32x##W, code), size = all & 0x7fffU;                            \
    const rm_uint32x##W normal = (size << 13) + (112U << 23), special = normal + (112U << 23);          \
    const rm_float32x##W tiny = (rm_float32x##W)((size << 13) + (113U << 23)) - 0x1p-14f;               \
    const rm_uint32x##W finite = (rm_uint32x##W)rm_select_float32x##W(                                  \
        (rm_int32x##W)(size < 0x400U), tiny, (rm_float32x##W)normal);                                   \
    return (rm_float32x##W)((all & 0x8000U) << 16 | (rm_uint32x##W)rm_select_float32x##W(               \
        (rm_int32x##W)(size < 0x7c00U), (rm_float32x##W)finite, (rm_float32x##W)special));              \
  }                                                                                                     \
  RM_FN rm_float32x##W rm_narrow_float16x##W(rm_float32x##W v) {                                        \
    const rm_uint32x##W bits = (rm_uint32x##W)v, size = bits & 0x7fffffffU;                             \
    const rm_float32x##W normal = (rm_float32x##W)((size + 0xfffU + (size >> 13 & 1U)) & ~0x1fffU);     \
    const rm_float32x##W tiny = ((rm_float32x##W)size + 0.5f) - 0.5f;                                   \
    const rm_float32x##W finite = rm_select_float32x##W((rm_int32x##W)(size < 113U << 23), tiny, normal); \
    const rm_float32x##W number = rm_select_float32x##W(                                                \
        finite < 65536.0f, finite, (rm_float32x##W)(rm_splat_float32x##W(INFINITY)));                   \
    const rm_float32x##W all = rm_select_float32x##W(v == v, number, rm_splat_float32x##W(NAN));        \
    return (rm_float32x##W)((rm_uint32x##W)all | (bits & 0x80000000U));                                 \
  }                                                                                                     \
  RM_FN rm_uint16x##W rm_encode_float16x##W(rm_float32x##W v) {                                         \
    const rm_uint32x##W bits = (rm_uint32x##W)v, size = bits & 0x7fffffffU;                             \
    const rm_uint32x##W normal = (size >> 13) - (112U << 10), special = normal - (112U << 10);          \
    const rm_uint32x##W tiny = (rm_uint32x##W)((rm_float32x##W)size + 0.5f) - (126U << 23);             \
    const rm_float32x##W finite = rm_select_float32x##W(                                                \
        (rm_int32x##W)(size < 113U << 23), (rm_float32x##W)tiny, (rm_float32x##W)normal);               \
    const rm_float32x##W all = rm_select_float32x##W(                                                   \
        (rm_int32x##W)(size < 255U << 23), finite, (rm_float32x##W)special);                            \
    return RM_TO(uint16x##W, (rm_uint32x##W)all | (bits >> 16 & 0x8000U));                              \
  }

#define RM_HALF_2 RM_HALF_PLAIN(2)
#define RM_HALF_4 RM_HALF_PLAIN(4)
#define RM_HALF_8 RM_HALF_PLAIN(8)
#define RM_HALF_16 RM_HALF_PLAIN(16)
#if RM_AVX2 && defined __F16C__
#undef RM_HALF_8
#define RM_HALF_8 \
  RM_HALF_INSTRUCTIONS(8, __builtin_ia32_vcvtph2ps256((rm_int16x8)code), __builtin_ia32_vcvtps2ph256(v, 0))
#endif
#if RM_AVX512
#undef RM_HALF_16
#define RM_HALF_16                                                                                      \
  RM_HALF_INSTRUCTIONS(16, __builtin_ia32_vcvtph2ps512_mask((rm_int16x16)code, (rm_float32x16){0}, -1, 4),   \
                       __builtin_ia32_vcvtps2ph512_mask(v, 0, (rm_int16x16){0}, 65535))
#endif
#define RM_VECTOR_float16(W)                                                                            \
  RM_HALF_##W                                                                                           \
  RM_FN rm_float32x##W rm_cast_float32_float16x##W(rm_float32x##W v) { return rm_narrow_float16x##W(v); } \
  RM_SMALL_MEMORY(float16, W)

/* ---------------------------------------------------------------------------------------------------------- transposes
 *
 * First within the 16 bytes of a lane group, by pairs of rows, then whole groups. E: elements of 4 or 8 bytes. */
#define RM_LOW_4x4(a, b) RM_MIX(a, b, 0, 4, 1, 5)
#define RM_HIGH_4x4(a, b) RM_MIX(a, b, 2, 6, 3, 7)
#define RM_LOW2_4x4(a, b) RM_MIX(a, b, 0, 1, 4, 5)
#define RM_HIGH2_4x4(a, b) RM_MIX(a, b, 2, 3, 6, 7)
#define RM_LOW_4x8(a, b) RM_MIX(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define RM_HIGH_4x8(a, b) RM_MIX(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define RM_LOW2_4x8(a, b) RM_MIX(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define RM_HIGH2_4x8(a, b) RM_MIX(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define RM_LOW_4x16(a, b) RM_MIX(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define RM_HIGH_4x16(a, b) RM_MIX(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define RM_LOW2_4x16(a, b) RM_MIX(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define RM_HIGH2_4x16(a, b) RM_MIX(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
#define RM_FRONT_4x8(a, b) RM_MIX(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define RM_BACK_4x8(a, b) RM_MIX(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
#define RM_EVEN_4x16(a, b) RM_MIX(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27)
#define RM_ODD_4x16(a, b) RM_MIX(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31)
#define RM_LOW_8x2(a, b) RM_MIX(a, b, 0, 2)
#define RM_HIGH_8x2(a, b) RM_MIX(a, b, 1, 3)
#define RM_LOW_8x4(a, b) RM_MIX(a, b, 0, 4, 2, 6)
#define RM_HIGH_8x4(a, b) RM_MIX(a, b, 1, 5, 3, 7)
#define RM_FRONT_8x4(a, b) RM_MIX(a, b, 0, 1, 4, 5)
#define RM_BACK_8x4(a, b) RM_MIX(a, b, 2, 3, 6, 7)
#define RM_LOW_8x8(a, b) RM_MIX(a, b, 0, 8, 2, 10, 4, 12, 6, 14)
#define RM_HIGH_8x8(a, b) RM_MIX(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#define RM_EVEN_8x8(a, b) RM_MIX(a, b, 0, 1, 4, 5, 8, 9, 12, 13)
#define RM_ODD_8x8(a, b) RM_MIX(a, b, 2, 3, 6, 7, 10, 11, 14, 15)

/* Four rows to four columns within each group (of two rows: two). Then groups of 2 (x8) or 4 (x16) registers. */
#define RM_QUAD(W, i)                                                                                   \
  {                                                                                                     \
    const V a = RM_LOW_4x##W(r[i], r[i + 1]), b = RM_HIGH_4x##W(r[i], r[i + 1]);                        \
    const V c = RM_LOW_4x##W(r[i + 2], r[i + 3]), d = RM_HIGH_4x##W(r[i + 2], r[i + 3]);                \
    r[i] = RM_LOW2_4x##W(a, c), r[i + 1] = RM_HIGH2_4x##W(a, c);                                        \
    r[i + 2] = RM_LOW2_4x##W(b, d), r[i + 3] = RM_HIGH2_4x##W(b, d);                                    \
  }
#define RM_DUO(W, i)                                                                                    \
  {                                                                                                     \
    const V a = r[i], b = r[i + 1];                                                                     \
    r[i] = RM_LOW_8x##W(a, b), r[i + 1] = RM_HIGH_8x##W(a, b);                                          \
  }
#define RM_GROUPS_2(E, W, i, step)                                                                      \
  {                                                                                                     \
    const V a = r[i], b = r[i + step];                                                                  \
    r[i] = RM_FRONT_##E##x##W(a, b), r[i + step] = RM_BACK_##E##x##W(a, b);                             \
  }
#define RM_GROUPS_4(E, W, i, step)                                                                      \
  {                                                                                                     \
    const V a = RM_EVEN_##E##x##W(r[i], r[i + step]), b = RM_ODD_##E##x##W(r[i], r[i + step]);          \
    const V c = RM_EVEN_##E##x##W(r[i + 2 * step], r[i + 3 * step]);                                    \
    const V d = RM_ODD_##E##x##W(r[i + 2 * step], r[i + 3 * step]);                                     \
    r[i] = RM_EVEN_##E##x##W(a, c), r[i + 2 * step] = RM_ODD_##E##x##W(a, c);                           \
    r[i + step] = RM_EVEN_##E##x##W(b, d), r[i + 3 * step] = RM_ODD_##E##x##W(b, d);                    \
  }
#define RM_TRANSPOSE_4x4 RM_QUAD(4, 0)
#define RM_TRANSPOSE_4x8                                                                                \
  RM_QUAD(8, 0) RM_QUAD(8, 4)                                                                           \
  RM_GROUPS_2(4, 8, 0, 4) RM_GROUPS_2(4, 8, 1, 4) RM_GROUPS_2(4, 8, 2, 4) RM_GROUPS_2(4, 8, 3, 4)
#define RM_TRANSPOSE_4x16                                                                               \
  RM_QUAD(16, 0) RM_QUAD(16, 4) RM_QUAD(16, 8) RM_QUAD(16, 12)                                          \
  RM_GROUPS_4(4, 16, 0, 4) RM_GROUPS_4(4, 16, 1, 4) RM_GROUPS_4(4, 16, 2, 4) RM_GROUPS_4(4, 16, 3, 4)
#define RM_TRANSPOSE_8x2 RM_DUO(2, 0)
#define RM_TRANSPOSE_8x4 RM_DUO(4, 0) RM_DUO(4, 2) RM_GROUPS_2(8, 4, 0, 2) RM_GROUPS_2(8, 4, 1, 2)
#define RM_TRANSPOSE_8x8                                                                                \
  RM_DUO(8, 0) RM_DUO(8, 2) RM_DUO(8, 4) RM_DUO(8, 6) RM_GROUPS_4(8, 8, 0, 2) RM_GROUPS_4(8, 8, 1, 2)

#define RM_TRANSPOSE(D, E, W)                                                                           \
  RM_FN void rm_transpose_##D##x##W(rm_##D##x##W *r) {                                                  \
    typedef rm_##D##x##W V;                                                                             \
    RM_TRANSPOSE_##E##x##W                                                                              \
  }

/* ----------------------------------------------------------------------------------------------------------------- exp
 *
 * As rm_exponential.h has it, for lanes: k = x / log 2 to the nearest integer, taken off in two parts, a polynomial of
 * the rest, 2**k into the exponent; in double, rounded once: the correctly rounded float32 of all 2**32 arguments,
 * with fused products or without (compared with rm_exp_float32: tests, profile soak). The polynomial is taken apart
 * into even and odd powers, and both halves of a vector go side by side: a step needs not wait for the one before. */
#define RM_FUSED_PLAIN(a, b, c) ((a) * (b) + (c))
#define RM_FUSED_2 RM_FUSED_PLAIN
#define RM_FUSED_4 RM_FUSED_PLAIN
#if RM_AVX512
#define RM_FUSED_8(a, b, c) __builtin_ia32_vfmaddpd512_mask(a, b, c, 255, 4)
#else
#define RM_FUSED_8 RM_FUSED_PLAIN
#endif
#define RM_ALL_OF(H, x) rm_splat_float64x##H(x)

/* From x##i, a vector of H doubles that are float32, to power##i. */
#define RM_EXP_REST(H, i)                                                                               \
  x##i = rm_min_float64x##H(RM_ALL_OF(H, 89.5), rm_max_float64x##H(RM_ALL_OF(H, -104.5), x##i));        \
  const rm_float64x##H turns##i = RM_FUSED_##H(x##i, RM_ALL_OF(H, 0x1.71547652b82fep+0), RM_ALL_OF(H, 0x1.8p52)); \
  const rm_float64x##H k##i = turns##i - 0x1.8p52;                                                      \
  rm_float64x##H r##i = RM_FUSED_##H(k##i, RM_ALL_OF(H, -0x1.62e42fefa0000p-1), x##i);                  \
  r##i = RM_FUSED_##H(k##i, RM_ALL_OF(H, -0x1.cf79abc9e3b3ap-40), r##i);                                \
  const rm_float64x##H z##i = r##i * r##i;                                                              \
  rm_float64x##H even##i = RM_ALL_OF(H, 0x1.289f8b3527131p-22), odd##i = RM_ALL_OF(H, 0x1.ad201aa658dcap-26);
#define RM_EXP_EVEN_3 0x1.a019ab2cdd07ap-16
#define RM_EXP_ODD_3 0x1.71df553fccf00p-19
#define RM_EXP_EVEN_2 0x1.6c16c17cc34bbp-10
#define RM_EXP_ODD_2 0x1.a01a011c23833p-13
#define RM_EXP_EVEN_1 0x1.5555555553206p-5
#define RM_EXP_ODD_1 0x1.1111111128879p-7
#define RM_EXP_EVEN_0 0.5
#define RM_EXP_ODD_0 0x1.5555555555501p-3
#define RM_EXP_TERM(H, i, n)                                                                            \
  even##i = RM_FUSED_##H(even##i, z##i, RM_ALL_OF(H, RM_EXP_EVEN_##n));                                 \
  odd##i = RM_FUSED_##H(odd##i, z##i, RM_ALL_OF(H, RM_EXP_ODD_##n));
#define RM_EXP_POWER(H, i)                                                                              \
  const rm_float64x##H p##i = RM_FUSED_##H(odd##i, r##i, even##i);                                      \
  const rm_float64x##H near##i = 1.0 + RM_FUSED_##H(z##i, p##i, r##i);                                  \
  const rm_float64x##H power##i = (rm_float64x##H)((rm_int64x##H)near##i + ((rm_int64x##H)turns##i << 52));
#define RM_EXP_1(H)                                                                                     \
  RM_EXP_REST(H, 0) RM_EXP_TERM(H, 0, 3) RM_EXP_TERM(H, 0, 2) RM_EXP_TERM(H, 0, 1) RM_EXP_TERM(H, 0, 0) \
  RM_EXP_POWER(H, 0)
#define RM_EXP_2(H)                                                                                     \
  RM_EXP_REST(H, 0) RM_EXP_REST(H, 1) RM_EXP_TERM(H, 0, 3) RM_EXP_TERM(H, 1, 3)                         \
  RM_EXP_TERM(H, 0, 2) RM_EXP_TERM(H, 1, 2) RM_EXP_TERM(H, 0, 1) RM_EXP_TERM(H, 1, 1)                   \
  RM_EXP_TERM(H, 0, 0) RM_EXP_TERM(H, 1, 0) RM_EXP_POWER(H, 0) RM_EXP_POWER(H, 1)

#define RM_EXP_WHOLE(W)                                                                                 \
  RM_FN rm_float32x##W rm_exp_float32x##W(rm_float32x##W x) {                                           \
    rm_float64x##W x0 = RM_TO(float64x##W, x);                                                          \
    RM_EXP_1(W)                                                                         \
    return RM_TO(float32x##W, power0);                                                                  \
  }
#define RM_LANE_BACK_2(l) l + 2
#define RM_LANE_BACK_4(l) l + 4
#define RM_LANE_BACK_8(l) l + 8
#define RM_EXP_HALVES(W, H)                                                                             \
  RM_FN rm_float32x##W rm_exp_float32x##W(rm_float32x##W x) {                                           \
    rm_float64x##H x0 = RM_TO(float64x##H, RM_MIX(x, x, RM_LANES_##H(RM_LANE_NUMBER)));                 \
    rm_float64x##H x1 = RM_TO(float64x##H, RM_MIX(x, x, RM_LANES_##H(RM_LANE_BACK_##H)));               \
    RM_EXP_2(H)                                                                        \
    return RM_MIX(RM_TO(float32x##H, power0), RM_TO(float32x##H, power1), RM_LANES_##W(RM_LANE_NUMBER)); \
  }

#endif
