/* Rounding to an integer that stays a float: ceil floor trunc (NUM-401), round nearbyint (NUM-402).
 *
 * C's functions keep NaN, infinities and the sign of zeros; rint goes to the even one at ties. */
#ifndef RM_INTEGRAL_H
#define RM_INTEGRAL_H

#include "rm_dtypes.h"

#define RM_INTEGRAL(D, T, TO_DTYPE, CEIL, FLOOR, TRUNC, RINT)             \
  RM_FN T rm_ceil_##D(T a) { return TO_DTYPE(CEIL(a)); }                  \
  RM_FN T rm_floor_##D(T a) { return TO_DTYPE(FLOOR(a)); }                \
  RM_FN T rm_trunc_##D(T a) { return TO_DTYPE(TRUNC(a)); }                \
  RM_FN T rm_round_##D(T a) { return TO_DTYPE(RINT(a)); }      \
  RM_FN T rm_nearbyint_##D(T a) { return TO_DTYPE(RINT(a)); }
#define RM_INTEGRAL_EXACT(D) RM_INTEGRAL(D, float, , ceilf, floorf, truncf, rintf)
RM_IF_USED(float64, RM_INTEGRAL(float64, double, , ceil, floor, trunc, rint))
RM_IF_USED(float32, RM_INTEGRAL_EXACT(float32))
RM_IF_USED(float16, RM_INTEGRAL_EXACT(float16))
RM_IF_USED(bfloat16, RM_INTEGRAL_EXACT(bfloat16))

/* Formats of 8 bits and less may miss the integer above the greatest value, or 0. */
#define RM_INTEGRAL_ROUNDED(D) RM_INTEGRAL(D, float, rm_narrow_##D, ceilf, floorf, truncf, rintf)
RM_EACH_SMALL_FLOAT(RM_INTEGRAL_ROUNDED)

#endif
