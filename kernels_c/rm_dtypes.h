/* Dtypes: loads and stores, codes, wrapping and rounding. Formats: refmlc/lang/dtypes/formats.py.
 *
 *   rm_get_D(cells, i), rm_put_D(cells, i, v)   an element as a value
 *   rm_encode_D(v), rm_decode_D(code)           a value and its code; a NaN has the code of NUM-006
 *   rm_wrap_D(word)                             of integers: modulo 2**bits (NUM-101, NUM-701)
 *   rm_rounded_D(double)                        of floats: to nearest, ties to even, once (NUM-001 to NUM-005)
 *   rm_narrow_D(rm_D_work)                      the same, from the type that D is computed in */
#ifndef RM_DTYPES_H
#define RM_DTYPES_H

#include "rm_types.h"

/* The bits of a float, and back. */
RM_FN uint32_t rm_bits_of_float(float x) {
  const union { float value; uint32_t bits; } both = {.value = x};
  return both.bits;
}
RM_FN float rm_float_of_bits(uint32_t bits) {
  const union { uint32_t bits; float value; } both = {.bits = bits};
  return both.value;
}
RM_FN uint64_t rm_bits_of_double(double x) {
  const union { double value; uint64_t bits; } both = {.value = x};
  return both.bits;
}
RM_FN double rm_double_of_bits(uint64_t bits) {
  const union { uint64_t bits; double value; } both = {.bits = bits};
  return both.value;
}

/* --------------------------------------------------------------------------------------------------- bool, integers */

RM_FN bool rm_get_bool(const rm_bool_cell *cells, int64_t i) { return cells[i] != 0; }
RM_FN void rm_put_bool(rm_bool_cell *cells, int64_t i, rm_bool v) { cells[i] = (rm_bool_cell)v; }
RM_FN uint8_t rm_encode_bool(rm_bool v) { return (uint8_t)v; }
RM_FN rm_bool rm_decode_bool(uint8_t code) { return code != 0; }

/* rm_D_word: the unsigned type that integers of D are computed in, modulo 2**bits; rm_D_code holds a code of D.
 * RM_LEAST_D is the least number of a signed D. */
#define RM_INT_TYPES(D, bits, word, code)  \
  enum { RM_BITS_##D = bits };             \
  typedef word rm_##D##_word;              \
  typedef code rm_##D##_code;
RM_INT_TYPES(int1, 1, uint32_t, uint8_t)
RM_INT_TYPES(int2, 2, uint32_t, uint8_t)
RM_INT_TYPES(int4, 4, uint32_t, uint8_t)
RM_INT_TYPES(int8, 8, uint32_t, uint8_t)
RM_INT_TYPES(int16, 16, uint32_t, uint16_t)
RM_INT_TYPES(int32, 32, uint32_t, uint32_t)
RM_INT_TYPES(int64, 64, uint64_t, uint64_t)
RM_INT_TYPES(uint1, 1, uint32_t, uint8_t)
RM_INT_TYPES(uint2, 2, uint32_t, uint8_t)
RM_INT_TYPES(uint4, 4, uint32_t, uint8_t)
RM_INT_TYPES(uint8, 8, uint32_t, uint8_t)
RM_INT_TYPES(uint16, 16, uint32_t, uint16_t)
RM_INT_TYPES(uint32, 32, uint32_t, uint32_t)
RM_INT_TYPES(uint64, 64, uint64_t, uint64_t)

#define RM_LEAST_int1 (-1)
#define RM_LEAST_int2 (-2)
#define RM_LEAST_int4 (-8)
#define RM_LEAST_int8 INT8_MIN
#define RM_LEAST_int16 INT16_MIN
#define RM_LEAST_int32 INT32_MIN
#define RM_LEAST_int64 INT64_MIN

/* Codes of less than a byte: the sign of signed ones is bit `bits - 1`. */
#define RM_DEFINE_WRAP_SIGNED_PART(D)                                                     \
  RM_FN rm_##D rm_wrap_##D(rm_##D##_word x) {                                             \
    const uint32_t half = 1U << (RM_BITS_##D - 1);                                        \
    return (rm_##D)((int32_t)((x & (2 * half - 1)) ^ half) - (int32_t)half);              \
  }
#define RM_DEFINE_WRAP_UNSIGNED_PART(D) \
  RM_FN rm_##D rm_wrap_##D(rm_##D##_word x) { return (rm_##D)(x & ((1U << RM_BITS_##D) - 1)); }
#define RM_DEFINE_WRAP_WHOLE(D) \
  RM_FN rm_##D rm_wrap_##D(rm_##D##_word x) { return (rm_##D)x; }
RM_IF_USED(int1, RM_DEFINE_WRAP_SIGNED_PART(int1))
RM_IF_USED(int2, RM_DEFINE_WRAP_SIGNED_PART(int2))
RM_IF_USED(int4, RM_DEFINE_WRAP_SIGNED_PART(int4))
RM_IF_USED(int8, RM_DEFINE_WRAP_WHOLE(int8))
RM_IF_USED(int16, RM_DEFINE_WRAP_WHOLE(int16))
RM_IF_USED(int32, RM_DEFINE_WRAP_WHOLE(int32))
RM_IF_USED(int64, RM_DEFINE_WRAP_WHOLE(int64))
RM_IF_USED(uint1, RM_DEFINE_WRAP_UNSIGNED_PART(uint1))
RM_IF_USED(uint2, RM_DEFINE_WRAP_UNSIGNED_PART(uint2))
RM_IF_USED(uint4, RM_DEFINE_WRAP_UNSIGNED_PART(uint4))
RM_IF_USED(uint8, RM_DEFINE_WRAP_WHOLE(uint8))
RM_IF_USED(uint16, RM_DEFINE_WRAP_WHOLE(uint16))
RM_IF_USED(uint32, RM_DEFINE_WRAP_WHOLE(uint32))
RM_IF_USED(uint64, RM_DEFINE_WRAP_WHOLE(uint64))

/* The code of an integer is what wraps to it, without what lies above its width; -1 of int1 is stored as int8's. */
#define RM_DEFINE_INT_CELLS(D)                                                                                      \
  RM_FN rm_##D##_code rm_encode_##D(rm_##D v) {                                                                     \
    return (rm_##D##_code)((rm_##D##_word)v & ((rm_##D##_word)-1 >> (8 * sizeof(rm_##D##_word) - RM_BITS_##D)));    \
  }                                                                                                                 \
  RM_FN rm_##D rm_decode_##D(rm_##D##_code code) { return rm_wrap_##D(code); }                                      \
  RM_FN rm_##D rm_get_##D(const rm_##D##_cell *cells, int64_t i) { return rm_wrap_##D((rm_##D##_word)cells[i]); }   \
  RM_FN void rm_put_##D(rm_##D##_cell *cells, int64_t i, rm_##D v) {                                                \
    cells[i] = (rm_##D##_cell)(RM_BITS_##D == 1 ? (rm_##D##_word)v : (rm_##D##_word)rm_encode_##D(v));              \
  }
RM_EACH_INT(RM_DEFINE_INT_CELLS)

/* ----------------------------------------------------------------------------------------------------------- rounding
 *
 * With `spacing` the distance of neighbours of the format at x, and magic = 1.5 * 2**m * spacing where T has m bits of
 * fraction, (x + magic) - magic is x rounded to a multiple of the spacing by T's own addition, exactly once. The
 * spacing follows from x's exponent, held between those of the least normal value and of the maximum: a larger x
 * stays larger than the maximum. What then is beyond it becomes what the format says (RM_FIT_…). */
#define RM_MANTISSA_double 52
#define RM_MANTISSA_float 23
#define RM_WORD_double uint64_t
#define RM_WORD_float uint32_t
#define RM_SIZE_double fabs
#define RM_SIZE_float fabsf
#define RM_SIGNED_AS_double copysign
#define RM_SIGNED_AS_float copysignf

#define RM_DEFINE_ROUND(NAME, T, FRACTION, LEAST, MAXIMUM, FIT)                                                       \
  RM_FN T NAME(T x) {                                                                                                 \
    const T size = RM_SIZE_##T(x) > (T)(LEAST) ? RM_SIZE_##T(x) : (T)(LEAST);                                         \
    const T held = size < (T)(MAXIMUM) ? size : (T)(MAXIMUM);                                                         \
    const RM_WORD_##T exponent = rm_bits_of_##T(held) >> RM_MANTISSA_##T << RM_MANTISSA_##T;                          \
    const RM_WORD_##T grow = (RM_WORD_##T)(2 * (RM_MANTISSA_##T - FRACTION) + 1) << (RM_MANTISSA_##T - 1);            \
    const T magic = rm_##T##_of_bits(exponent + grow);                                                                \
    const T nearest = (x + magic) - magic;                                                                            \
    return FIT(T, x, nearest, (T)(LEAST), (T)(MAXIMUM));                                                              \
  }
#define RM_FIT_IEEE(T, x, nearest, least, maximum) \
  RM_SIGNED_AS_##T(RM_SIZE_##T(nearest) > maximum ? (T)INFINITY : nearest, x)
#define RM_FIT_FN(T, x, nearest, least, maximum) \
  RM_SIGNED_AS_##T(RM_SIZE_##T(nearest) > maximum ? (T)NAN : nearest, x)
#define RM_FIT_FNUZ(T, x, nearest, least, maximum) (RM_SIZE_##T(nearest) > maximum ? (T)NAN : nearest)
#define RM_FIT_FINITE(T, x, nearest, least, maximum) \
  RM_SIGNED_AS_##T(RM_SIZE_##T(nearest) > maximum ? maximum : nearest, x)
#define RM_FIT_E8M0(T, x, nearest, least, maximum) \
  (x > 0 && nearest <= maximum ? (nearest > least ? nearest : least) : (T)NAN)

/* D is computed in float and rounded from there (24 >= 2p + 2, and float's range is wide enough), or from double. */
#define RM_DEFINE_ROUNDS(D, FRACTION, LEAST, MAXIMUM, FIT)                              \
  typedef float rm_##D##_work;                                                          \
  RM_DEFINE_ROUND(rm_narrow_##D, float, FRACTION, LEAST, MAXIMUM, FIT)                  \
  RM_DEFINE_ROUND(rm_nearest_##D, double, FRACTION, LEAST, MAXIMUM, FIT)                \
  RM_FN float rm_rounded_##D(double x) { return (float)rm_nearest_##D(x); }

/* -------------------------------------------------------------------------------------------------------- small floats
 *
 * A code is a sign, a biased exponent, and a fraction. Normal values take float's exponent and fraction, moved; the
 * others are multiples of the least value, which an addition that float has to align turns into integers. */
#define RM_DEFINE_CODES(D, CODE, BITS, FRACTION, BIAS, INFINITE, NAN_CODE, IS_SPECIAL, SPECIAL)                       \
  typedef CODE rm_##D##_code;                                                                                         \
  RM_FN CODE rm_encode_##D(float x) {                                                                                 \
    const uint32_t sign = rm_bits_of_float(x) >> 31 << (BITS - 1);                                                    \
    const float size = fabsf(x), base = rm_float_of_bits((151U - BIAS - FRACTION) << 23);                             \
    const uint32_t moved = (rm_bits_of_float(size) >> (23 - FRACTION)) - ((127U - BIAS) << FRACTION);                 \
    const uint32_t normal = moved < (uint32_t)(INFINITE) ? moved : (uint32_t)(INFINITE);                              \
    const uint32_t tiny = rm_bits_of_float(size + base) - rm_bits_of_float(base);                                     \
    const uint32_t code = (size < rm_float_of_bits((128U - BIAS) << 23) ? tiny : normal) | sign;                      \
    return (CODE)(x != x ? (uint32_t)(NAN_CODE) : code);                                                              \
  }                                                                                                                   \
  RM_FN float rm_decode_##D(CODE cell) {                                                                              \
    const uint32_t code = cell & ((1U << BITS) - 1), sign = code >> (BITS - 1) << 31;                                 \
    const int32_t size = (int32_t)(code & ((1U << (BITS - 1)) - 1));                                                  \
    const uint32_t moved = (uint32_t)size << (23 - FRACTION), least = (128U - BIAS) << 23;                            \
    const uint32_t normal = moved + ((127U - BIAS) << 23);                                                            \
    const uint32_t tiny = rm_bits_of_float(rm_float_of_bits(moved + least) - rm_float_of_bits(least));                \
    const uint32_t finite = size < (1 << FRACTION) ? tiny : normal;                                                   \
    return rm_float_of_bits(((IS_SPECIAL) ? (SPECIAL) : finite) | sign);                                              \
  }

#define RM_DEFINE_FLOAT_CELLS(D)                                                                                      \
  RM_FN float rm_get_##D(const rm_##D##_cell *cells, int64_t i) { return rm_decode_##D(cells[i]); }                   \
  RM_FN void rm_put_##D(rm_##D##_cell *cells, int64_t i, rm_##D v) { cells[i] = rm_encode_##D(v); }

/* The top codes: of IEEE formats infinity, then NaN; the NaN of the others. */
#define RM_NONE 256 /* no code */
#define RM_NAN_BITS 0x7fc00000U
#define RM_INFINITY_CODE(BITS, FRACTION) ((1 << (BITS - 1)) - (1 << FRACTION))
#define RM_CODES_IEEE(D, CODE, BITS, FRACTION, BIAS, LEAST, MAXIMUM)                                                  \
  RM_DEFINE_ROUNDS(D, FRACTION, LEAST, MAXIMUM, RM_FIT_IEEE)                                                          \
  RM_DEFINE_CODES(D, CODE, BITS, FRACTION, BIAS, RM_INFINITY_CODE(BITS, FRACTION),                                    \
                  RM_INFINITY_CODE(BITS, FRACTION) + (1 << (FRACTION - 1)),                                           \
                  size >= RM_INFINITY_CODE(BITS, FRACTION), moved | 0x7f800000U)                                      \
  RM_DEFINE_FLOAT_CELLS(D)
#define RM_CODES_FN(D, BITS, FRACTION, BIAS, LEAST, MAXIMUM)                                                          \
  RM_DEFINE_ROUNDS(D, FRACTION, LEAST, MAXIMUM, RM_FIT_FN)                                                            \
  RM_DEFINE_CODES(D, uint8_t, BITS, FRACTION, BIAS, RM_NONE, (1 << (BITS - 1)) - 1,                                   \
                  size == (1 << (BITS - 1)) - 1, RM_NAN_BITS)                                                         \
  RM_DEFINE_FLOAT_CELLS(D)
#define RM_CODES_FNUZ(D, BITS, FRACTION, BIAS, LEAST, MAXIMUM)                                                        \
  RM_DEFINE_ROUNDS(D, FRACTION, LEAST, MAXIMUM, RM_FIT_FNUZ)                                                          \
  RM_DEFINE_CODES(D, uint8_t, BITS, FRACTION, BIAS, RM_NONE, 1 << (BITS - 1), code == 1U << (BITS - 1), RM_NAN_BITS)  \
  RM_DEFINE_FLOAT_CELLS(D)
#define RM_CODES_FINITE(D, BITS, FRACTION, BIAS, LEAST, MAXIMUM)                                                      \
  RM_DEFINE_ROUNDS(D, FRACTION, LEAST, MAXIMUM, RM_FIT_FINITE)                                                        \
  RM_DEFINE_CODES(D, uint8_t, BITS, FRACTION, BIAS, RM_NONE, 0, false, RM_NAN_BITS)                                   \
  RM_DEFINE_FLOAT_CELLS(D)

RM_IF_USED(float8_e3m4, RM_CODES_IEEE(float8_e3m4, uint8_t, 8, 4, 3, 0x1p-2, 15.5))
RM_IF_USED(float8_e4m3, RM_CODES_IEEE(float8_e4m3, uint8_t, 8, 3, 7, 0x1p-6, 240))
RM_IF_USED(float8_e5m2, RM_CODES_IEEE(float8_e5m2, uint8_t, 8, 2, 15, 0x1p-14, 57344))
RM_IF_USED(float8_e4m3fn, RM_CODES_FN(float8_e4m3fn, 8, 3, 7, 0x1p-6, 448))
RM_IF_USED(float8_e4m3b11fnuz, RM_CODES_FNUZ(float8_e4m3b11fnuz, 8, 3, 11, 0x1p-10, 30))
RM_IF_USED(float8_e4m3fnuz, RM_CODES_FNUZ(float8_e4m3fnuz, 8, 3, 8, 0x1p-7, 240))
RM_IF_USED(float8_e5m2fnuz, RM_CODES_FNUZ(float8_e5m2fnuz, 8, 2, 16, 0x1p-15, 57344))
RM_IF_USED(float6_e2m3fn, RM_CODES_FINITE(float6_e2m3fn, 6, 3, 1, 0x1p0, 7.5))
RM_IF_USED(float6_e3m2fn, RM_CODES_FINITE(float6_e3m2fn, 6, 2, 3, 0x1p-2, 28))
RM_IF_USED(float4_e2m1fn, RM_CODES_FINITE(float4_e2m1fn, 4, 1, 1, 0x1p0, 6))

/* float16, where there are instructions for it; RM_PLAIN: as the others. (_Float16 is no way: gcc 12 then also compares
 * in it, by calls.) The NaN that is written is positive and quiet. */
#if defined __F16C__ && !defined RM_PLAIN
typedef float rm_four_floats __attribute__((vector_size(16)));
typedef short rm_eight_codes __attribute__((vector_size(16)));
#define RM_TO_CODES(x) __builtin_ia32_vcvtps2ph((rm_four_floats){x, 0, 0, 0}, 0)
#define RM_CODES_FLOAT16(D)                                                                               \
  typedef uint16_t rm_##D##_code;                                                                         \
  typedef float rm_##D##_work;                                                                            \
  RM_FN float rm_narrow_##D(float x) { return __builtin_ia32_vcvtph2ps(RM_TO_CODES(x))[0]; }              \
  RM_DEFINE_ROUND(rm_nearest_##D, double, 10, 0x1p-14, 65504, RM_FIT_IEEE)                                \
  RM_FN float rm_rounded_##D(double x) { return (float)rm_nearest_##D(x); }                               \
  RM_FN uint16_t rm_encode_##D(float x) { return (uint16_t)RM_TO_CODES(x != x ? NAN : x)[0]; }            \
  RM_FN float rm_decode_##D(uint16_t code) {                                                              \
    return __builtin_ia32_vcvtph2ps((rm_eight_codes){(short)code, 0, 0, 0, 0, 0, 0, 0})[0];               \
  }                                                                                                       \
  RM_DEFINE_FLOAT_CELLS(D)
#else
#define RM_CODES_FLOAT16(D) RM_CODES_IEEE(D, uint16_t, 16, 10, 15, 0x1p-14, 65504)
#endif
RM_IF_USED(float16, RM_CODES_FLOAT16(float16))

/* Powers of two: the code is float's exponent. Their products leave float's range: computed in double. */
#define RM_CODES_E8M0(D)                                                                                  \
  typedef uint8_t rm_##D##_code;                                                                          \
  typedef double rm_##D##_work;                                                                           \
  RM_DEFINE_ROUND(rm_nearest_##D, double, 0, 0x1p-127, 0x1p127, RM_FIT_E8M0)                              \
  RM_FN float rm_narrow_##D(double x) { return (float)rm_nearest_##D(x); }                                \
  RM_FN float rm_rounded_##D(double x) { return (float)rm_nearest_##D(x); }                                 \
  RM_FN uint8_t rm_encode_##D(float x) { return (uint8_t)(x != x ? 255U : rm_bits_of_float(x) >> 23); }   \
  RM_FN float rm_decode_##D(uint8_t code) {                                                               \
    return code == 255 ? NAN : rm_float_of_bits(code != 0 ? (uint32_t)code << 23 : 1U << 22);             \
  }                                                                                                       \
  RM_DEFINE_FLOAT_CELLS(D)
RM_IF_USED(float8_e8m0fnu, RM_CODES_E8M0(float8_e8m0fnu))

/* ---------------------------------------------------------------------------------------------- bfloat16 and native */

/* The upper half of a float. Rounding adds just less than half of what is cut off, or half where the last digit kept
 * is odd; the carry runs into the exponent and, beyond the maximum, to infinity. */
#define RM_CODES_BFLOAT16(D)                                                                              \
  typedef uint16_t rm_##D##_code;                                                                         \
  typedef float rm_##D##_work;                                                                            \
  RM_FN float rm_narrow_##D(float x) {                                                                    \
    const uint32_t bits = rm_bits_of_float(x);                                                            \
    const float nearest = rm_float_of_bits((bits + 0x7fffU + (bits >> 16 & 1U)) & 0xffff0000U);           \
    return x != x ? x : nearest;                                                                          \
  }                                                                                                       \
  RM_DEFINE_ROUND(rm_nearest_##D, double, 7, 0x1p-126, 0x1.fep127, RM_FIT_IEEE)                           \
  RM_FN float rm_rounded_##D(double x) { return (float)rm_nearest_##D(x); }                                 \
  RM_FN uint16_t rm_encode_##D(float x) {                                                                 \
    return (uint16_t)(x != x ? 0x7fc0U : rm_bits_of_float(x) >> 16);                                      \
  }                                                                                                       \
  RM_FN float rm_decode_##D(uint16_t code) { return rm_float_of_bits((uint32_t)code << 16); }             \
  RM_DEFINE_FLOAT_CELLS(D)
RM_IF_USED(bfloat16, RM_CODES_BFLOAT16(bfloat16))

#define RM_CODES_NATIVE(D, T, CODE, NAN_CODE)                                                             \
  typedef CODE rm_##D##_code;                                                                             \
  typedef T rm_##D##_work;                                                                                \
  RM_FN T rm_narrow_##D(T x) { return x; }                                                                \
  RM_FN T rm_rounded_##D(double x) { return (T)x; }                                                         \
  RM_FN CODE rm_encode_##D(T x) { return x != x ? NAN_CODE : rm_bits_of_##T(x); }                         \
  RM_FN T rm_decode_##D(CODE code) { return rm_##T##_of_bits(code); }                                     \
  RM_FN T rm_get_##D(const T *cells, int64_t i) { return cells[i]; }                                      \
  RM_FN void rm_put_##D(T *cells, int64_t i, T v) { cells[i] = v; }
RM_IF_USED(float32, RM_CODES_NATIVE(float32, float, uint32_t, 0x7fc00000U))
RM_IF_USED(float64, RM_CODES_NATIVE(float64, double, uint64_t, UINT64_C(0x7ff8000000000000)))

#endif
