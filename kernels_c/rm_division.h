/* Division and remainder: div (NUM-103), truncdiv truncmod floordiv floormod (NUM-104), ceildiv (NUM-105).
 *
 * Undefined: a divisor of 0, and the least signed value by -1, where the results are 0 and what wraps. */
#ifndef RM_DIVISION_H
#define RM_DIVISION_H

#include "rm_arith.h"

/* -1 never reaches C's own division, which must not overflow. */
#define RM_DIVIDE_SIGNED(D)                                                                                           \
  RM_FN rm_##D rm_truncdiv_##D(rm_##D a, rm_##D b) {                                                                  \
    if (b == -1) return rm_wrap_##D(0 - (rm_##D##_word)a);                                                            \
    return b == 0 ? 0 : (rm_##D)(a / b);                                                                              \
  }                                                                                                                   \
  RM_FN rm_##D rm_truncmod_##D(rm_##D a, rm_##D b) { return b == 0 || b == -1 ? 0 : (rm_##D)(a % b); }                \
  RM_FN rm_##D rm_floordiv_##D(rm_##D a, rm_##D b) {                                                                  \
    const rm_##D quotient = rm_truncdiv_##D(a, b), rest = rm_truncmod_##D(a, b);                                      \
    return rest != 0 && (rest < 0) != (b < 0) ? (rm_##D)(quotient - 1) : quotient;                                    \
  }                                                                                                                   \
  RM_FN rm_##D rm_floormod_##D(rm_##D a, rm_##D b) {                                                                  \
    const rm_##D rest = rm_truncmod_##D(a, b);                                                                        \
    return rest != 0 && (rest < 0) != (b < 0) ? (rm_##D)(rest + b) : rest;                                            \
  }                                                                                                                   \
  RM_FN bool rm_truncdiv_##D##_undefined(rm_##D a, rm_##D b) { return b == 0 || (b == -1 && a == RM_LEAST_##D); }
RM_EACH_SIGNED(RM_DIVIDE_SIGNED)

#define RM_DIVIDE_UNSIGNED(D)                                                                                         \
  RM_FN rm_##D rm_truncdiv_##D(rm_##D a, rm_##D b) { return b == 0 ? 0 : (rm_##D)(a / b); }                           \
  RM_FN rm_##D rm_truncmod_##D(rm_##D a, rm_##D b) { return b == 0 ? 0 : (rm_##D)(a % b); }                           \
  RM_FN rm_##D rm_floordiv_##D(rm_##D a, rm_##D b) { return rm_truncdiv_##D(a, b); }                                  \
  RM_FN rm_##D rm_floormod_##D(rm_##D a, rm_##D b) { return rm_truncmod_##D(a, b); }                                  \
  RM_FN bool rm_truncdiv_##D##_undefined(rm_##D a, rm_##D b) {                                                        \
    (void)a;                                                                                                          \
    return b == 0;                                                                                                    \
  }
RM_EACH_UNSIGNED(RM_DIVIDE_UNSIGNED)

#define RM_DIVIDE_INT(D)                                                                                              \
  RM_FN rm_##D rm_div_##D(rm_##D a, rm_##D b) { return rm_truncdiv_##D(a, b); }                                       \
  RM_FN bool rm_div_##D##_undefined(rm_##D a, rm_##D b) { return rm_truncdiv_##D##_undefined(a, b); }                 \
  RM_FN bool rm_truncmod_##D##_undefined(rm_##D a, rm_##D b) { return rm_truncdiv_##D##_undefined(a, b); }            \
  RM_FN bool rm_floordiv_##D##_undefined(rm_##D a, rm_##D b) { return rm_truncdiv_##D##_undefined(a, b); }            \
  RM_FN bool rm_floormod_##D##_undefined(rm_##D a, rm_##D b) { return rm_truncdiv_##D##_undefined(a, b); }            \
  RM_FN rm_##D rm_ceildiv_##D(rm_##D a, rm_##D b) { return rm_floordiv_##D(rm_sub_##D(rm_add_##D(a, b), 1), b); }
RM_EACH_INT(RM_DIVIDE_INT)

/* ceildiv goes step by step: a + b, less 1, divided. Narrow sums wrap, wide ones must not overflow. (1 is no value of
 * int1, but modulo 2 it is as good as -1.) */
#define RM_CEILDIV_NARROW(D)                                                                                          \
  RM_FN bool rm_ceildiv_##D##_undefined(rm_##D a, rm_##D b) {                                                         \
    return rm_truncdiv_##D##_undefined(rm_sub_##D(rm_add_##D(a, b), 1), b);                                           \
  }
RM_EACH_NARROW_SIGNED(RM_CEILDIV_NARROW)
RM_EACH_NARROW_UNSIGNED(RM_CEILDIV_NARROW)
#define RM_CEILDIV_WIDE(D)                                                                                            \
  RM_FN bool rm_ceildiv_##D##_undefined(rm_##D a, rm_##D b) {                                                         \
    const rm_##D sum = rm_add_##D(a, b);                                                                              \
    return rm_add_##D##_undefined(a, b) || rm_sub_##D##_undefined(sum, 1) ||                                          \
           rm_truncdiv_##D##_undefined(rm_sub_##D(sum, 1), b);                                                        \
  }
RM_EACH_WIDE(RM_CEILDIV_WIDE)

/* Floats: the quotient, and the remainder with the sign of a, which is fmod (NUM-504). */
#define RM_DIVIDE_FLOAT(D)                                                                                            \
  RM_FN rm_##D rm_div_##D(rm_##D a, rm_##D b) { return rm_narrow_##D((rm_##D##_work)a / (rm_##D##_work)b); }
RM_EACH_FLOAT(RM_DIVIDE_FLOAT)
#define RM_TRUNCMOD_FLOAT(D) \
  RM_FN rm_##D rm_truncmod_##D(rm_##D a, rm_##D b) { return rm_narrow_##D(fmodf(a, b)); }
RM_IF_USED(float64, RM_FN double rm_truncmod_float64(double a, double b) { return fmod(a, b); })
RM_IF_USED(float32, RM_TRUNCMOD_FLOAT(float32))
RM_IF_USED(float16, RM_TRUNCMOD_FLOAT(float16))
RM_IF_USED(bfloat16, RM_TRUNCMOD_FLOAT(bfloat16))
RM_EACH_SMALL_FLOAT(RM_TRUNCMOD_FLOAT)

/* NUM-004: 0 / 0 and every remainder of a division by 0 are NaN, which these formats do not have. */
#define RM_DIVIDE_FINITE(D)                                                                                           \
  RM_FN bool rm_div_##D##_undefined(rm_##D a, rm_##D b) { return a == 0 && b == 0; }                                  \
  RM_FN bool rm_truncmod_##D##_undefined(rm_##D a, rm_##D b) {                                                        \
    (void)a;                                                                                                          \
    return b == 0;                                                                                                    \
  }
RM_EACH_FINITE_FLOAT(RM_DIVIDE_FINITE)

#endif
