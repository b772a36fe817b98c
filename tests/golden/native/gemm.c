#define RM_USE_float32
#include "rm_guard.h"
#include "rm_dtypes.h"

/* gemm.py:3, gemm */
int64_t f0_gemm(rm_run *const run, const rm_float32_cell *restrict const A, const rm_float32_cell *restrict const B, rm_float32_cell *restrict const C) {
  int64_t status = RM_DONE;
  if (rm_overlap(A, 128, C, 64)) return RM_OVERLAP;
  if (rm_overlap(B, 128, C, 64)) return RM_OVERLAP;
  RM_PAY(INT64_C(148));
  for (int64_t i = 0; i < 4; ++i) {                                          /* gemm.py:4 */
    for (int64_t j = 0; j < 4; ++j) {                                        /* gemm.py:4 */
      for (int64_t k = 0; k < 8; ++k) {                                      /* gemm.py:4 */
        /* block C */
        const int64_t vi = i;
        const int64_t vj = j;
        const int64_t vk = k;
        if (vk == 0) {                                                       /* gemm.py:8, init */
          C[vi * 4 + vj] = 0.0f;                                             /* gemm.py:8 */
        }
        C[vi * 4 + vj] = C[vi * 4 + vj] + (A[vi * 8 + vk] * B[vk * 4 + vj]); /* gemm.py:9 */
      }
    }
  }
leave: RM_UNUSED;
  return status;
}
