#define RM_USE_float16
#include "rm_guard.h"
#include "rm_dtypes.h"
#include "rm_arith.h"

/* symbolic.py:4, scale */
int64_t f0_scale(rm_run *const run, const rm_float16_cell *restrict const A, rm_float16_cell *restrict const B, uint8_t *restrict const B_written, const double factor_given, const int64_t n) {
  int64_t status = RM_DONE;
  const rm_float16 factor = (rm_float16)factor_given;
  RM_CHECK(n >= 0 && n <= INT64_C(1099511627776), 0);
  if (rm_overlap(A, rm_times(rm_times(n, 4), 2), B, rm_times(rm_times(n, 4), 2))) return RM_OVERLAP;
  RM_PAY(n);
  for (int64_t i = 0; i < n; ++i) {                                          /* symbolic.py:8 */
    RM_PAY(INT64_C(4));
    for (int64_t j = 0; j < 4; ++j) {                                        /* symbolic.py:8 */
      if (((i * INT64_C(4)) + ((int64_t)j)) < ((n * INT64_C(4)) - 1)) {      /* symbolic.py:9, block B */
        const int64_t vi = i;
        const int64_t vj = j;
        const int64_t t = vi * 4 + vj;
        rm_put_float16(B, t, rm_mul_float16(rm_get_float16(A, vi * 4 + vj), factor)); /* symbolic.py:12 */
        B_written[t] = 1;
      }
    }
  }
leave: RM_UNUSED;
  return status;
}
