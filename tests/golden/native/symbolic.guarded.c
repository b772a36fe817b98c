#define RM_USE_float16
#define RM_USE_int64
#include "rm_guard.h"
#include "rm_dtypes.h"
#include "rm_arith.h"

/* symbolic.py:4, scale */
int64_t f0_scale(rm_run *const run, const rm_float16_cell *restrict const A, rm_float16_cell *restrict const B, uint8_t *restrict const B_written, const double factor_given, const int64_t n) {
  int64_t status = RM_DONE;
  const rm_float16 factor = (rm_float16)factor_given;
  RM_CHECK(n >= 0 && n <= INT64_C(1099511627776), 0);
  if (rm_overlap(A, rm_times(rm_times(n, 4), 2), B, rm_times(rm_times(n, 4), 2))) return RM_OVERLAP;
  const bool scarce = RM_SCARCE(n);
  RM_PAY(scarce ? 0 : n);
  for (int64_t i = 0; i < n; ++i) {                                          /* symbolic.py:8 */
    if (RM_UNLIKELY(scarce)) RM_PAY(1);
    const bool scarce_1 = RM_SCARCE(INT64_C(4));
    RM_PAY(scarce_1 ? 0 : INT64_C(4));
    for (int64_t j = 0; j < 4; ++j) {                                        /* symbolic.py:8 */
      if (RM_UNLIKELY(scarce_1)) RM_PAY(1);
      const rm_int64 t = INT64_C(4);
      RM_CHECK(!rm_mul_int64_undefined(i, t), 1);                            /* symbolic.py:11, mul of int64 is defined */
      const rm_int64 t_1 = rm_mul_int64(i, t);
      const rm_int64 t_2 = (int64_t)j;
      RM_CHECK(!rm_add_int64_undefined(t_1, t_2), 2);                        /* symbolic.py:11, add of int64 is defined */
      const rm_int64 t_3 = INT64_C(4);
      RM_CHECK(!rm_mul_int64_undefined(n, t_3), 3);                          /* symbolic.py:11, mul of int64 is defined */
      const rm_int64 t_4 = rm_mul_int64(n, t_3);
      RM_CHECK(!rm_sub_int64_undefined(t_4, 1), 4);                          /* symbolic.py:11, sub of int64 is defined */
      if (rm_add_int64(t_1, t_2) < rm_sub_int64(t_4, 1)) {                   /* symbolic.py:9, block B */
        const int64_t vi = i;
        RM_CHECK(RM_WITHIN(vi, n), 5);                                       /* symbolic.py:8, axis vi is in its domain */
        const int64_t vj = j;
        RM_CHECK(RM_WITHIN(vj, 4), 6);                                       /* symbolic.py:8, axis vj is in its domain */
        RM_CHECK(RM_WITHIN(vi, n), 7);                                       /* symbolic.py:12, axis 0 of A is in bounds */
        RM_CHECK(RM_WITHIN(vj, 4), 8);                                       /* symbolic.py:12, axis 1 of A is in bounds */
        RM_CHECK(RM_WITHIN(vi, n), 9);                                       /* symbolic.py:12, axis 0 of B is in bounds */
        RM_CHECK(RM_WITHIN(vj, 4), 10);                                      /* symbolic.py:12, axis 1 of B is in bounds */
        const int64_t t_5 = vi * 4 + vj;
        rm_put_float16(B, t_5, rm_mul_float16(rm_get_float16(A, vi * 4 + vj), factor)); /* symbolic.py:12 */
        B_written[t_5] = 1;
      }
    }
  }
leave: RM_UNUSED;
  return status;
}
