/* Bits: and or xor not (NUM-201), shifts (NUM-202), popcount clz (NUM-203). */
#ifndef RM_BITWISE_H
#define RM_BITWISE_H

#include "rm_dtypes.h"

#define RM_BITWISE(D)                                                                                                 \
  RM_FN rm_##D rm_bitwise_and_##D(rm_##D a, rm_##D b) { return (rm_##D)(a & b); }                                     \
  RM_FN rm_##D rm_bitwise_or_##D(rm_##D a, rm_##D b) { return (rm_##D)(a | b); }                                      \
  RM_FN rm_##D rm_bitwise_xor_##D(rm_##D a, rm_##D b) { return (rm_##D)(a ^ b); }                                     \
  RM_FN rm_##D rm_bitwise_not_##D(rm_##D a) { return rm_wrap_##D(~(rm_##D##_word)a); }
RM_EACH_INT(RM_BITWISE)

RM_FN bool rm_bitwise_and_bool(bool a, bool b) { return a && b; }
RM_FN bool rm_bitwise_or_bool(bool a, bool b) { return a || b; }
RM_FN bool rm_bitwise_xor_bool(bool a, bool b) { return a != b; }
RM_FN bool rm_bitwise_not_bool(bool a) { return !a; }

/* The count is taken modulo the width, a power of two, so that every count has a result. The shift to the right is the
 * compiler's, which moves the sign in (gcc, clang and tcc say so; C11 leaves it to them). */
#define RM_SHIFTS(D)                                                                                                  \
  RM_FN rm_##D rm_shift_left_##D(rm_##D a, rm_##D b) {                                                                \
    return rm_wrap_##D((rm_##D##_word)a << ((rm_##D##_word)b & (RM_BITS_##D - 1)));                                   \
  }                                                                                                                   \
  RM_FN rm_##D rm_shift_right_##D(rm_##D a, rm_##D b) {                                                               \
    return (rm_##D)(a >> ((rm_##D##_word)b & (RM_BITS_##D - 1)));                                                     \
  }                                                                                                                   \
  RM_FN bool rm_shift_left_##D##_undefined(rm_##D a, rm_##D b) {                                                      \
    (void)a;                                                                                                          \
    return (rm_##D##_word)b >= RM_BITS_##D;                                                                           \
  }                                                                                                                   \
  RM_FN bool rm_shift_right_##D##_undefined(rm_##D a, rm_##D b) {                                                     \
    (void)a;                                                                                                          \
    return (rm_##D##_word)b >= RM_BITS_##D;                                                                           \
  }
RM_EACH_INT(RM_SHIFTS)

/* Ones are counted in pairs, then in groups of four, then in bytes, which the product adds up. */
RM_FN uint32_t rm_ones(uint64_t x) {
  x -= x >> 1 & UINT64_C(0x5555555555555555);
  x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
  x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  return (uint32_t)((x * UINT64_C(0x0101010101010101)) >> 56);
}
#define RM_POPCOUNT(D) RM_FN rm_##D rm_popcount_##D(rm_##D a) { return rm_wrap_##D(rm_ones(rm_encode_##D(a))); }
RM_EACH_INT(RM_POPCOUNT)

/* The zeros above the highest one are what is left when all bits below it are set. */
#define RM_CLZ(D)                                                             \
  RM_FN int32_t rm_clz_##D(rm_##D a) {                                        \
    uint64_t x = rm_encode_##D(a);                                            \
    x |= x >> 1;                                                              \
    x |= x >> 2;                                                              \
    x |= x >> 4;                                                              \
    x |= x >> 8;                                                              \
    x |= x >> 16;                                                             \
    x |= x >> 32;                                                             \
    return (int32_t)(RM_BITS_##D - rm_ones(x));                               \
  }                                                                           \
  RM_FN bool rm_clz_##D##_undefined(rm_##D a) { return a == 0; }
RM_EACH_WIDE(RM_CLZ)

#endif
