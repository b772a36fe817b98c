/* Functions of two floats: fmod (NUM-504), copysign nextafter ldexp (NUM-505). */
#ifndef RM_FLOATING_H
#define RM_FLOATING_H

#include "rm_division.h"

#define RM_FMOD(D) RM_FN rm_##D rm_fmod_##D(rm_##D a, rm_##D b) { return rm_truncmod_##D(a, b); }
RM_EACH_FLOAT(RM_FMOD)
#define RM_FMOD_FINITE(D) \
  RM_FN bool rm_fmod_##D##_undefined(rm_##D a, rm_##D b) { return rm_truncmod_##D##_undefined(a, b); }
RM_EACH_FINITE_FLOAT(RM_FMOD_FINITE)

/* A NaN as b counts as positive. The result is rounded: formats may have no -0, or no sign. */
RM_IF_USED(float64,
RM_FN double rm_copysign_float64(double a, double b) { return b != b ? fabs(a) : copysign(a, b); })
#define RM_COPYSIGN(D) \
  RM_FN float rm_copysign_##D(float a, float b) { return rm_narrow_##D(b != b ? fabsf(a) : copysignf(a, b)); }
RM_IF_USED(float32, RM_COPYSIGN(float32))
RM_IF_USED(float16, RM_COPYSIGN(float16))
RM_IF_USED(bfloat16, RM_COPYSIGN(bfloat16))
RM_EACH_SMALL_FLOAT(RM_COPYSIGN)

/* Codes of one sign grow with the size, infinity being next to the maximum: the neighbour's code is one more or less.
 * From a zero the way leads to the least value, which is the code 1, on b's side. The least value's inner neighbour is
 * a zero of its sign, whose code is the NaN's where there is no -0 and 0 must be meant. */
#define RM_NEXTAFTER(D, T, WORD, MINUS_ZERO)                                                                          \
  RM_FN T rm_nextafter_##D(T a, T b) {                                                                                \
    const WORD code = (WORD)(rm_encode_##D(a));                                                                       \
    const bool outward = (b < 0) == (a < 0) && (a < 0 ? b < a : b > a);                                               \
    const WORD next = (WORD)(outward ? code + 1U : code - 1U);                                                        \
    const T least = rm_decode_##D(1);                                                                                 \
    if (a != a || b != b) return (T)NAN;                                                                              \
    if (a == b) return b;                                                                                             \
    if (a == 0) return b < 0 ? -least : least;                                                                        \
    return !MINUS_ZERO && a == -least && b > a ? 0 : rm_decode_##D((rm_##D##_code)next);                              \
  }
#define RM_NEXTAFTER_SIGNED(D) RM_NEXTAFTER(D, float, uint32_t, true)
#define RM_NEXTAFTER_FNUZ(D) RM_NEXTAFTER(D, float, uint32_t, false)
RM_IF_USED(float64, RM_NEXTAFTER(float64, double, uint64_t, true))
RM_IF_USED(float32, RM_NEXTAFTER_SIGNED(float32))
RM_IF_USED(float16, RM_NEXTAFTER_SIGNED(float16))
RM_IF_USED(bfloat16, RM_NEXTAFTER_SIGNED(bfloat16))
RM_EACH_SIGNED_FLOAT8(RM_NEXTAFTER_SIGNED)
RM_EACH_FNUZ_FLOAT(RM_NEXTAFTER_FNUZ)
RM_EACH_FINITE_FLOAT(RM_NEXTAFTER_SIGNED)

/* The exponent is held where every product is 0 or infinite already. In double the product is exact, or less than half
 * of the least value of every narrower format, but not 0: float8_e8m0fnu tells that from a small number. */
RM_FN double rm_scaled(double a, int64_t b) { return ldexp(a, (int)(b < -5000 ? -5000 : b > 5000 ? 5000 : b)); }
#define RM_LEAST_EXPONENT(D) (sizeof(rm_##D) < 8 ? -900 : -5000)
#define RM_LDEXP(D)                                                                                     \
  RM_FN rm_##D rm_ldexp_##D(rm_##D a, int64_t b) {                                                      \
    return rm_rounded_##D(rm_scaled((double)a, b < RM_LEAST_EXPONENT(D) ? RM_LEAST_EXPONENT(D) : b));   \
  }
RM_EACH_FLOAT(RM_LDEXP)

#endif
