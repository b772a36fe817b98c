/* Part of rm_transcendental.h in mode libm: what TVM's default `llvm` build computes (NUM-506, NUM-507).
 *
 * Its own formulas take their steps in double, in float, or in float rounded to float16; the platform's functions of
 * one are rounded with the step. C is compiled without contraction, so every operation is a step. */
#ifndef RM_FORMULAS_H
#define RM_FORMULAS_H

#include "rm_dtypes.h"
#include "rm_platform.h"

/* T is the type of the steps, suffix that of C's functions, S(x) the rounding of a step. */
#define RM_DEFINE_FORMULAS(NAME, T, suffix, S)                                                            \
  RM_FN T NAME(rsqrt)(T x) { return S((T)1 / S(sqrt##suffix(x))); }                                       \
  RM_FN T NAME(tan)(T x) { return S(S(rm_c_sin##suffix(x)) / S(rm_c_cos##suffix(x))); }                   \
  RM_FN T NAME(sigmoid)(T x) { return S((T)1 / S((T)1 + S(rm_c_exp##suffix(-x)))); }                      \
  RM_FN T NAME(exp10)(T x) { return S(rm_c_exp##suffix(S(x * S((T)2.302585093)))); }                      \
  RM_FN T NAME(atanh)(T x) {                                                                              \
    const T above = S(rm_c_log##suffix(S((T)1 + x))), below = S(rm_c_log##suffix(S((T)1 - x)));           \
    return S(S(above - below) * (T)0.5);                                                                  \
  }                                                                                                       \
  RM_FN T NAME(tanh)(T x) {                                                                               \
    const T power = S(rm_c_exp##suffix(S((x >= 0 ? (T)-2 : (T)2) * x)));                                  \
    const T over = x >= 0 ? S((T)1 - power) : S(power - (T)1);                                            \
    return S(over / S(power + (T)1));                                                                     \
  }

#define RM_STEP_WHOLE(x) (x)
#define RM_NAME_WIDE(op) rm_wide_##op
#define RM_NAME_SINGLE(op) rm_formula_##op
#define RM_NAME_HALF(op) rm_half_##op
RM_DEFINE_FORMULAS(RM_NAME_WIDE, double, , RM_STEP_WHOLE)
RM_DEFINE_FORMULAS(RM_NAME_SINGLE, float, f, RM_STEP_WHOLE)
RM_IF_USED(float16, RM_DEFINE_FORMULAS(RM_NAME_HALF, float, f, rm_narrow_float16))
#define RM_STEPWISE_float16(op, x) rm_half_##op(x)

RM_FN double rm_wide_hypot(double x, double y) { return rm_c_hypot(x, y); }

#define RM_NEAR_OF_LIBRARY(op, D) RM_FN double rm_near_##op(float x) { return (double)rm_c_##op##f(x); }
#define RM_NEAR_OF_FORMULA(op, D) RM_FN double rm_near_##op(float x) { return (double)rm_formula_##op(x); }
RM_EACH_OF_LIBRARY(RM_NEAR_OF_LIBRARY, )
RM_EACH_OF_FORMULA(RM_NEAR_OF_FORMULA, )
RM_FN double rm_near_pow(float x, float y) { return (double)rm_c_powf(x, y); }
RM_FN double rm_near_atan2(float x, float y) { return (double)rm_c_atan2f(x, y); }
RM_FN double rm_near_hypot(float x, float y) { return (double)rm_c_hypotf(x, y); }

#endif
