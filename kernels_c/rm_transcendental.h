/* The transcendentals: sqrt rsqrt (NUM-502), exp to erf (NUM-501), pow atan2 hypot (NUM-503), in two modes (NUM-506).
 *
 *                    of double: rm_wide_<op>                of float, to be rounded to D: rm_near_<op>
 *   mode cr          the platform's double function         the same, or plain arithmetic (rm_exponential.h)
 *   RM_MATH_LIBM     the same, or TVM's formula in double   the platform's float function, or TVM's formula in float
 *                    (rm_formulas.h, NUM-507)
 *
 * rm_<op>_D(x) is the one or the other, rounded once to D. */
#ifndef RM_TRANSCENDENTAL_H
#define RM_TRANSCENDENTAL_H

#include "rm_dtypes.h"
#include "rm_exponential.h"
#include "rm_hypot.h"
#include "rm_platform.h"

/* F(op, D): operators that are a function of C's library in mode libm, and of double in mode cr; those that have a
 * formula in mode libm. */
#define RM_EACH_OF_LIBRARY(F, D)                                                                     \
  F(exp, D) F(exp2, D) F(log, D) F(log2, D) F(log10, D) F(log1p, D) F(sin, D) F(cos, D) F(sinh, D)   \
  F(cosh, D) F(asin, D) F(acos, D) F(atan, D) F(asinh, D) F(acosh, D) F(erf, D)
#define RM_EACH_OF_FORMULA(F, D) F(rsqrt, D) F(exp10, D) F(tan, D) F(tanh, D) F(atanh, D) F(sigmoid, D)

#define RM_WIDE_OF_LIBRARY(op, D) RM_FN double rm_wide_##op(double x) { return rm_c_##op(x); }
RM_EACH_OF_LIBRARY(RM_WIDE_OF_LIBRARY, )
RM_FN double rm_wide_pow(double x, double y) { return rm_c_pow(x, y); }
RM_FN double rm_wide_atan2(double x, double y) { return rm_c_atan2(x, y); }

#ifdef RM_MATH_LIBM
#include "rm_formulas.h"
#else

RM_FN double rm_wide_rsqrt(double x) { return 1.0 / sqrt(x); }
RM_FN double rm_wide_exp10(double x) { return rm_c_pow(10.0, x); }
RM_FN double rm_wide_tan(double x) { return rm_c_tan(x); }
RM_FN double rm_wide_tanh(double x) { return rm_c_tanh(x); }
RM_FN double rm_wide_atanh(double x) { return rm_c_atanh(x); }
RM_FN double rm_wide_sigmoid(double x) {
  const double power = rm_c_exp(-fabs(x));
  return (x < 0 ? power : 1.0) / (1.0 + power);
}
RM_FN double rm_wide_hypot(double x, double y) { return rm_hypot_of_doubles(x, y); }

RM_FN double rm_near_exp(float x) { return rm_single_exp(x); }
RM_FN double rm_near_sigmoid(float x) { return rm_single_sigmoid(x); }
RM_FN double rm_near_tanh(float x) { return rm_single_tanh(x); }
RM_FN double rm_near_erf(float x) { return rm_single_erf(x); }
RM_FN double rm_near_log(float x) { return rm_single_log(x); }
#define RM_NEAR_1(op) RM_FN double rm_near_##op(float x) { return rm_wide_##op((double)x); }
RM_NEAR_1(exp2) RM_NEAR_1(exp10) RM_NEAR_1(log2) RM_NEAR_1(log10) RM_NEAR_1(log1p) RM_NEAR_1(rsqrt)
RM_NEAR_1(sin) RM_NEAR_1(cos) RM_NEAR_1(tan) RM_NEAR_1(sinh) RM_NEAR_1(cosh) RM_NEAR_1(asin) RM_NEAR_1(acos)
RM_NEAR_1(atan) RM_NEAR_1(asinh) RM_NEAR_1(acosh) RM_NEAR_1(atanh)
#define RM_NEAR_2(op) RM_FN double rm_near_##op(float x, float y) { return rm_wide_##op((double)x, (double)y); }
RM_NEAR_2(pow) RM_NEAR_2(atan2) RM_NEAR_2(hypot)

/* Float16 is no exception here. */
#define RM_STEPWISE_float16(op, x) rm_rounded_float16(rm_near_##op(x))

#endif

/* ------------------------------------------------------------------------------------------------------ per dtype */

#define RM_OF_ONE_WIDE(op, D) RM_FN double rm_##op##_float64(double x) { return rm_wide_##op(x); }
#define RM_OF_ONE(op, D) RM_FN float rm_##op##_##D(float x) { return rm_rounded_##D(rm_near_##op(x)); }
#define RM_OF_ONE_STEPWISE(op, D) RM_FN float rm_##op##_##D(float x) { return RM_STEPWISE_##D(op, x); }
#define RM_OF_TWO(op, D) RM_FN float rm_##op##_##D(float x, float y) { return rm_rounded_##D(rm_near_##op(x, y)); }

RM_IF_USED(float64,
RM_EACH_OF_LIBRARY(RM_OF_ONE_WIDE, float64)
RM_EACH_OF_FORMULA(RM_OF_ONE_WIDE, float64)
RM_FN double rm_sqrt_float64(double x) { return sqrt(x); }
RM_FN double rm_pow_float64(double x, double y) { return rm_wide_pow(x, y); }
RM_FN double rm_atan2_float64(double x, double y) { return rm_wide_atan2(x, y); }
RM_FN double rm_hypot_float64(double x, double y) { return rm_wide_hypot(x, y); })

/* The square root of a float, rounded to D: float has more than twice the bits of all narrower formats. */
#define RM_NARROW_TRANSCENDENTALS(D, FORMULAS)                                         \
  RM_EACH_OF_LIBRARY(RM_OF_ONE, D)                                                     \
  RM_EACH_OF_FORMULA(FORMULAS, D)                                                      \
  RM_OF_TWO(pow, D) RM_OF_TWO(atan2, D) RM_OF_TWO(hypot, D)                            \
  RM_FN float rm_sqrt_##D(float x) { return rm_narrow_##D(sqrtf(x)); }
#define RM_TRANSCENDENTALS(D) RM_NARROW_TRANSCENDENTALS(D, RM_OF_ONE)
RM_IF_USED(float16, RM_NARROW_TRANSCENDENTALS(float16, RM_OF_ONE_STEPWISE))
RM_IF_USED(float32, RM_TRANSCENDENTALS(float32))
RM_IF_USED(bfloat16, RM_TRANSCENDENTALS(bfloat16))
RM_EACH_SMALL_FLOAT(RM_TRANSCENDENTALS)

/* Formats without NaN: undefined where the result would be one (NUM-004). */
#define RM_NAN_OF_ONE(op, D) \
  RM_FN bool rm_##op##_##D##_undefined(float x) { const double y = rm_near_##op(x); return y != y; }
#define RM_TRANSCENDENTALS_FINITE(D)                                                                            \
  RM_NAN_OF_ONE(rsqrt, D) RM_NAN_OF_ONE(log, D) RM_NAN_OF_ONE(log2, D) RM_NAN_OF_ONE(log10, D)                  \
  RM_NAN_OF_ONE(log1p, D) RM_NAN_OF_ONE(asin, D) RM_NAN_OF_ONE(acos, D) RM_NAN_OF_ONE(acosh, D)                 \
  RM_NAN_OF_ONE(atanh, D)                                                                                       \
  RM_FN bool rm_sqrt_##D##_undefined(float x) { return x < 0; }                                                 \
  RM_FN bool rm_pow_##D##_undefined(float x, float y) { const double z = rm_near_pow(x, y); return z != z; }
RM_EACH_FINITE_FLOAT(RM_TRANSCENDENTALS_FINITE)

#endif
