/* Part of rm_transcendental.h: hypot of doubles, the nearest double (NUM-503).
 *
 * The sum of two squares is compared with the squares of the midpoints around a candidate, in whole numbers. The
 * candidate is a few ulps from the root, so both sides agree in all but their low bits, and the difference modulo 2**128
 * is the difference. */
#ifndef RM_HYPOT_H
#define RM_HYPOT_H

#include "rm_dtypes.h"

typedef struct rm_wide { uint64_t high, low; } rm_wide; /* a number modulo 2**128 */

RM_FN rm_wide rm_wide_sum(rm_wide a, rm_wide b) {
  const uint64_t low = a.low + b.low;
  return (rm_wide){a.high + b.high + (low < a.low), low};
}
RM_FN rm_wide rm_wide_difference(rm_wide a, rm_wide b) {
  return (rm_wide){a.high - b.high - (a.low < b.low), a.low - b.low};
}
RM_FN rm_wide rm_wide_square(rm_wide a) {
  const uint64_t top = a.low >> 32, bottom = a.low & 0xffffffffU;
  const uint64_t cross = top * bottom, least = bottom * bottom, middle = (least >> 32) + 2 * (cross & 0xffffffffU);
  const uint64_t high = top * top + 2 * (cross >> 32) + (middle >> 32) + 2 * a.high * a.low;
  return (rm_wide){high, (middle << 32) | (least & 0xffffffffU)};
}

/* x / 2**unit for x >= 0, a multiple of 2**unit below 2**(unit + 128). */
RM_FN rm_wide rm_wide_of(double x, int unit) {
  int exponent;
  const uint64_t digits = (uint64_t)ldexp(frexp(x, &exponent), 53);
  const int shift = exponent - 53 - unit;
  if (digits == 0) return (rm_wide){0, 0};
  if (shift <= 0) return (rm_wide){0, digits >> -shift};
  return shift >= 64 ? (rm_wide){digits << (shift - 64), 0} : (rm_wide){digits >> (64 - shift), digits << shift};
}

/* Whether sqrt(square) lies beyond the middle of x and its neighbour y, on y's side; in the middle itself the even one
 * of both wins. `square` in units of 2**(2 * unit). */
RM_FN bool rm_root_is_nearer(rm_wide square, double x, double y, int unit) {
  const rm_wide sum = rm_wide_sum(rm_wide_of(x, unit), rm_wide_of(y, unit)), twice = rm_wide_sum(square, square);
  const rm_wide beyond = rm_wide_difference(rm_wide_sum(twice, twice), rm_wide_square(sum));
  if ((beyond.high | beyond.low) == 0) return (rm_bits_of_double(x) & 1) != 0;
  return (beyond.high >> 63 != 0) == (y < x);
}

RM_FN double rm_double_beside(double x, int step) {
  return rm_double_of_bits(rm_bits_of_double(x) + (uint64_t)(int64_t)step);
}

static inline double rm_hypot_of_doubles(double x, double y) {
  const double great = fabs(x) < fabs(y) ? fabs(y) : fabs(x), small = fabs(x) < fabs(y) ? fabs(x) : fabs(y);
  int top = 0, bottom = 0;
  if (isinf(x) || isinf(y)) return (double)INFINITY;
  if (x != x || y != y) return (double)NAN;
  const double a = frexp(great, &top), fraction = frexp(small, &bottom), b = ldexp(fraction, bottom - top);
  /* From 2**28 on the smaller adds less than a quarter of an ulp. */
  if (small == 0 || top - bottom >= 28) return great;
  /* In units of the smaller's last bit. Tiny numbers keep their scale, so that the root is rounded where it lies. */
  const int scale = top < -900 ? top : 0, unit = bottom - top + scale - 53;
  const rm_wide square =
      rm_wide_sum(rm_wide_square(rm_wide_of(ldexp(a, scale), unit)), rm_wide_square(rm_wide_of(ldexp(b, scale), unit)));
  double root = ldexp(sqrt(a * a + b * b), scale);
  while (rm_root_is_nearer(square, root, rm_double_beside(root, -1), unit)) root = rm_double_beside(root, -1);
  while (rm_root_is_nearer(square, root, rm_double_beside(root, 1), unit)) root = rm_double_beside(root, 1);
  return ldexp(root, top - scale);
}

#endif
