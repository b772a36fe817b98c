/* Dtypes: the value type and the stored type of each, and the families that helpers are defined for.
 *
 * A unit defines RM_USE_D for each dtype that it uses, or RM_USE_ALL, before it includes a header. */
#ifndef RM_TYPES_H
#define RM_TYPES_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#if defined FLT_EVAL_METHOD && FLT_EVAL_METHOD != 0
#error "float and double must be computed in their own precision"
#endif

#if defined __OPTIMIZE__
#define RM_FN static inline __attribute__((always_inline, unused))
#elif defined __GNUC__ /* without optimisation: a copy at each place takes longer to compile than a call */
#define RM_FN static inline __attribute__((unused))
#else
#define RM_FN static inline
#endif

/* ------------------------------------------------------------------------------------------- value and stored types */

/* Two lines per dtype. The kinds say how it is converted (rm_convert.h): FLOAT by C itself, SMALL rounded by
 * rm_rounded_D, FINITE the same without NaN. */
#define RM_TYPES(D, value, cell) typedef value rm_##D; typedef cell rm_##D##_cell;
typedef bool rm_bool;
typedef uint8_t rm_bool_cell;
#define RM_KIND_bool BOOL
RM_TYPES(int1, int8_t, uint8_t)
#define RM_KIND_int1 SIGNED
RM_TYPES(int2, int8_t, uint8_t)
#define RM_KIND_int2 SIGNED
RM_TYPES(int4, int8_t, uint8_t)
#define RM_KIND_int4 SIGNED
RM_TYPES(int8, int8_t, int8_t)
#define RM_KIND_int8 SIGNED
RM_TYPES(int16, int16_t, int16_t)
#define RM_KIND_int16 SIGNED
RM_TYPES(int32, int32_t, int32_t)
#define RM_KIND_int32 SIGNED
RM_TYPES(int64, int64_t, int64_t)
#define RM_KIND_int64 SIGNED
RM_TYPES(uint1, uint8_t, uint8_t)
#define RM_KIND_uint1 UNSIGNED
RM_TYPES(uint2, uint8_t, uint8_t)
#define RM_KIND_uint2 UNSIGNED
RM_TYPES(uint4, uint8_t, uint8_t)
#define RM_KIND_uint4 UNSIGNED
RM_TYPES(uint8, uint8_t, uint8_t)
#define RM_KIND_uint8 UNSIGNED
RM_TYPES(uint16, uint16_t, uint16_t)
#define RM_KIND_uint16 UNSIGNED
RM_TYPES(uint32, uint32_t, uint32_t)
#define RM_KIND_uint32 UNSIGNED
RM_TYPES(uint64, uint64_t, uint64_t)
#define RM_KIND_uint64 UNSIGNED
RM_TYPES(float32, float, float)
#define RM_KIND_float32 FLOAT
RM_TYPES(float64, double, double)
#define RM_KIND_float64 FLOAT
RM_TYPES(float16, float, uint16_t)
#define RM_KIND_float16 SMALL
RM_TYPES(bfloat16, float, uint16_t)
#define RM_KIND_bfloat16 SMALL
RM_TYPES(float8_e3m4, float, uint8_t)
#define RM_KIND_float8_e3m4 SMALL
RM_TYPES(float8_e4m3, float, uint8_t)
#define RM_KIND_float8_e4m3 SMALL
RM_TYPES(float8_e4m3b11fnuz, float, uint8_t)
#define RM_KIND_float8_e4m3b11fnuz SMALL
RM_TYPES(float8_e4m3fn, float, uint8_t)
#define RM_KIND_float8_e4m3fn SMALL
RM_TYPES(float8_e4m3fnuz, float, uint8_t)
#define RM_KIND_float8_e4m3fnuz SMALL
RM_TYPES(float8_e5m2, float, uint8_t)
#define RM_KIND_float8_e5m2 SMALL
RM_TYPES(float8_e5m2fnuz, float, uint8_t)
#define RM_KIND_float8_e5m2fnuz SMALL
RM_TYPES(float8_e8m0fnu, float, uint8_t)
#define RM_KIND_float8_e8m0fnu SMALL
RM_TYPES(float6_e2m3fn, float, uint8_t)
#define RM_KIND_float6_e2m3fn FINITE
RM_TYPES(float6_e3m2fn, float, uint8_t)
#define RM_KIND_float6_e3m2fn FINITE
RM_TYPES(float4_e2m1fn, float, uint8_t)
#define RM_KIND_float4_e2m1fn FINITE

/* ----------------------------------------------------------------------------------------- the dtypes that are used */

/* RM_IF_USED(D, text): the text where RM_USE_D is defined (empty or 1), else nothing. */
#ifdef RM_USE_ALL
#define RM_IF_USED(D, ...) __VA_ARGS__
#else
#define RM_IF_USED(D, ...) RM_IF_USED_1(RM_USE_##D, __VA_ARGS__)
#define RM_IF_USED_1(flag, ...) RM_IF_USED_2(flag, __VA_ARGS__)
#define RM_IF_USED_2(flag, ...) RM_IF_USED_3(RM_DEFINED_##flag, __VA_ARGS__)
#define RM_IF_USED_3(hit, ...) RM_IF_USED_4(hit RM_EMIT, RM_OMIT, 0)(__VA_ARGS__)
#define RM_IF_USED_4(ignored, chosen, ...) chosen
#define RM_DEFINED_ 0,
#define RM_DEFINED_1 0,
#define RM_EMIT(...) __VA_ARGS__
#define RM_OMIT(...)
#endif

/* F(D) for each used dtype of a family. bool is in none: stdbool.h makes it a macro, so its helpers stand alone. */
#define RM_EACH_NARROW_SIGNED(F)                                                        \
  RM_IF_USED(int1, F(int1)) RM_IF_USED(int2, F(int2)) RM_IF_USED(int4, F(int4))         \
  RM_IF_USED(int8, F(int8)) RM_IF_USED(int16, F(int16))
#define RM_EACH_NARROW_UNSIGNED(F)                                                      \
  RM_IF_USED(uint1, F(uint1)) RM_IF_USED(uint2, F(uint2)) RM_IF_USED(uint4, F(uint4))   \
  RM_IF_USED(uint8, F(uint8)) RM_IF_USED(uint16, F(uint16))
#define RM_EACH_WIDE_SIGNED(F) RM_IF_USED(int32, F(int32)) RM_IF_USED(int64, F(int64))
#define RM_EACH_WIDE_UNSIGNED(F) RM_IF_USED(uint32, F(uint32)) RM_IF_USED(uint64, F(uint64))
#define RM_EACH_SIGNED(F) RM_EACH_NARROW_SIGNED(F) RM_EACH_WIDE_SIGNED(F)
#define RM_EACH_UNSIGNED(F) RM_EACH_NARROW_UNSIGNED(F) RM_EACH_WIDE_UNSIGNED(F)
#define RM_EACH_WIDE(F) RM_EACH_WIDE_SIGNED(F) RM_EACH_WIDE_UNSIGNED(F)
#define RM_EACH_INT(F) RM_EACH_SIGNED(F) RM_EACH_UNSIGNED(F)

/* Floats of 16 bits and more; of 8 bits and less, of these the ones without NaN (NUM-004) and without -0. */
#define RM_EACH_LARGE_FLOAT(F)                                                          \
  RM_IF_USED(float64, F(float64)) RM_IF_USED(float32, F(float32))                       \
  RM_IF_USED(float16, F(float16)) RM_IF_USED(bfloat16, F(bfloat16))
#define RM_EACH_FINITE_FLOAT(F)                                                         \
  RM_IF_USED(float6_e2m3fn, F(float6_e2m3fn)) RM_IF_USED(float6_e3m2fn, F(float6_e3m2fn)) \
  RM_IF_USED(float4_e2m1fn, F(float4_e2m1fn))
#define RM_EACH_SIGNED_FLOAT8(F)                                                        \
  RM_IF_USED(float8_e3m4, F(float8_e3m4)) RM_IF_USED(float8_e4m3, F(float8_e4m3))       \
  RM_IF_USED(float8_e4m3fn, F(float8_e4m3fn)) RM_IF_USED(float8_e5m2, F(float8_e5m2))   \
  RM_IF_USED(float8_e8m0fnu, F(float8_e8m0fnu))
#define RM_EACH_FNUZ_FLOAT(F)                                                           \
  RM_IF_USED(float8_e4m3b11fnuz, F(float8_e4m3b11fnuz))                                 \
  RM_IF_USED(float8_e4m3fnuz, F(float8_e4m3fnuz)) RM_IF_USED(float8_e5m2fnuz, F(float8_e5m2fnuz))
#define RM_EACH_SMALL_FLOAT(F) RM_EACH_SIGNED_FLOAT8(F) RM_EACH_FNUZ_FLOAT(F) RM_EACH_FINITE_FLOAT(F)
#define RM_EACH_FLOAT(F) RM_EACH_LARGE_FLOAT(F) RM_EACH_SMALL_FLOAT(F)
#define RM_EACH_NUMBER(F) RM_EACH_INT(F) RM_EACH_FLOAT(F)

#endif
