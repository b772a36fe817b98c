/* Part of rm_transcendental.h: the functions of the platform's libm, under names of our own.
 *
 *   rm_c_exp(double), rm_c_expf(float), and so on     the library's exp and expf
 *
 * A compiler that knows a function folds its calls with more digits than the library's function has, and writes x * x for
 * pow(x, 2): other bits than the interpreter's, which calls the library. Under these names it knows none of them. */
#ifndef RM_PLATFORM_H
#define RM_PLATFORM_H

#if defined __APPLE__
#define RM_SYMBOL(name) __asm__("_" name)
#else
#define RM_SYMBOL(name) __asm__(name)
#endif

/* They are functions in the mathematical sense too: nobody looks at errno or at the floating-point flags. */
#if defined __GNUC__
#define RM_PURE __attribute__((const))
#else
#define RM_PURE
#endif

#define RM_PLATFORM_1(name)                                      \
  double rm_c_##name(double) RM_SYMBOL(#name) RM_PURE;           \
  float rm_c_##name##f(float) RM_SYMBOL(#name "f") RM_PURE;
#define RM_PLATFORM_2(name)                                      \
  double rm_c_##name(double, double) RM_SYMBOL(#name) RM_PURE;   \
  float rm_c_##name##f(float, float) RM_SYMBOL(#name "f") RM_PURE;

RM_PLATFORM_1(exp)
RM_PLATFORM_1(exp2)
RM_PLATFORM_1(exp10) /* GNU's; only programs that name it call it */
RM_PLATFORM_1(log)
RM_PLATFORM_1(log2)
RM_PLATFORM_1(log10)
RM_PLATFORM_1(log1p)
RM_PLATFORM_1(sin)
RM_PLATFORM_1(cos)
RM_PLATFORM_1(tan)
RM_PLATFORM_1(sinh)
RM_PLATFORM_1(cosh)
RM_PLATFORM_1(tanh)
RM_PLATFORM_1(asin)
RM_PLATFORM_1(acos)
RM_PLATFORM_1(atan)
RM_PLATFORM_1(asinh)
RM_PLATFORM_1(acosh)
RM_PLATFORM_1(atanh)
RM_PLATFORM_1(erf)
RM_PLATFORM_2(pow)
RM_PLATFORM_2(atan2)
RM_PLATFORM_2(hypot)

#endif
