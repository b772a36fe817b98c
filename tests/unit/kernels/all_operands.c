/* One function of float32 on every STRIDE-th of its 2**32 operands: against the platform's double function rounded,
 * and against the exact value.
 *
 *   all_operands FIRST STRIDE
 *
 * prints `wrong X FOUND` where the result is not the rounded double one; `open X FOUND` where it is not certain that it
 * is the nearest float32; and last `done COUNT`. Certain is what the double value says if it were wrong by 64 ulps (it
 * is by 3), else what long double says if it were wrong by 2**-60. What is open somebody must look at with more digits.
 * -DOP=exp, sin, and so on; sigmoid, exp10 and rsqrt are spelled out as in NUM-501 and NUM-502. */
#define RM_USE_float32
#include "rm_transcendental.h"
#include <stdio.h>
#include <stdlib.h>

#define JOIN_1(a, b) a##b
#define JOIN(a, b) JOIN_1(a, b)
enum { BATCH = 1 << 14 };

static inline double double_sigmoid(double x) {
  if (x >= 0) return 1.0 / (1.0 + rm_c_exp(-x));
  return rm_c_exp(x) / (1.0 + rm_c_exp(x));
}
static inline long double long_sigmoid(long double x) { return x >= 0 ? 1 / (1 + expl(-x)) : expl(x) / (1 + expl(x)); }
static inline double double_exp10(double x) { return rm_c_pow(10.0, x); }
static inline long double long_exp10(long double x) { return powl(10.0L, x); }
static inline double double_rsqrt(double x) { return 1.0 / sqrt(x); }
static inline long double long_rsqrt(long double x) { return 1.0L / sqrtl(x); }

#define OF_LIBRARY(op)                                                    \
  static inline double double_##op(double x) { return rm_c_##op(x); }     \
  static inline long double long_##op(long double x) { return op##l(x); }
OF_LIBRARY(exp) OF_LIBRARY(exp2) OF_LIBRARY(log) OF_LIBRARY(log2) OF_LIBRARY(log10) OF_LIBRARY(log1p)
OF_LIBRARY(sin) OF_LIBRARY(cos) OF_LIBRARY(tan) OF_LIBRARY(sinh) OF_LIBRARY(cosh) OF_LIBRARY(tanh)
OF_LIBRARY(asin) OF_LIBRARY(acos) OF_LIBRARY(atan) OF_LIBRARY(asinh) OF_LIBRARY(acosh) OF_LIBRARY(atanh)
OF_LIBRARY(erf)

/* The middle of a float32 and its neighbour on the side of `toward`, beyond the greatest one as if there were more. */
static long double middle(float y, float toward) {
  const float next = nextafterf(y, toward);
  if (isinf(y)) return copysignl(0x1.ffffffp127L, y);
  if (isinf(next)) return copysignl(0x1.ffffffp127L, next);
  return ((long double)y + (long double)next) / 2;
}

static int is_nearest(float x, float y) {
#if LDBL_MANT_DIG < 64
  return 0;
#endif
  const long double exact = JOIN(long_, OP)((long double)x), slack = fabsl(exact) * 0x1p-60L;
  if (exact == (long double)y) return 1;
  return (exact - slack > middle(y, -INFINITY) || y == -INFINITY) && (exact + slack < middle(y, INFINITY) || y == INFINITY);
}

/* Whether every number within 64 ulps of the double rounds to the same float32. */
static int is_decided(double wanted) {
  const double size = fabs(wanted);
  const int64_t low = (int64_t)(rm_bits_of_double(size) & 0x1fffffff) - 0x10000000;
  if (size < 0x1p-152 || size > 0x1p129) return 1;
  return size > 0x1.00001p-126 && size < 0x1.ffff00p127 && (low < -64 || low > 64);
}

/* A loop that the compiler turns into vector code. */
static __attribute__((noinline)) void results(const float *restrict x, float *restrict y) {
  for (int i = 0; i < BATCH; i++) y[i] = JOIN(JOIN(rm_, OP), _float32)(x[i]);
}

static void look(float x, float y) {
  const double wanted = JOIN(double_, OP)((double)x);
  if (wanted != wanted) {
    if (y == y) printf("wrong %a %a\n", x, y);
  } else if (rm_bits_of_float((float)wanted) != rm_bits_of_float(y)) {
    printf("wrong %a %a\n", x, y);
  } else if (!is_decided(wanted) && !is_nearest(x, y)) {
    printf("open %a %a\n", x, y);
  }
}

int main(int count, char **arguments) {
  static float x[BATCH], y[BATCH];
  if (count != 3) return 2;
  uint64_t code = strtoull(arguments[1], NULL, 10), stride = strtoull(arguments[2], NULL, 10), done = 0;
  while (code < 1ULL << 32) {
    int filled = 0;
    for (; filled < BATCH && code < 1ULL << 32; filled++, code += stride) x[filled] = rm_float_of_bits((uint32_t)code);
    results(x, y);
    for (int i = 0; i < filled; i++) look(x[i], y[i]);
    done += (uint64_t)filled;
  }
  printf("done %llu\n", (unsigned long long)done);
  return 0;
}
