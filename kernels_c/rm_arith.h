/* Arithmetic: add sub mul (NUM-101), max min (NUM-106), abs (NUM-107).
 *
 * Integers wrap. Of 32 and 64 bits they must not overflow: rm_<op>_D_undefined.
 * Floats of less than 32 bits are computed in float, or double, and rounded once more, which is the exact result
 * rounded once, since 24 >= 2p + 2 (S. A. Figueroa, "When is double rounding innocuous?", 1995). */
#ifndef RM_ARITH_H
#define RM_ARITH_H

#include "rm_dtypes.h"

/* ------------------------------------------------------------------------------------------------------------ + - * */

#define RM_ARITH_INT(D)                                                                                               \
  RM_FN rm_##D rm_add_##D(rm_##D a, rm_##D b) { return rm_wrap_##D((rm_##D##_word)a + (rm_##D##_word)b); }            \
  RM_FN rm_##D rm_sub_##D(rm_##D a, rm_##D b) { return rm_wrap_##D((rm_##D##_word)a - (rm_##D##_word)b); }            \
  RM_FN rm_##D rm_mul_##D(rm_##D a, rm_##D b) { return rm_wrap_##D((rm_##D##_word)a * (rm_##D##_word)b); }
RM_EACH_INT(RM_ARITH_INT)

#define RM_ARITH_FLOAT(D)                                                                                             \
  RM_FN rm_##D rm_add_##D(rm_##D a, rm_##D b) { return rm_narrow_##D((rm_##D##_work)a + (rm_##D##_work)b); }          \
  RM_FN rm_##D rm_sub_##D(rm_##D a, rm_##D b) { return rm_narrow_##D((rm_##D##_work)a - (rm_##D##_work)b); }          \
  RM_FN rm_##D rm_mul_##D(rm_##D a, rm_##D b) { return rm_narrow_##D((rm_##D##_work)a * (rm_##D##_work)b); }
RM_EACH_FLOAT(RM_ARITH_FLOAT)

/* Overflow of 32 bits shows in 64. */
#define RM_OVERFLOW_32(D)                                                                                             \
  RM_FN bool rm_add_##D##_undefined(rm_##D a, rm_##D b) { return (int64_t)a + b != rm_add_##D(a, b); }                \
  RM_FN bool rm_sub_##D##_undefined(rm_##D a, rm_##D b) { return (int64_t)a - b != rm_sub_##D(a, b); }
RM_IF_USED(int32, RM_OVERFLOW_32(int32))
RM_IF_USED(uint32, RM_OVERFLOW_32(uint32))
RM_IF_USED(int32, RM_FN bool rm_mul_int32_undefined(int32_t a, int32_t b) {
  return (int64_t)a * b != rm_mul_int32(a, b);
})
RM_IF_USED(uint32, RM_FN bool rm_mul_uint32_undefined(uint32_t a, uint32_t b) { return (uint64_t)a * b > UINT32_MAX; })

/* Overflow of 64 bits. RM_PLAIN: without the builtins that gcc and clang have. */
#if defined __GNUC__ && !defined RM_PLAIN
#define RM_OVERFLOW_64(D)                                                                                             \
  RM_FN bool rm_add_##D##_undefined(rm_##D a, rm_##D b) { rm_##D r; return __builtin_add_overflow(a, b, &r); }        \
  RM_FN bool rm_sub_##D##_undefined(rm_##D a, rm_##D b) { rm_##D r; return __builtin_sub_overflow(a, b, &r); }        \
  RM_FN bool rm_mul_##D##_undefined(rm_##D a, rm_##D b) { rm_##D r; return __builtin_mul_overflow(a, b, &r); }
RM_IF_USED(int64, RM_OVERFLOW_64(int64))
RM_IF_USED(uint64, RM_OVERFLOW_64(uint64))
#else
RM_IF_USED(int64,
RM_FN bool rm_add_int64_undefined(int64_t a, int64_t b) { return b < 0 ? a < INT64_MIN - b : a > INT64_MAX - b; }
RM_FN bool rm_sub_int64_undefined(int64_t a, int64_t b) { return b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b; }
RM_FN bool rm_mul_int64_undefined(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return false;
  if (a == -1 || b == -1) return a == INT64_MIN || b == INT64_MIN;
  return (a < 0) == (b < 0) ? (a < 0 ? a < INT64_MAX / b : a > INT64_MAX / b)
                            : (a < 0 ? a < INT64_MIN / b : b < INT64_MIN / a);
})
RM_IF_USED(uint64,
RM_FN bool rm_add_uint64_undefined(uint64_t a, uint64_t b) { return a > UINT64_MAX - b; }
RM_FN bool rm_sub_uint64_undefined(uint64_t a, uint64_t b) { return a < b; }
RM_FN bool rm_mul_uint64_undefined(uint64_t a, uint64_t b) { return b != 0 && a > UINT64_MAX / b; })
#endif

/* ------------------------------------------------------------------------------------------------------ max min abs */

/* Comparisons as written: b where one operand is NaN, and of 0 and -0. That is one instruction of most machines. */
#define RM_MAX_MIN(D)                                                               \
  RM_FN rm_##D rm_max_##D(rm_##D a, rm_##D b) { return a > b ? a : b; }             \
  RM_FN rm_##D rm_min_##D(rm_##D a, rm_##D b) { return a < b ? a : b; }
RM_EACH_NUMBER(RM_MAX_MIN)

#define RM_ABS_SIGNED(D) \
  RM_FN rm_##D rm_abs_##D(rm_##D a) { return rm_wrap_##D(a < 0 ? 0 - (rm_##D##_word)a : (rm_##D##_word)a); }
RM_EACH_SIGNED(RM_ABS_SIGNED)
#define RM_ABS_UNSIGNED(D) RM_FN rm_##D rm_abs_##D(rm_##D a) { return a; }
RM_EACH_UNSIGNED(RM_ABS_UNSIGNED)
#define RM_ABS_OVERFLOW(D) RM_FN bool rm_abs_##D##_undefined(rm_##D a) { return a == RM_LEAST_##D; }
RM_EACH_WIDE_SIGNED(RM_ABS_OVERFLOW)
#define RM_ABS_SMALL(D) RM_FN float rm_abs_##D(float a) { return fabsf(a); }
RM_IF_USED(float64, RM_FN double rm_abs_float64(double a) { return fabs(a); })
RM_IF_USED(float32, RM_ABS_SMALL(float32))
RM_IF_USED(float16, RM_ABS_SMALL(float16))
RM_IF_USED(bfloat16, RM_ABS_SMALL(bfloat16))
RM_EACH_SMALL_FLOAT(RM_ABS_SMALL)

#endif
