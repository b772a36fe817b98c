#define RM_USE_float32
#define RM_USE_int32
#include "rm_guard.h"
#include "rm_dtypes.h"
#include "rm_arith.h"
#include "rm_transcendental.h"

/* stencil.py:4, stencil */
int64_t f0_stencil(rm_run *const run, const rm_float32_cell *restrict const A, const rm_int32_cell *restrict const P, rm_float32_cell *restrict const O) {
  int64_t status = RM_DONE;
  if (rm_overlap(A, 64, O, 64)) return RM_OVERLAP;
  if (rm_overlap(P, 64, O, 64)) return RM_OVERLAP;
  rm_float32_cell padded[18] __attribute__((aligned(64)));                   /* stencil.py:5 */
  RM_PAY(INT64_C(18));
  for (int64_t i = 0; i < 18; ++i) {                                         /* stencil.py:6 */
    /* block pad */
    const int64_t v = i;
    padded[v] = ((1 <= v) && (v < 17)) ? A[v - 1] : 0.0f;                    /* stencil.py:9 */
  }
  RM_PAY(INT64_C(64));
  for (int64_t i_1 = 0; i_1 < 16; ++i_1) {                                   /* stencil.py:10 */
    for (int64_t r = 0; r < 3; ++r) {                                        /* stencil.py:10 */
      /* block sum */
      const int64_t v_1 = i_1;
      const int64_t k = r;
      if (k == 0) {                                                          /* stencil.py:14, init */
        O[v_1] = 0.0f;                                                       /* stencil.py:14 */
      }
      O[v_1] = O[v_1] + padded[v_1 + k];                                     /* stencil.py:15 */
    }
  }
  const bool scarce_2 = RM_SCARCE(INT64_C(32));
  RM_PAY(scarce_2 ? 0 : INT64_C(32));
  for (int64_t i_2 = 0; i_2 < 16; ++i_2) {                                   /* stencil.py:16 */
    if (RM_UNLIKELY(scarce_2)) RM_PAY(2);
    /* block gather */
    const int64_t v_2 = i_2;
    const int64_t t = P[v_2];
    RM_CHECK(RM_WITHIN(t, 16), 1);                                           /* stencil.py:19, axis 0 of A is in bounds */
    O[v_2] = rm_max_float32(O[v_2], A[t]) * rm_exp_float32(A[v_2]);          /* stencil.py:19 */
  }
leave: RM_UNUSED;
  return status;
}
