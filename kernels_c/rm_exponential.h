/* Part of rm_transcendental.h: exp sigmoid tanh erf log of float32 and narrower, in double + - * / and bit moves.
 *
 * Each gives a double that, rounded to float32, is what the platform's double function gives when rounded, on all 2**32
 * operands, whether RM_MULADD rounds once or twice. That is the correctly rounded result of exp, tanh and erf; of log
 * but for 5 operands and of sigmoid but for 78 below 2**-16, where the double is the middle of two floats, or next to it.
 * That is no estimate: every operand was compared (tests/unit/kernels, profile soak). So were all values of the narrower
 * formats. There is no branch and no call, so that a loop over one becomes vector code.
 *
 * Polynomials: minimax by Remez' exchange in 240 bits, coefficients rounded to double; the bound after each is its
 * relative error as evaluated in real numbers. */
#ifndef RM_EXPONENTIAL_H
#define RM_EXPONENTIAL_H

#include "rm_dtypes.h"

/* a * b + c: with one rounding where the processor has it, else with two. */
#if !defined RM_PLAIN && (defined __FP_FAST_FMA || defined __FMA__)
#define RM_MULADD(a, b, c) __builtin_fma(a, b, c)
#else
#define RM_MULADD(a, b, c) ((a) * (b) + (c))
#endif

/* x = k * ln 2 + r with |r| <= ln(2) / 2 * 1.0001 and k an integer, |k| < 2**10, by adding 1.5 * 2**52, which leaves k in
 * the low bits of the sum `turns`. The first product is exact (ln 2 to 40 bits), and so is the first difference. */
RM_FN double rm_exp_turns(double x) { return RM_MULADD(x, 0x1.71547652b82fep+0, 0x1.8p52); }
RM_FN double rm_exp_rest(double x, double turns) {
  const double k = turns - 0x1.8p52;
  return RM_MULADD(k, -0x1.cf79abc9e3b3ap-40, RM_MULADD(k, -0x1.62e42fefa0000p-1, x));
}

/* exp(r) - 1 = r + r**2 * p(r), degree 11, 2**-57.2. */
RM_FN double rm_exp_less_one(double r) {
  double p = 0x1.ad201aa658dcap-26;
  p = RM_MULADD(p, r, 0x1.289f8b3527131p-22);
  p = RM_MULADD(p, r, 0x1.71df553fccf00p-19);
  p = RM_MULADD(p, r, 0x1.a019ab2cdd07ap-16);
  p = RM_MULADD(p, r, 0x1.a01a011c23833p-13);
  p = RM_MULADD(p, r, 0x1.6c16c17cc34bbp-10);
  p = RM_MULADD(p, r, 0x1.1111111128879p-7);
  p = RM_MULADD(p, r, 0x1.5555555553206p-5);
  p = RM_MULADD(p, r, 0x1.5555555555501p-3);
  p = RM_MULADD(p, r, 0.5);
  return RM_MULADD(r * r, p, r);
}

/* exp. Errors in units of 2**-53 of the result: r 0.02, polynomial 0.06 and its evaluation 0.2, the last sum 1/2 of the
 * double's own ulp. The factor 2**k goes into the exponent: nothing is rounded, as the double stays normal. Beyond the
 * limits the result is below half of the least float32, or above the greatest and half an ulp more; a NaN passes. */
RM_FN double rm_single_exp(float x) {
  const float low = -104.5f > x ? -104.5f : x, held = 89.5f < low ? 89.5f : low;
  const double turns = rm_exp_turns((double)held);
  const double power = 1.0 + rm_exp_less_one(rm_exp_rest((double)held, turns));
  return rm_double_of_bits(rm_bits_of_double(power) + (rm_bits_of_double(turns) << 52));
}

/* 1 / (1 + exp(-x)), or exp(x) / (1 + exp(x)) for x < 0. */
RM_FN double rm_single_sigmoid(float x) {
  const double power = rm_single_exp(-fabsf(x));
  return (x < 0.0f ? power : 1.0) / (1.0 + power);
}

/* -m / (2 + m) with m = exp(-2|x|) - 1 = 2**k * (exp(r) - 1) + (2**k - 1), the sign of x put back. */
RM_FN double rm_single_tanh(float x) {
  const float size = fabsf(x), held = 20.0f < size ? 20.0f : size;
  const double turns = rm_exp_turns(-2.0 * (double)held);
  const double scale = rm_double_of_bits(0x3ff0000000000000U + (rm_bits_of_double(turns) << 52));
  const double rest = rm_exp_less_one(rm_exp_rest(-2.0 * (double)held, turns));
  const double less_one = RM_MULADD(scale, rest, scale - 1.0);
  return copysign(less_one / (2.0 + less_one), (double)x);
}

/* x + x * p(x**2) below 1, degree 12 in x**2, 2**-56.3; from there 1 - q(x - 79/32), degree 27, 2**-55.6, with
 * q = erfc on 1 to 63/16, where 1 - q rounds to 1. */
RM_FN double rm_erf_near(double x) {
  const double z = x * x;
  double p = 0x1.0579a84d376dfp-34;
  p = RM_MULADD(p, z, -0x1.386abfe0a717cp-30);
  p = RM_MULADD(p, z, 0x1.f7a411e5169fap-27);
  p = RM_MULADD(p, z, -0x1.5f1d36bb9e8c9p-23);
  p = RM_MULADD(p, z, 0x1.b9def19d32f0ep-20);
  p = RM_MULADD(p, z, -0x1.f4d1df393d6f4p-17);
  p = RM_MULADD(p, z, 0x1.f9a321a11d2e0p-14);
  p = RM_MULADD(p, z, -0x1.c02db3d8ed1fep-11);
  p = RM_MULADD(p, z, 0x1.565bcd0db02e3p-8);
  p = RM_MULADD(p, z, -0x1.b82ce3128499cp-6);
  p = RM_MULADD(p, z, 0x1.ce2f21a042b20p-4);
  p = RM_MULADD(p, z, -0x1.812746b0379e6p-2);
  p = RM_MULADD(p, z, 0x1.06eba8214db69p-3);
  return RM_MULADD(x, p, x);
}
RM_FN double rm_erf_far(double x) {
  const double v = x - 2.46875;
  double p = -0x1.90bd7bdda970ep-45;
  p = RM_MULADD(p, v, -0x1.002fb27fd40fap-41);
  p = RM_MULADD(p, v, 0x1.5af92624d6c82p-39);
  p = RM_MULADD(p, v, 0x1.13a041bc202e6p-37);
  p = RM_MULADD(p, v, -0x1.f4445d10077b8p-35);
  p = RM_MULADD(p, v, -0x1.b83c03338cd21p-40);
  p = RM_MULADD(p, v, 0x1.84d2280c55b20p-31);
  p = RM_MULADD(p, v, -0x1.c0a32b571205bp-30);
  p = RM_MULADD(p, v, -0x1.f1e09134412cep-29);
  p = RM_MULADD(p, v, 0x1.c2aec6f3a89d3p-26);
  p = RM_MULADD(p, v, -0x1.1350533001483p-25);
  p = RM_MULADD(p, v, -0x1.64a8432d9d6ebp-23);
  p = RM_MULADD(p, v, 0x1.86c115db35e47p-21);
  p = RM_MULADD(p, v, -0x1.0dbcd0a6455a8p-21);
  p = RM_MULADD(p, v, -0x1.30dce8992a94ap-18);
  p = RM_MULADD(p, v, 0x1.0bc517209505bp-16);
  p = RM_MULADD(p, v, -0x1.696e249ea42bap-17);
  p = RM_MULADD(p, v, -0x1.3f22104e3a6c8p-14);
  p = RM_MULADD(p, v, 0x1.1fdf82f0d22a9p-12);
  p = RM_MULADD(p, v, -0x1.5ebdd5b584623p-12);
  p = RM_MULADD(p, v, -0x1.eae5e253f460fp-12);
  p = RM_MULADD(p, v, 0x1.7d55d56c34fafp-9);
  p = RM_MULADD(p, v, -0x1.b3fdff1dd2746p-8);
  p = RM_MULADD(p, v, 0x1.3b38708f711d8p-7);
  p = RM_MULADD(p, v, -0x1.36f273fbd95f4p-7);
  p = RM_MULADD(p, v, 0x1.9ba107a45a7f2p-8);
  p = RM_MULADD(p, v, -0x1.4d78bba8ca5a4p-9);
  p = RM_MULADD(p, v, 0x1.f7f3581a4db35p-12);
  return 1.0 - p;
}
RM_FN double rm_single_erf(float x) {
  const float size = fabsf(x), held = 3.9375f < size ? 3.9375f : size;
  return copysign(held < 1.0f ? rm_erf_near((double)held) : rm_erf_far((double)held), (double)x);
}

/* x = 2**k * m with sqrt(1/2) <= m < sqrt(2), f = m - 1 exact, s = f / (2 + f), log(m) = f - h + s * (h + s**2 * p(s**2))
 * with h = f**2 / 2: p of degree 6, 2**-59 of f. k * log 2 is added in two parts, the first exact; the sum of it and f
 * is kept in two as well, so that only the last sum rounds what counts. Beyond the numbers: inf and NaN as they are. */
RM_FN double rm_single_log(float x) {
  const uint64_t bits = rm_bits_of_double((double)x);
  const uint64_t exponent = (bits - 0x3fe6a09e00000000U + 0x4000000000000000U) >> 52; /* k + 1024 */
  const double k = rm_double_of_bits(0x4330000000000000U | exponent) - (0x1p52 + 1024.0);
  const double f = rm_double_of_bits(bits - ((exponent - 1024U) << 52)) - 1.0;
  const double s = f / (2.0 + f), z = s * s, h = 0.5 * f * f;
  double p = 0x1.2f0d8efd8d68ep-3;
  p = RM_MULADD(p, z, 0x1.39a0f4fcdce36p-3);
  p = RM_MULADD(p, z, 0x1.7466462c8882fp-3);
  p = RM_MULADD(p, z, 0x1.c71c51e7f8ec9p-3);
  p = RM_MULADD(p, z, 0x1.24924942179d1p-2);
  p = RM_MULADD(p, z, 0x1.999999997fb32p-2);
  p = RM_MULADD(p, z, 0x1.5555555555593p-1);
  const double whole = k * 0x1.62e42fefa0000p-1, sum = whole + f, left = (whole - sum) + f;
  const double rest = RM_MULADD(s, RM_MULADD(z, p, h), -h);
  const double positive = sum + (RM_MULADD(k, 0x1.cf79abc9e3b3ap-40, rest) + left);
  const double number = x <= FLT_MAX ? positive : (double)x;
  return x < 0.0f ? (double)NAN : x == 0.0f ? -(double)INFINITY : number;
}

#endif
