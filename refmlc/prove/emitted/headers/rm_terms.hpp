/* Elements as fingerprints: what emitted C means where each element is an expression over the arguments.
 *
 * The translation unit is the one that the C compiler gets, to the letter. Here it is C++: the types of data are classes,
 * indices and sizes stay numbers. A condition, an index or a size that depends on data has no conversion to a number, so
 * such a unit does not compile.
 *
 *   rm_term<D>            a fingerprint of 128 bits, or a number: hi is 0, lo holds its bits (a float's as a double's)
 *   rm_lanes<D, W>        W of them; a lane of a mask is a bool's fingerprint with the lowest bit of hi set
 *   rm_combined<TAG>      an operator on operands: products of 64 bits, both halves folded, under secret keys
 *   rm_trouble            why the fingerprints mean nothing: 0, nothing of the kind
 *   rm_unfolded           whether an operator on numbers alone is a symbol
 *
 * Before it, unit.hpp defines: the numbers of dtypes (RM_ID_D), of operators (RM_OP_op), rm_kept (which conversions keep
 * each value), rm_commutes (whose operands may be swapped, to the bit). */
#ifndef RM_TERMS_HPP
#define RM_TERMS_HPP

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

static uint64_t rm_secret[4]; /* set once by rm_begin */
static int64_t rm_trouble, rm_unfolded;
enum { RM_TROUBLE_MASK = 1, RM_TROUBLE_RANGE = 2 };

/* ------------------------------------------------------------------------------------------------------------- numbers */

template <int D> struct rm_native { using type = void; };
#define RM_NATIVE(D, T) template <> struct rm_native<RM_ID_##D> { using type = T; };
RM_NATIVE(bool_, bool)
RM_NATIVE(int8, int8_t)
RM_NATIVE(int16, int16_t)
RM_NATIVE(int32, int32_t)
RM_NATIVE(int64, int64_t)
RM_NATIVE(uint8, uint8_t)
RM_NATIVE(uint16, uint16_t)
RM_NATIVE(uint32, uint32_t)
RM_NATIVE(uint64, uint64_t)
RM_NATIVE(float32, float)
RM_NATIVE(float64, double)
template <int D> using rm_native_t = typename rm_native<D>::type;

template <class X> constexpr uint64_t rm_bits_of(X x) {
  if constexpr (std::is_floating_point_v<X>) {
    return x != x ? UINT64_C(0x7ff8000000000000) : std::bit_cast<uint64_t>((double)x);
  } else {
    return (uint64_t)x;
  }
}

template <class X, int D> constexpr bool rm_fits = [] {
  using N = rm_native_t<D>;
  if constexpr (std::is_same_v<N, bool>) return std::is_same_v<X, bool>;
  else if constexpr (std::is_same_v<N, float>) return !std::is_same_v<X, double>;
  else if constexpr (std::is_same_v<N, double>) return true;
  else return std::is_integral_v<X> && !std::is_same_v<X, bool>;
}();
/* Whether C may write a number of type X where data of D stands, and means it as D. */

template <int D> struct rm_term {
  uint64_t lo, hi;
  rm_term() = default;
  constexpr rm_term(uint64_t low, uint64_t high) : lo(low), hi(high) {}
  template <class X>
    requires std::is_arithmetic_v<X>
  constexpr explicit(!rm_fits<X, D>) rm_term(X x) : lo(rm_bits_of((rm_native_t<D>)x)), hi(0) {}
  bool is_number() const { return hi == 0; }
  rm_native_t<D> number() const {
    if constexpr (std::is_floating_point_v<rm_native_t<D>>) return (rm_native_t<D>)std::bit_cast<double>(lo);
    else return (rm_native_t<D>)lo;
  }
};

/* ------------------------------------------------------------------------------------------------------- fingerprints */

struct rm_pair { uint64_t lo, hi; };

static inline __attribute__((always_inline)) uint64_t rm_folded(uint64_t a, uint64_t b) {
  const unsigned __int128 product = (unsigned __int128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

template <uint64_t TAG, bool SWAPS>
static inline __attribute__((always_inline)) rm_pair rm_combined(rm_pair a, rm_pair b) {
  const uint64_t k0 = rm_secret[0] + TAG * UINT64_C(0x9e3779b97f4a7c15), k2 = rm_secret[2] + TAG * UINT64_C(0xd6e8feb86659fd93);
  const uint64_t k1 = SWAPS ? k0 : rm_secret[1] + TAG * UINT64_C(0xc2b2ae3d27d4eb4f);
  const uint64_t k3 = SWAPS ? k2 : rm_secret[3] + TAG * UINT64_C(0xa0761d6478bd642f);
  const uint64_t lo = rm_folded(a.lo ^ k0, b.lo ^ k1), hi = rm_folded(a.lo ^ a.hi ^ k2, b.lo ^ b.hi ^ k3);
  return {lo, hi < 2 ? 2 : hi & ~UINT64_C(1)};
}

constexpr uint64_t rm_tag(uint64_t op, uint64_t source, uint64_t target) { return op << 16 | source << 8 | target; }

template <uint64_t TAG, bool SWAPS> static inline rm_pair rm_folding(rm_pair a) {
  return rm_combined<TAG, SWAPS>(a, rm_pair{0, 0});
}
template <uint64_t TAG, bool SWAPS> static inline rm_pair rm_folding(rm_pair a, rm_pair b) {
  return rm_combined<TAG, SWAPS>(a, b);
}
template <uint64_t TAG, bool SWAPS, class... Rest> static inline rm_pair rm_folding(rm_pair a, rm_pair b, rm_pair c, Rest... rest) {
  return rm_folding<TAG + (UINT64_C(1) << 32), SWAPS>(rm_combined<TAG, SWAPS>(a, b), c, rest...);
}

template <int D> static inline rm_pair rm_pair_of(rm_term<D> x) { return {x.lo, x.hi}; }
template <int D> static inline rm_term<D> rm_of(rm_pair x) { return {x.lo, x.hi}; }

/* The operator OP on operands of D, as a fingerprint. */
template <int OP, int D, int R, class... Args> static inline rm_term<R> rm_symbol(Args... args) {
  return rm_of<R>(rm_folding<rm_tag(OP, D, R), rm_commutes(OP, D)>(rm_pair_of(args)...));
}

/* The same, which of numbers alone is a symbol too: C computes it, the interpreter has a number there. R is held as H. */
template <int OP, int D, int R, int H, class... Args> static inline rm_term<H> rm_row_as(Args... args) {
  if (((args.hi == 0) && ...)) rm_unfolded = 1;
  return rm_of<H>(rm_folding<rm_tag(OP, D, R), rm_commutes(OP, D)>(rm_pair_of(args)...));
}

/* ---------------------------------------------------------------------------------------------- operators with folding */

constexpr bool rm_is_float(int d) { return d == RM_ID_float32 || d == RM_ID_float64; }
constexpr bool rm_is_wide(int d) { return d == RM_ID_int32 || d == RM_ID_int64 || rm_is_float(d); }
/* The dtypes whose operators C has by itself, each meaning the operator on the dtype: narrower integers grow to int. */

template <int OP, int D> static inline __attribute__((always_inline)) rm_term<D> rm_arith(rm_term<D> a, rm_term<D> b) {
  if (__builtin_expect((a.hi | b.hi) == 0, 0)) {
    const auto x = a.number(), y = b.number();
    using N = rm_native_t<D>;
    if constexpr (rm_is_float(D)) {
      return rm_term<D>((N)(OP == RM_OP_add ? x + y : OP == RM_OP_sub ? x - y : OP == RM_OP_mul ? x * y : x / y));
    } else {
      const uint64_t u = (uint64_t)x, v = (uint64_t)y;
      return rm_term<D>((N)(OP == RM_OP_add ? u + v : OP == RM_OP_sub ? u - v : u * v));
    }
  }
  return rm_symbol<OP, D, D>(a, b);
}

template <int OP, int D> static inline rm_term<RM_ID_bool_> rm_compared(rm_term<D> a, rm_term<D> b) {
  if ((a.hi | b.hi) == 0) {
    const auto x = a.number(), y = b.number();
    return rm_term<RM_ID_bool_>(bool(OP == RM_OP_eq ? x == y : OP == RM_OP_ne ? x != y : OP == RM_OP_lt ? x < y
                                     : OP == RM_OP_le ? x <= y : OP == RM_OP_gt ? x > y : x >= y));
  }
  return rm_symbol<OP, D, RM_ID_bool_>(a, b);
}

template <int OP, int D> static inline rm_term<D> rm_extreme(rm_term<D> a, rm_term<D> b) {
  if ((a.hi | b.hi) == 0) {
    const auto x = a.number(), y = b.number();
    return OP == RM_OP_max ? (x > y ? a : b) : (x < y ? a : b);
  }
  return rm_symbol<OP, D, D>(a, b);
}

/* A division of integers; of numbers as C's own, put right where floor asks for it. */
template <int OP, int D> static inline rm_term<D> rm_divided(rm_term<D> a, rm_term<D> b) {
  if constexpr (!rm_is_float(D) && D != RM_ID_bool_) {
    if ((a.hi | b.hi) == 0 && b.lo != 0 && b.lo != ~UINT64_C(0)) {
      const auto x = a.number(), y = b.number();
      const bool off = x % y != 0 && (x < 0) != (y < 0) && (OP == RM_OP_floordiv || OP == RM_OP_floormod);
      constexpr bool is_quotient = OP == RM_OP_floordiv || OP == RM_OP_truncdiv || OP == RM_OP_div;
      return rm_term<D>((rm_native_t<D>)(is_quotient ? x / y - off : x % y + (off ? y : 0)));
    }
  }
  return rm_row_as<OP, D, D, D>(a, b);
}

template <int D> static inline rm_term<D> rm_root(rm_term<D> a) {
  if constexpr (rm_is_float(D)) {
    if (a.is_number()) return rm_term<D>(std::sqrt(a.number()));
  }
  return rm_row_as<RM_OP_sqrt, D, D, D>(a);
}

template <int D> static inline rm_term<D> rm_absolute(rm_term<D> a) {
  return rm_row_as<RM_OP_abs, D, D, D>(a);
}

template <int D> static inline rm_term<D> rm_chosen(rm_term<RM_ID_bool_> condition, rm_term<D> a, rm_term<D> b) {
  if (condition.is_number()) return condition.lo ? a : b;
  if (a.lo == b.lo && a.hi == b.hi) return a;
  if constexpr (D == RM_ID_bool_) {
    if (a.is_number() && b.is_number() && a.lo) return condition;
  }
  return rm_symbol<RM_OP_select, D, D>(condition, a, b);
}

#define RM_INFIX(symbol, OP, condition)                                                                              \
  template <int D>                                                                                                   \
    requires(condition(D))                                                                                           \
  static inline rm_term<D> operator symbol(rm_term<D> a, rm_term<D> b) { return rm_arith<OP>(a, b); }                \
  template <int D, class X>                                                                                          \
    requires(condition(D) && std::is_arithmetic_v<X> && rm_fits<X, D>)                                               \
  static inline rm_term<D> operator symbol(rm_term<D> a, X b) { return rm_arith<OP>(a, rm_exactly<D>(b)); }          \
  template <int D, class X>                                                                                          \
    requires(condition(D) && std::is_arithmetic_v<X> && rm_fits<X, D>)                                               \
  static inline rm_term<D> operator symbol(X a, rm_term<D> b) { return rm_arith<OP>(rm_exactly<D>(a), b); }
#define RM_RELATION(symbol, OP)                                                                                      \
  template <int D>                                                                                                   \
  static inline rm_term<RM_ID_bool_> operator symbol(rm_term<D> a, rm_term<D> b) { return rm_compared<OP>(a, b); }   \
  template <int D, class X>                                                                                          \
    requires(std::is_arithmetic_v<X> && rm_fits<X, D>)                                                               \
  static inline rm_term<RM_ID_bool_> operator symbol(rm_term<D> a, X b) {                                            \
    return rm_compared<OP>(a, rm_exactly<D>(b));                                                                     \
  }                                                                                                                  \
  template <int D, class X>                                                                                          \
    requires(std::is_arithmetic_v<X> && rm_fits<X, D>)                                                               \
  static inline rm_term<RM_ID_bool_> operator symbol(X a, rm_term<D> b) {                                            \
    return rm_compared<OP>(rm_exactly<D>(a), b);                                                                     \
  }
/* A number of C beside data of D; C would compute in the wider of the two, so it has to be one of D. */
template <int D, class X> static inline rm_term<D> rm_exactly(X x) {
  if (!rm_is_float(D) && (std::is_signed_v<rm_native_t<D>> ? (int64_t)(rm_native_t<D>)x != (int64_t)x
                                                           : x < 0 || (uint64_t)(rm_native_t<D>)x != (uint64_t)x)) {
    rm_trouble = RM_TROUBLE_RANGE;
  }
  return rm_term<D>(x);
}
RM_INFIX(+, RM_OP_add, rm_is_wide)
RM_INFIX(-, RM_OP_sub, rm_is_wide)
RM_INFIX(*, RM_OP_mul, rm_is_wide)
RM_INFIX(/, RM_OP_div, rm_is_float)
RM_RELATION(==, RM_OP_eq)
RM_RELATION(!=, RM_OP_ne)
RM_RELATION(<, RM_OP_lt)
RM_RELATION(<=, RM_OP_le)
RM_RELATION(>, RM_OP_gt)
RM_RELATION(>=, RM_OP_ge)

/* `And` and `Or` evaluate both sides here, neither of which has effects; run.py refuses what one side protects. */
typedef rm_term<RM_ID_bool_> rm_bool_term;
static inline rm_term<RM_ID_bool_> rm_both(rm_term<RM_ID_bool_> a, rm_term<RM_ID_bool_> b) {
  return rm_chosen(a, b, rm_term<RM_ID_bool_>(false));
}
static inline rm_term<RM_ID_bool_> rm_either(rm_term<RM_ID_bool_> a, rm_term<RM_ID_bool_> b) {
  return rm_chosen(a, rm_term<RM_ID_bool_>(true), b);
}
static inline rm_term<RM_ID_bool_> rm_negated(rm_term<RM_ID_bool_> a) {
  return a.is_number() ? rm_term<RM_ID_bool_>(a.lo == 0) : rm_symbol<RM_OP_not, RM_ID_bool_, RM_ID_bool_>(a);
}

/* --------------------------------------------------------------------------------------------------------- conversions
 *
 * float16 and bfloat16 are held as float32, as in C: rounding to them is a conversion, nothing else is. */
template <int F, int T> static inline rm_term<T> rm_converted(rm_term<F> x) {
  if constexpr (F == T) {
    return x;
  } else if constexpr (T == RM_ID_bool_) {
    return rm_compared<RM_OP_ne>(x, rm_term<F>((rm_native_t<F>)0));
  } else if constexpr (rm_kept(F, T)) {
    return {x.lo, x.hi}; /* a number is the same number in bits too: one of floats is a double's */
  } else {
    if constexpr (!rm_is_float(F) || rm_is_float(T)) {
      if (x.is_number()) return rm_term<T>((rm_native_t<T>)x.number());
    }
    return rm_row_as<RM_OP_cast, F, T, T>(x);
  }
}
/* Rounding float32 to a format of 16 bits. */
template <int T> static inline rm_term<RM_ID_float32> rm_rounded(rm_term<RM_ID_float32> x) {
  if (x.is_number()) { /* one of the format: 0, or a normal number with no digit too many */
    const double size = std::fabs((double)x.number());
    const bool is_half = T == RM_ID_float16, is_inside = is_half ? size >= 0x1p-14 && size < 65536 : size >= 0x1p-126 && size < 0x1p128;
    if (size == 0 || (is_inside && (x.lo & (is_half ? UINT64_C(0x3ffffffffff) : UINT64_C(0x1fffffffffff))) == 0)) return x;
  }
  return rm_row_as<RM_OP_cast, RM_ID_float32, T, RM_ID_float32>(x);
}

/* Where one side is a number, C may rely on it before it reads the other: that does not compile. */
static inline rm_bool_term operator&&(rm_bool_term a, rm_bool_term b) { return rm_both(a, b); }
static inline rm_bool_term operator||(rm_bool_term a, rm_bool_term b) { return rm_either(a, b); }
static inline rm_bool_term operator!(rm_bool_term a) { return rm_negated(a); }

/* Rounding anything else to it: small integers are numbers of each of them. */
template <int F, int T> static inline rm_term<RM_ID_float32> rm_made_small(rm_term<F> x) {
  if constexpr (!rm_is_float(F)) {
    if (x.is_number() && (x.lo <= 256 || (std::is_signed_v<rm_native_t<F>> && -x.lo <= 256))) return rm_term<RM_ID_float32>((float)(int64_t)x.lo);
  }
  return rm_row_as<RM_OP_cast, F, T, RM_ID_float32>(x);
}

/* ---------------------------------------------------------------------------------------------------------- obligations
 *
 * `!rm_<op>_<D>_undefined(…)` of data: where it does not hold, C leaves the call to the interpreter, whatever the form. */
struct rm_obligation {
  rm_obligation operator!() const { return *this; }
};
static inline bool rm_fails(bool holds) { return !holds; }
static inline bool rm_fails(rm_obligation) { return false; }

/* -------------------------------------------------------------------------------------------------------------- vectors */

template <int D, int W> struct rm_lanes {
  rm_term<D> lane[W];
  rm_term<D> &operator[](int64_t l) { return lane[l]; }
  const rm_term<D> &operator[](int64_t l) const { return lane[l]; }
};
template <int W> struct rm_ones { rm_term<RM_ID_bool_> lane[W]; }; /* a mask & 1 */

template <int D> static inline bool rm_is_mask(rm_term<D> x) { return x.hi & 1; }
template <int D> static inline rm_term<D> rm_masked(rm_term<RM_ID_bool_> x) { return {x.lo, x.hi | 1}; }
template <int D> static inline rm_term<RM_ID_bool_> rm_unmasked(rm_term<D> x) {
  if (x.is_number()) return rm_term<RM_ID_bool_>(x.lo != 0); /* lanes of a mask that were set to a number */
  if (!rm_is_mask(x)) rm_trouble = RM_TROUBLE_MASK;
  return {x.lo, x.hi & ~UINT64_C(1)};
}
#define RM_EACH_LANE for (int l = 0; l < W; ++l)

template <int D, int W, class F> static inline __attribute__((always_inline)) rm_lanes<D, W> rm_each(F f) {
  rm_lanes<D, W> r;
  RM_EACH_LANE r.lane[l] = f(l);
  return r;
}
#define RM_INFIX_LANES(symbol, OP)                                                                                   \
  template <int D, int W> static inline rm_lanes<D, W> operator symbol(const rm_lanes<D, W> &a, const rm_lanes<D, W> &b) { \
    return rm_each<D, W>([&](int l) { return rm_arith<OP>(a.lane[l], b.lane[l]); });                                  \
  }                                                                                                                  \
  template <int D, int W, class X>                                                                                   \
    requires(std::is_convertible_v<X, rm_term<D>>)                                                                   \
  static inline rm_lanes<D, W> operator symbol(const rm_lanes<D, W> &a, X b) {                                       \
    const rm_term<D> all = b;                                                                                        \
    return rm_each<D, W>([&](int l) { return rm_arith<OP>(a.lane[l], all); });                                        \
  }                                                                                                                  \
  template <int D, int W, class X>                                                                                   \
    requires(std::is_convertible_v<X, rm_term<D>>)                                                                   \
  static inline rm_lanes<D, W> operator symbol(X a, const rm_lanes<D, W> &b) {                                       \
    const rm_term<D> all = a;                                                                                        \
    return rm_each<D, W>([&](int l) { return rm_arith<OP>(all, b.lane[l]); });                                        \
  }
RM_INFIX_LANES(+, RM_OP_add)
RM_INFIX_LANES(-, RM_OP_sub)
RM_INFIX_LANES(*, RM_OP_mul)
RM_INFIX_LANES(/, RM_OP_div)

/* The integers as wide as a lane. */
template <int D> constexpr int rm_mask_of = sizeof(rm_native_t<D>) == 1   ? RM_ID_int8
                                            : sizeof(rm_native_t<D>) == 2 ? RM_ID_int16
                                            : sizeof(rm_native_t<D>) == 4 ? RM_ID_int32
                                                                          : RM_ID_int64;
template <int OP, int D> static inline rm_term<rm_mask_of<D>> rm_mask_lane(rm_term<D> a, rm_term<D> b) {
  if (OP == RM_OP_ne && rm_is_mask(a) && b.is_number() && b.lo == 0) return {a.lo, a.hi}; /* a mask as it is */
  return rm_masked<rm_mask_of<D>>(rm_compared<OP>(a, b));
}
#define RM_RELATION_LANES(symbol, OP)                                                                                \
  template <int D, int W>                                                                                            \
  static inline rm_lanes<rm_mask_of<D>, W> operator symbol(const rm_lanes<D, W> &a, const rm_lanes<D, W> &b) {       \
    return rm_each<rm_mask_of<D>, W>([&](int l) { return rm_mask_lane<OP>(a.lane[l], b.lane[l]); });                  \
  }                                                                                                                  \
  template <int D, int W, class X>                                                                                   \
    requires(std::is_convertible_v<X, rm_term<D>>)                                                                   \
  static inline rm_lanes<rm_mask_of<D>, W> operator symbol(const rm_lanes<D, W> &a, X b) {                           \
    const rm_term<D> all = b;                                                                                        \
    return rm_each<rm_mask_of<D>, W>([&](int l) { return rm_mask_lane<OP>(a.lane[l], all); });                        \
  }                                                                                                                  \
  template <int D, int W, class X>                                                                                   \
    requires(std::is_convertible_v<X, rm_term<D>>)                                                                   \
  static inline rm_lanes<rm_mask_of<D>, W> operator symbol(X a, const rm_lanes<D, W> &b) {                           \
    const rm_term<D> all = a;                                                                                        \
    return rm_each<rm_mask_of<D>, W>([&](int l) { return rm_mask_lane<OP>(all, b.lane[l]); });                        \
  }
RM_RELATION_LANES(==, RM_OP_eq)
RM_RELATION_LANES(!=, RM_OP_ne)
RM_RELATION_LANES(<, RM_OP_lt)
RM_RELATION_LANES(<=, RM_OP_le)
RM_RELATION_LANES(>, RM_OP_gt)
RM_RELATION_LANES(>=, RM_OP_ge)

/* Bits of masks; generators write no others. */
template <int D, int W> static inline rm_lanes<D, W> operator&(const rm_lanes<D, W> &a, const rm_lanes<D, W> &b) {
  return rm_each<D, W>([&](int l) { return rm_masked<D>(rm_both(rm_unmasked(a.lane[l]), rm_unmasked(b.lane[l]))); });
}
template <int D, int W> static inline rm_lanes<D, W> operator|(const rm_lanes<D, W> &a, const rm_lanes<D, W> &b) {
  return rm_each<D, W>([&](int l) { return rm_masked<D>(rm_either(rm_unmasked(a.lane[l]), rm_unmasked(b.lane[l]))); });
}
template <int D, int W> static inline rm_lanes<D, W> operator^(const rm_lanes<D, W> &a, const rm_lanes<D, W> &b) {
  return rm_each<D, W>([&](int l) {
    return rm_masked<D>(rm_compared<RM_OP_ne>(rm_unmasked(a.lane[l]), rm_unmasked(b.lane[l])));
  });
}
template <int D, int W> static inline rm_lanes<D, W> operator~(const rm_lanes<D, W> &a) {
  return rm_each<D, W>([&](int l) { return rm_masked<D>(rm_negated(rm_unmasked(a.lane[l]))); });
}
template <int D, int W> static inline rm_ones<W> operator&(const rm_lanes<D, W> &a, int one) {
  rm_ones<W> r;
  if (one != 1) rm_trouble = RM_TROUBLE_MASK;
  RM_EACH_LANE r.lane[l] = rm_unmasked(a.lane[l]);
  return r;
}

template <int T, int F, int W> static inline rm_lanes<T, W> rm_lanes_to(const rm_lanes<F, W> &v) {
  return rm_each<T, W>([&](int l) {
    return rm_is_mask(v.lane[l]) ? rm_term<T>(v.lane[l].lo, v.lane[l].hi) : rm_converted<F, T>(v.lane[l]);
  });
}
template <int T, int W> static inline rm_lanes<T, W> rm_lanes_to(const rm_ones<W> &v) {
  return rm_each<T, W>([&](int l) { return rm_converted<RM_ID_bool_, T>(v.lane[l]); });
}
template <class V> struct rm_parts;
template <int D, int W> struct rm_parts<rm_lanes<D, W>> {
  static constexpr int dtype = D;
  static rm_lanes<D, W> load(const rm_term<D> *p) {
    return rm_each<D, W>([&](int l) { return p[l]; });
  }
  static void store(rm_term<D> *p, const rm_lanes<D, W> &v) { RM_EACH_LANE p[l] = v.lane[l]; }
};
#define RM_TO(type, ...) rm_lanes_to<rm_parts<rm_##type>::dtype>(__VA_ARGS__)
#define RM_LOAD(type, p) rm_parts<rm_##type>::load(p)
#define RM_STORE(type, p, v) rm_parts<rm_##type>::store(p, v)
#define RM_IOTA(W) RM_IOTA_##W
#define RM_IOTA_2 0, 1
#define RM_IOTA_4 RM_IOTA_2, 2, 3
#define RM_IOTA_8 RM_IOTA_4, 4, 5, 6, 7
#define RM_IOTA_16 RM_IOTA_8, 8, 9, 10, 11, 12, 13, 14, 15
#define RM_IOTA_32 RM_IOTA_16, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
#define RM_TIMES_CELL(type, v, p) ((v) * *(p))
#define RM_FETCH(p) ((void)(p))
#define RM_FETCH_TO_WRITE(p) ((void)(p))
#define RM_STREAMED() ((void)0)

template <int I, int D, int W>
static inline rm_lanes<D, W> rm_lanes_chosen(const rm_lanes<I, W> &mask, const rm_lanes<D, W> &a, const rm_lanes<D, W> &b) {
  return rm_each<D, W>([&](int l) { return rm_chosen(rm_unmasked(mask.lane[l]), a.lane[l], b.lane[l]); });
}
template <int D, int W> static inline void rm_transposed(rm_lanes<D, W> *rows) {
  for (int r = 0; r < W; ++r) {
    for (int l = 0; l < r; ++l) {
      const rm_term<D> x = rows[r].lane[l];
      rows[r].lane[l] = rows[l].lane[r], rows[l].lane[r] = x;
    }
  }
}

/* --------------------------------------------------------------------------------------- the names that C is written in */

#define RM_NAMES(D)                                                                                                  \
  typedef rm_term<RM_ID_##D> rm_##D, rm_##D##_cell;                                                                  \
  typedef rm_lanes<RM_ID_##D, 2> rm_##D##x2;                                                                         \
  typedef rm_lanes<RM_ID_##D, 4> rm_##D##x4;                                                                         \
  typedef rm_lanes<RM_ID_##D, 8> rm_##D##x8;                                                                         \
  typedef rm_lanes<RM_ID_##D, 16> rm_##D##x16;                                                                       \
  typedef rm_lanes<RM_ID_##D, 32> rm_##D##x32;                                                                       \
  typedef rm_lanes<RM_ID_##D, 64> rm_##D##x64;
RM_NAMES(int8)
RM_NAMES(int16)
RM_NAMES(int32)
RM_NAMES(int64)
RM_NAMES(uint8)
RM_NAMES(uint16)
RM_NAMES(uint32)
RM_NAMES(uint64)
RM_NAMES(float32)
RM_NAMES(float64)
#define RM_NAMES_SMALL(D)                                                                                            \
  typedef rm_float32 rm_##D, rm_##D##_cell;                                                                          \
  typedef rm_float32x2 rm_##D##x2;                                                                                   \
  typedef rm_float32x4 rm_##D##x4;                                                                                   \
  typedef rm_float32x8 rm_##D##x8;                                                                                   \
  typedef rm_float32x16 rm_##D##x16;
RM_NAMES_SMALL(float16)
RM_NAMES_SMALL(bfloat16)
typedef rm_term<RM_ID_bool_> rm_bool, rm_bool_cell;

#define RM_CELLS(D)                                                                                                  \
  static inline rm_##D rm_get_##D(const rm_##D##_cell *cells, int64_t i) { return cells[i]; }                        \
  static inline void rm_put_##D(rm_##D##_cell *cells, int64_t i, rm_##D v) { cells[i] = v; }
RM_CELLS(int8)
RM_CELLS(int16)
RM_CELLS(int32)
RM_CELLS(int64)
RM_CELLS(uint8)
RM_CELLS(uint16)
RM_CELLS(uint32)
RM_CELLS(uint64)
RM_CELLS(float32)
RM_CELLS(float64)
RM_CELLS(float16)
RM_CELLS(bfloat16)
static inline rm_bool rm_get_bool(const rm_bool_cell *cells, int64_t i) { return cells[i]; }
static inline void rm_put_bool(rm_bool_cell *cells, int64_t i, rm_bool v) { cells[i] = v; }

#define RM_VECTOR(D, W)                                                                                              \
  RM_VECTOR_CELLS(D, D, W)                                                                                           \
  RM_VECTOR_NARROW(D, W)                                                                                             \
  static inline rm_##D##x##W rm_splat_##D##x##W(rm_##D x) {                                                          \
    return rm_each<rm_parts<rm_##D##x##W>::dtype, W>([&](int) { return x; });                                        \
  }                                                                                                                  \
  static inline rm_##D##x##W rm_select_##D##x##W(const rm_lanes<rm_mask_of<rm_parts<rm_##D##x##W>::dtype>, W> &mask, \
                                                 const rm_##D##x##W &a, const rm_##D##x##W &b) {                     \
    return rm_lanes_chosen(mask, a, b);                                                                              \
  }                                                                                                                  \
  static inline rm_##D##x##W rm_max_##D##x##W(const rm_##D##x##W &a, const rm_##D##x##W &b) {                        \
    return rm_each<rm_parts<rm_##D##x##W>::dtype, W>([&](int l) { return rm_extreme<RM_OP_max>(a[l], b[l]); });       \
  }                                                                                                                  \
  static inline rm_##D##x##W rm_min_##D##x##W(const rm_##D##x##W &a, const rm_##D##x##W &b) {                        \
    return rm_each<rm_parts<rm_##D##x##W>::dtype, W>([&](int l) { return rm_extreme<RM_OP_min>(a[l], b[l]); });       \
  }                                                                                                                  \
  static inline rm_##D##x##W rm_abs_##D##x##W(const rm_##D##x##W &a) {                                               \
    return rm_each<rm_parts<rm_##D##x##W>::dtype, W>([&](int l) { return rm_absolute(a[l]); });                       \
  }
#define RM_VECTOR_CELLS(D, V, W)                                                                                     \
  static inline rm_##V##x##W rm_load_##D##x##W(const rm_##D##_cell *p) { return rm_parts<rm_##V##x##W>::load(p); }   \
  static inline void rm_store_##D##x##W(rm_##D##_cell *p, const rm_##V##x##W &v) {                                   \
    rm_parts<rm_##V##x##W>::store(p, v);                                                                             \
  }                                                                                                                  \
  static inline rm_##V##x##W rm_load_part_##D##x##W(const rm_##D##_cell *p, int64_t n) {                             \
    return rm_each<rm_parts<rm_##V##x##W>::dtype, W>([&](int l) { return l < n ? p[l] : rm_##D(0, 0); });             \
  }                                                                                                                  \
  static inline void rm_store_part_##D##x##W(rm_##D##_cell *p, const rm_##V##x##W &v, int64_t n) {                   \
    for (int64_t l = 0; l < n; ++l) p[l] = v[l];                                                                     \
  }                                                                                                                  \
  static inline rm_##V##x##W rm_gather_##D##x##W(const rm_##D##_cell *p, int64_t step, int64_t n) {                  \
    return rm_each<rm_parts<rm_##V##x##W>::dtype, W>([&](int l) { return l < n ? p[step * l] : p[0]; });              \
  }                                                                                                                  \
  static inline void rm_scatter_##D##x##W(rm_##D##_cell *p, int64_t step, const rm_##V##x##W &v, int64_t n) {        \
    for (int64_t l = 0; l < n; ++l) p[step * l] = v[l];                                                              \
  }
#define RM_VECTOR_NARROW(D, W) RM_VECTOR_NARROW_##D(D, W)
#define RM_VECTOR_NARROW_int8(D, W)
#define RM_VECTOR_NARROW_int16(D, W)
#define RM_VECTOR_NARROW_int32(D, W)
#define RM_VECTOR_NARROW_int64(D, W)
#define RM_VECTOR_NARROW_uint8(D, W)
#define RM_VECTOR_NARROW_uint16(D, W)
#define RM_VECTOR_NARROW_uint32(D, W)
#define RM_VECTOR_NARROW_uint64(D, W)
#define RM_VECTOR_NARROW_float32 RM_VECTOR_NAN
#define RM_VECTOR_NARROW_float64 RM_VECTOR_NAN
#define RM_VECTOR_NARROW_float16 RM_VECTOR_NARROWED
#define RM_VECTOR_NARROW_bfloat16 RM_VECTOR_NARROWED
#define RM_VECTOR_NAN(D, W)                                                                                          \
  static inline rm_lanes<rm_mask_of<RM_ID_##D>, W> rm_isnan_##D##x##W(const rm_##D##x##W &v) {                       \
    return rm_each<rm_mask_of<RM_ID_##D>, W>([&](int l) {                                                            \
      return rm_masked<rm_mask_of<RM_ID_##D>>(rm_row_as<RM_OP_isnan, RM_ID_##D, RM_ID_bool_, RM_ID_bool_>(v[l]));     \
    });                                                                                                              \
  }
#define RM_VECTOR_NARROWED(D, W)                                                                                     \
  static inline rm_float32x##W rm_narrow_##D##x##W(const rm_float32x##W &v) {                                        \
    return rm_each<RM_ID_float32, W>([&](int l) { return rm_rounded<RM_ID_##D>(v[l]); });                             \
  }                                                                                                                  \
  static inline rm_float32x##W rm_cast_float32_##D##x##W(const rm_float32x##W &v) { return rm_narrow_##D##x##W(v); }

/* A mask of bools: lanes of int8. */
#define RM_VECTOR_BOOL(W)                                                                                            \
  static inline rm_int8x##W rm_load_boolx##W(const rm_bool_cell *p) {                                                \
    return rm_each<RM_ID_int8, W>([&](int l) { return rm_masked<RM_ID_int8>(p[l]); });                                \
  }                                                                                                                  \
  static inline rm_int8x##W rm_load_part_boolx##W(const rm_bool_cell *p, int64_t n) {                                \
    return rm_each<RM_ID_int8, W>([&](int l) { return l < n ? rm_masked<RM_ID_int8>(p[l]) : rm_int8(0, 0); });        \
  }                                                                                                                  \
  static inline rm_int8x##W rm_gather_boolx##W(const rm_bool_cell *p, int64_t step, int64_t n) {                     \
    return rm_each<RM_ID_int8, W>([&](int l) { return rm_masked<RM_ID_int8>(l < n ? p[step * l] : p[0]); });          \
  }                                                                                                                  \
  static inline void rm_store_boolx##W(rm_bool_cell *p, const rm_int8x##W &v) { RM_STORE_BOOLS(p[l], W) }            \
  static inline void rm_store_part_boolx##W(rm_bool_cell *p, const rm_int8x##W &v, int64_t n) {                      \
    RM_STORE_BOOLS(p[l], n)                                                                                          \
  }                                                                                                                  \
  static inline void rm_scatter_boolx##W(rm_bool_cell *p, int64_t step, const rm_int8x##W &v, int64_t n) {           \
    RM_STORE_BOOLS(p[step * l], n)                                                                                   \
  }
#define RM_STORE_BOOLS(place, n) \
  for (int64_t l = 0; l < n; ++l) place = rm_unmasked(v[l]);
#define RM_VECTOR_STREAM(D, T, W, bytes)                                                                             \
  static inline int64_t rm_past_##D##x##W(const rm_##D##_cell *) { return 1; }                                       \
  static inline void rm_stream_##D##x##W(rm_##D##_cell *p, const rm_##D##x##W &v) { rm_store_##D##x##W(p, v); }
#define RM_VECTOR_COPY(D, T, W)                                                                                      \
  static inline void rm_copy_##D##x##W(rm_##D##_cell *q, const rm_##D##_cell *p, int64_t step, int64_t n) {          \
    for (int64_t l = 0; l < n; ++l) q[l] = p[step * l];                                                              \
  }
#define RM_TRANSPOSE(D, bytes, W)                                                                                    \
  static inline void rm_transpose_##D##x##W(rm_##D##x##W *rows) { rm_transposed(rows); }
#define RM_EXP_WHOLE(W)                                                                                              \
  static inline rm_float32x##W rm_exp_float32x##W(const rm_float32x##W &v) {                                         \
    return rm_each<RM_ID_float32, W>([&](int l) { return rm_row_as<RM_OP_exp, RM_ID_float32, RM_ID_float32, RM_ID_float32>(v[l]); });   \
  }
#define RM_EXP_HALVES(W, H) RM_EXP_WHOLE(W)
#define RM_DEFINE_CAST(from, to)
#define RM_DEFINE_REINTERPRET(from, to)

/* ------------------------------------------------------------------------------------------------- memory of the function */

#include "rm_guard.h"

enum { RM_BYTES = sizeof(rm_term<RM_ID_bool_>) }; /* for each byte that C counts: its least cell has one */

static inline void *rm_poisoned(size_t bytes) {
  void *const memory = std::aligned_alloc(64, (bytes * RM_BYTES + 63) & ~(size_t)63);
  if (memory) std::memset(memory, 0xfe, bytes * RM_BYTES);
  return memory;
}
#undef RM_TAKE
#define RM_TAKE(block, count_of_bytes)                                           \
  do {                                                                           \
    if (!rm_take(run, &(block), RM_BYTES * (count_of_bytes))) {                  \
      status = RM_NO_MEMORY;                                                     \
      goto leave;                                                                \
    }                                                                            \
    std::memset((block).data, 0xfe, (size_t)(RM_BYTES * (count_of_bytes)));      \
  } while (0)
#undef RM_CHECK
#define RM_CHECK(condition, number)     \
  do {                                  \
    if (rm_fails(condition)) {          \
      run->site = (number);             \
      status = RM_CHECK_FAILED;         \
      goto leave;                       \
    }                                   \
  } while (0)
struct rm_panel_byte { uint64_t lo, hi; };
/* C++ does not jump over the initialisation of a number: `goto leave` becomes `return status | leave`. What it skips gives
   memory back. (A label and a variable may have one name.) */
static const int64_t leave = 0;

/* ------------------------------------------------------------------------------------------------------ for who calls it */

extern "C" void rm_begin(const uint64_t *secret) {
  for (int i = 0; i < 4; ++i) rm_secret[i] = secret[i];
  rm_trouble = rm_unfolded = 0;
}
extern "C" int64_t rm_end(void) { return rm_trouble; }
extern "C" int64_t rm_has_unfolded(void) { return rm_unfolded; }
/* The elements of the argument `number`, in the caller's memory. */
extern "C" void rm_fill(uint64_t *cells, int64_t count, int64_t number) {
  for (int64_t i = 0; i < count; ++i) {
    const rm_pair place = {(uint64_t)i, 0}, argument = {(uint64_t)number, 0};
    const rm_pair once = rm_combined<rm_tag(RM_OP_leaf, 0, 0), false>(place, argument);
    const rm_pair twice = rm_combined<rm_tag(RM_OP_leaf, 0, 1), false>(once, argument);
    cells[2 * i] = twice.lo, cells[2 * i + 1] = twice.hi;
  }
}

#endif
