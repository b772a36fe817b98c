/* Conversions: the meaning of casts (NUM-701 to NUM-704) and of reinterpret (NUM-705), for the pairs a unit names.
 *
 *   RM_DEFINE_CAST(from, to)           rm_cast_from_to(x)
 *     from a float to an integer       and rm_cast_from_to_undefined(x): NaN, or out of range without its fraction
 *     to a float without NaN           and rm_cast_from_to_undefined(x): NaN (NUM-004)
 *   RM_DEFINE_REINTERPRET(from, to)    rm_reinterpret_from_to(x), where both have as many bits
 *
 * Names are handed on with a _ before them, so that bool, which is a macro, stays a name. */
#ifndef RM_CONVERT_H
#define RM_CONVERT_H

#include "rm_dtypes.h"

#define RM_DEFINE_REINTERPRET(from, to) \
  RM_FN rm_##to rm_reinterpret_##from##_##to(rm_##from x) { return rm_decode_##to(rm_encode_##from(x)); }

#define RM_DEFINE_CAST(from, to) RM_CAST_1(RM_KIND_##from, RM_KIND_##to, _##from, _##to)
#define RM_CAST_1(from_kind, to_kind, from, to) RM_CAST_2(from_kind, to_kind, from, to)
#define RM_CAST_2(from_kind, to_kind, from, to) RM_CAST_##from_kind##_##to_kind(from, to)
#define RM_CAST(from, to, result) RM_FN rm##to rm_cast##from##to(rm##from x) { return result; }

/* ------------------------------------------------------------------------------- between integers and bool: NUM-701 */

#define RM_CAST_SIGNED_SIGNED(from, to) RM_CAST(from, to, rm_wrap##to((rm##to##_word)x))
#define RM_CAST_SIGNED_UNSIGNED(from, to) RM_CAST_SIGNED_SIGNED(from, to)
#define RM_CAST_UNSIGNED_SIGNED(from, to) RM_CAST_SIGNED_SIGNED(from, to)
#define RM_CAST_UNSIGNED_UNSIGNED(from, to) RM_CAST_SIGNED_SIGNED(from, to)
#define RM_CAST_BOOL_SIGNED(from, to) RM_CAST_SIGNED_SIGNED(from, to)
#define RM_CAST_BOOL_UNSIGNED(from, to) RM_CAST_SIGNED_SIGNED(from, to)
#define RM_CAST_SIGNED_BOOL(from, to) RM_CAST(from, to, x != 0)
#define RM_CAST_UNSIGNED_BOOL(from, to) RM_CAST(from, to, x != 0)
#define RM_CAST_BOOL_BOOL(from, to) RM_CAST(from, to, x)

/* ------------------------------------------------------------------------ floats to integers, to bool: NUM-702, 703 */

/* The numbers whose integral part is one of `to` lie strictly between two doubles. 0 where that does not hold. */
#define RM_FLOAT_TO_INT(from, to)                                                                               \
  RM_FN bool rm_cast##from##to##_undefined(rm##from x) {                                                        \
    return !((double)x > RM_ABOVE##to && (double)x < RM_BELOW##to);                                             \
  }                                                                                                             \
  RM_CAST(from, to, (rm##to)((double)x > RM_ABOVE##to && (double)x < RM_BELOW##to ? x : 0))
#define RM_CAST_FLOAT_SIGNED(from, to) RM_FLOAT_TO_INT(from, to)
#define RM_CAST_FLOAT_UNSIGNED(from, to) RM_FLOAT_TO_INT(from, to)
#define RM_CAST_SMALL_SIGNED(from, to) RM_FLOAT_TO_INT(from, to)
#define RM_CAST_SMALL_UNSIGNED(from, to) RM_FLOAT_TO_INT(from, to)
#define RM_CAST_FINITE_SIGNED(from, to) RM_FLOAT_TO_INT(from, to)
#define RM_CAST_FINITE_UNSIGNED(from, to) RM_FLOAT_TO_INT(from, to)

/* NaN is True. */
#define RM_CAST_FLOAT_BOOL(from, to) RM_CAST(from, to, x != 0)
#define RM_CAST_SMALL_BOOL(from, to) RM_CAST(from, to, x != 0)
#define RM_CAST_FINITE_BOOL(from, to) RM_CAST(from, to, x != 0)

#define RM_ABOVE_int1 -2.0
#define RM_BELOW_int1 1.0
#define RM_ABOVE_int2 -3.0
#define RM_BELOW_int2 2.0
#define RM_ABOVE_int4 -9.0
#define RM_BELOW_int4 8.0
#define RM_ABOVE_int8 -129.0
#define RM_BELOW_int8 128.0
#define RM_ABOVE_int16 -32769.0
#define RM_BELOW_int16 32768.0
#define RM_ABOVE_int32 -2147483649.0
#define RM_BELOW_int32 0x1p31
#define RM_ABOVE_int64 -0x1.0000000000001p63 /* the next double below -2**63 */
#define RM_BELOW_int64 0x1p63
#define RM_ABOVE_uint1 -1.0
#define RM_BELOW_uint1 2.0
#define RM_ABOVE_uint2 -1.0
#define RM_BELOW_uint2 4.0
#define RM_ABOVE_uint4 -1.0
#define RM_BELOW_uint4 16.0
#define RM_ABOVE_uint8 -1.0
#define RM_BELOW_uint8 256.0
#define RM_ABOVE_uint16 -1.0
#define RM_BELOW_uint16 65536.0
#define RM_ABOVE_uint32 -1.0
#define RM_BELOW_uint32 0x1p32
#define RM_ABOVE_uint64 -1.0
#define RM_BELOW_uint64 0x1p64

/* ----------------------------------------------------------------------------------------------- to floats: NUM-704 */

/* Integers that double does not hold are cut to 53 digits, the last one made odd where something was cut off: then the
 * rounding to a format of at most 11 digits sees on which side of a tie they were. */
RM_FN double rm_odd_from_unsigned(uint64_t x) {
  return (double)(x >> 53 == 0 ? x : (x & ~UINT64_C(0x7ff)) | (uint64_t)((x & 0x7ff) != 0) << 11);
}
RM_FN double rm_odd_from_signed(int64_t x) {
  return x < 0 ? -rm_odd_from_unsigned(0 - (uint64_t)x) : rm_odd_from_unsigned((uint64_t)x);
}

/* C's own conversions round once to float and double. */
#define RM_CAST_SIGNED_FLOAT(from, to) RM_CAST(from, to, (rm##to)x)
#define RM_CAST_UNSIGNED_FLOAT(from, to) RM_CAST(from, to, (rm##to)x)
#define RM_CAST_BOOL_FLOAT(from, to) RM_CAST(from, to, (rm##to)x)
#define RM_CAST_FLOAT_FLOAT(from, to) RM_CAST(from, to, (rm##to)x)
#define RM_CAST_SMALL_FLOAT(from, to) RM_CAST(from, to, (rm##to)x)
#define RM_CAST_FINITE_FLOAT(from, to) RM_CAST(from, to, (rm##to)x)

#define RM_CAST_SIGNED_SMALL(from, to) RM_CAST(from, to, rm_rounded##to(rm_odd_from_signed(x)))
#define RM_CAST_UNSIGNED_SMALL(from, to) RM_CAST(from, to, rm_rounded##to(rm_odd_from_unsigned(x)))
#define RM_CAST_BOOL_SMALL(from, to) RM_CAST(from, to, rm_rounded##to((double)x))
#define RM_CAST_FLOAT_SMALL(from, to) \
  RM_CAST(from, to, sizeof x > sizeof(float) ? rm_rounded##to((double)x) : rm_narrow##to((rm##to##_work)x))
#define RM_CAST_SMALL_SMALL(from, to) RM_CAST(from, to, rm_narrow##to(x))
#define RM_CAST_FINITE_SMALL(from, to) RM_CAST(from, to, rm_narrow##to(x))

#define RM_CAST_SIGNED_FINITE(from, to) RM_CAST_SIGNED_SMALL(from, to)
#define RM_CAST_UNSIGNED_FINITE(from, to) RM_CAST_UNSIGNED_SMALL(from, to)
#define RM_CAST_BOOL_FINITE(from, to) RM_CAST_BOOL_SMALL(from, to)
#define RM_CAST_FINITE_FINITE(from, to) RM_CAST_FINITE_SMALL(from, to)
#define RM_CAST_FLOAT_FINITE(from, to)                                          \
  RM_FN bool rm_cast##from##to##_undefined(rm##from x) { return x != x; }       \
  RM_CAST_FLOAT_SMALL(from, to)
#define RM_CAST_SMALL_FINITE(from, to) RM_CAST_FLOAT_FINITE(from, to)

#endif
