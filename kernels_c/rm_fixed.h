/* Fixed-point multiplication on int32: q_multiply_shift, q_multiply_shift_per_axis (NUM-601).
 *
 * Both are the exact x * y * 2**shift to the nearest integer, of two the greater: floor(… + 1/2). */
#ifndef RM_FIXED_H
#define RM_FIXED_H

#include "rm_dtypes.h"

/* x * y * 2**shift modulo 2**64, for -63 <= shift <= 63; and whether that is not the number in int32. */
RM_FN int64_t rm_fixed_product(int32_t x, int32_t y, int64_t shift) {
  const int64_t product = (int64_t)x * y;
  return shift < 0 ? ((product >> (-shift - 1)) + 1) >> 1 : (int64_t)((uint64_t)product << shift);
}
RM_FN bool rm_fixed_overflows(int32_t x, int32_t y, int64_t shift) {
  const int64_t product = (int64_t)x * y, scaled = rm_fixed_product(x, y, shift);
  const bool lost = shift > 0 && product != 0 && (shift > 31 || product != (int32_t)product);
  return lost || scaled != (int32_t)scaled;
}

RM_IF_USED(int32,
RM_FN bool rm_bad_shift_int32(int32_t q, int32_t s) {
  return q <= 0 || (int64_t)q - (s < 0 ? s : 0) > 63 || s > 63;
}
RM_FN bool rm_q_multiply_shift_int32_undefined(int32_t x, int32_t y, int32_t q, int32_t s) {
  if (rm_bad_shift_int32(q, s)) return true;
  return rm_fixed_overflows(x, y, (int64_t)s - q);
}
RM_FN int32_t rm_q_multiply_shift_int32(int32_t x, int32_t y, int32_t q, int32_t s) {
  return rm_bad_shift_int32(q, s) ? 0 : (int32_t)rm_fixed_product(x, y, (int64_t)s - q);
}

/* Operands are of any integer dtype; y beyond int32 counts as undefined, which the interpreter then looks into. */
RM_FN bool rm_bad_per_axis_int32(int64_t y, int64_t left, int64_t right, int64_t q, int64_t is_left) {
  const bool bad_left = is_left != 0 && (left < 0 || left > 63);
  return q <= 0 || q > 63 || right < 0 || right > 63 - q || bad_left || y != (int32_t)y;
}
RM_FN bool rm_q_multiply_shift_per_axis_int32_undefined(int32_t x, int64_t y, int64_t left, int64_t right, int64_t q,
                                                        int64_t is_left, int64_t is_right) {
  (void)is_right;
  if (rm_bad_per_axis_int32(y, left, right, q, is_left)) return true;
  return rm_fixed_overflows(x, (int32_t)y, (is_left != 0 ? left : 0) - right - q);
}
RM_FN int32_t rm_q_multiply_shift_per_axis_int32(int32_t x, int64_t y, int64_t left, int64_t right, int64_t q,
                                                 int64_t is_left, int64_t is_right) {
  (void)is_right;
  if (rm_bad_per_axis_int32(y, left, right, q, is_left)) return 0;
  return (int32_t)rm_fixed_product(x, (int32_t)y, (is_left != 0 ? left : 0) - right - q);
})

#endif
