#define RM_USE_float32
#include "rm_guard.h"
#include "rm_dtypes.h"

/* gemm.py:3, gemm */
int64_t f0_gemm(rm_run *const run, const rm_float32_cell *restrict const A, const rm_float32_cell *restrict const B, rm_float32_cell *restrict const C, uint8_t *restrict const C_written) {
  int64_t status = RM_DONE;
  if (rm_overlap(A, 128, C, 64)) return RM_OVERLAP;
  if (rm_overlap(B, 128, C, 64)) return RM_OVERLAP;
  const bool scarce = RM_SCARCE(INT64_C(148));
  RM_PAY(scarce ? 0 : INT64_C(148));
  for (int64_t i = 0; i < 4; ++i) {                                          /* gemm.py:4 */
    if (RM_UNLIKELY(scarce)) RM_PAY(1);
    for (int64_t j = 0; j < 4; ++j) {                                        /* gemm.py:4 */
      if (RM_UNLIKELY(scarce)) RM_PAY(1);
      for (int64_t k = 0; k < 8; ++k) {                                      /* gemm.py:4 */
        if (RM_UNLIKELY(scarce)) RM_PAY(1);
        /* block C */
        const int64_t vi = i;
        RM_CHECK(RM_WITHIN(vi, 4), 1);                                       /* gemm.py:4, axis vi is in its domain */
        const int64_t vj = j;
        RM_CHECK(RM_WITHIN(vj, 4), 2);                                       /* gemm.py:4, axis vj is in its domain */
        const int64_t vk = k;
        RM_CHECK(RM_WITHIN(vk, 8), 3);                                       /* gemm.py:4, axis vk is in its domain */
        if (vk == 0) {                                                       /* gemm.py:8, init */
          RM_CHECK(RM_WITHIN(vi, 4), 4);                                     /* gemm.py:8, axis 0 of C is in bounds */
          RM_CHECK(RM_WITHIN(vj, 4), 5);                                     /* gemm.py:8, axis 1 of C is in bounds */
          const int64_t t = vi * 4 + vj;
          C[t] = 0.0f;                                                       /* gemm.py:8 */
          C_written[t] = 1;
        }
        RM_CHECK(RM_WITHIN(vi, 4), 6);                                       /* gemm.py:9, axis 0 of C is in bounds */
        RM_CHECK(RM_WITHIN(vj, 4), 7);                                       /* gemm.py:9, axis 1 of C is in bounds */
        const int64_t t_1 = vi * 4 + vj;
        RM_CHECK(C_written[t_1], 8);                                         /* gemm.py:9, the element of C is initialised */
        RM_CHECK(RM_WITHIN(vi, 4), 9);                                       /* gemm.py:9, axis 0 of A is in bounds */
        RM_CHECK(RM_WITHIN(vk, 8), 10);                                      /* gemm.py:9, axis 1 of A is in bounds */
        RM_CHECK(RM_WITHIN(vk, 8), 11);                                      /* gemm.py:9, axis 0 of B is in bounds */
        RM_CHECK(RM_WITHIN(vj, 4), 12);                                      /* gemm.py:9, axis 1 of B is in bounds */
        RM_CHECK(RM_WITHIN(vi, 4), 13);                                      /* gemm.py:9, axis 0 of C is in bounds */
        RM_CHECK(RM_WITHIN(vj, 4), 14);                                      /* gemm.py:9, axis 1 of C is in bounds */
        const int64_t t_2 = vi * 4 + vj;
        C[t_2] = C[t_1] + (A[vi * 8 + vk] * B[vk * 4 + vj]);                 /* gemm.py:9 */
        C_written[t_2] = 1;
      }
    }
  }
leave: RM_UNUSED;
  return status;
}
