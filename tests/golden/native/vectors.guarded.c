#define RM_USE_float32
#define RM_USE_int32
#define RM_USE_int8
#include "rm_guard.h"
#include "rm_dtypes.h"
#include "rm_convert.h"
#include "rm_division.h"
RM_DEFINE_CAST(int8, float32)

/* vectors.py:4, vectors */
int64_t f0_vectors(rm_run *const run, const rm_float32_cell *restrict const A, rm_float32_cell *restrict const B, uint8_t *restrict const B_written, const int64_t k_given) {
  int64_t status = RM_DONE;
  const rm_int8 k = (rm_int8)k_given;
  if (rm_overlap(A, 128, B, 128)) return RM_OVERLAP;
  const bool scarce = RM_SCARCE(INT64_C(8));
  RM_PAY(scarce ? 0 : INT64_C(8));
  for (int64_t i = 0; i < 8; ++i) {                                          /* vectors.py:5 */
    if (RM_UNLIKELY(scarce)) RM_PAY(1);
    rm_float32 lanes[4];
    for (int64_t lane = 0; lane < 4; ++lane) {                               /* vectors.py:6 */
      RM_CHECK(RM_WITHIN(i, 8), 1);                                          /* vectors.py:6, axis 0 of A is in bounds */
      const int64_t t = (int64_t)0 + lane * (int64_t)1;
      RM_CHECK(RM_WITHIN(t, 4), 2);                                          /* vectors.py:6, axis 1 of A is in bounds */
      lanes[lane] = (A[i * 4 + t] * 2.0f);
    }
    for (int64_t lane = 0; lane < 4; ++lane) {
      RM_CHECK(RM_WITHIN(i, 8), 3);                                          /* vectors.py:6, axis 0 of B is in bounds */
      const int64_t t_1 = (int64_t)0 + lane * (int64_t)1;
      RM_CHECK(RM_WITHIN(t_1, 4), 4);                                        /* vectors.py:6, axis 1 of B is in bounds */
      const int64_t t_2 = i * 4 + t_1;
      B[t_2] = lanes[lane];                                                  /* vectors.py:6 */
      B_written[t_2] = 1;
    }
  }
  const bool scarce_1 = RM_SCARCE(INT64_C(40));
  RM_PAY(scarce_1 ? 0 : INT64_C(40));
  for (int64_t i_1 = 0; i_1 < 8; ++i_1) {                                    /* vectors.py:7 */
    if (RM_UNLIKELY(scarce_1)) RM_PAY(1);
    /* block row */
    const int64_t v = i_1;
    RM_CHECK(RM_WITHIN(v, 8), 5);                                            /* vectors.py:7, axis v is in its domain */
    RM_CHECK(v >= 0 && v + 1 <= 8, 6);                                       /* vectors.py:10, the region of B is in bounds */
    RM_CHECK(0 >= 0 && 0 + 4 <= 4, 7);                                       /* vectors.py:10, the region of B is in bounds */
    const int64_t row_offset = v * 4 + 0 * 1;                                /* vectors.py:10 */
    for (int64_t j = 0; j < 4; ++j) {                                        /* vectors.py:11 */
      if (RM_UNLIKELY(scarce_1)) RM_PAY(1);
      RM_CHECK(RM_WITHIN(j, 4), 8);                                          /* vectors.py:12, axis 0 of row is in bounds */
      const int64_t t_3 = row_offset + j * 1;
      RM_CHECK(B_written[t_3], 9);                                           /* vectors.py:12, the element of row is initialised */
      if (B[t_3] < 0.0f) {                                                   /* vectors.py:12 */
        RM_CHECK(RM_WITHIN(j, 4), 10);                                       /* vectors.py:13, axis 0 of row is in bounds */
        const int64_t t_4 = row_offset + j * 1;
        RM_CHECK(B_written[t_4], 11);                                        /* vectors.py:13, the element of row is initialised */
        RM_CHECK(RM_WITHIN(j, 4), 12);                                       /* vectors.py:13, axis 0 of row is in bounds */
        const int64_t t_5 = row_offset + j * 1;
        B[t_5] = rm_div_float32(B[t_4], rm_cast_int8_float32(k));            /* vectors.py:13 */
        B_written[t_5] = 1;
      }
    }
  }
  rm_int32_cell s[1] __attribute__((aligned(64)));                           /* vectors.py:14 */
  uint8_t s_written[1] = {0};
  RM_CHECK(RM_WITHIN(0, 1), 13);                                             /* vectors.py:14, axis 0 of s is in bounds */
  s[0] = (rm_int32)0;                                                        /* vectors.py:14 */
  s_written[0] = 1;
  for (;;) {                                                                 /* vectors.py:15 */
    RM_CHECK(RM_WITHIN(0, 8), 14);                                           /* vectors.py:15, axis 0 of A is in bounds */
    RM_CHECK(RM_WITHIN(0, 4), 15);                                           /* vectors.py:15, axis 1 of A is in bounds */
    RM_CHECK(RM_WITHIN(0, 8), 16);                                           /* vectors.py:15, axis 0 of B is in bounds */
    RM_CHECK(RM_WITHIN(0, 4), 17);                                           /* vectors.py:15, axis 1 of B is in bounds */
    RM_CHECK(B_written[0], 18);                                              /* vectors.py:15, the element of B is initialised */
    if (!((A[0] < B[0]))) break;                                             /* vectors.py:15 */
    RM_PAY(1);
    RM_CHECK(RM_WITHIN(0, 8), 19);                                           /* vectors.py:16, axis 0 of B is in bounds */
    RM_CHECK(RM_WITHIN(0, 4), 20);                                           /* vectors.py:16, axis 1 of B is in bounds */
    RM_CHECK(B_written[0], 21);                                              /* vectors.py:16, the element of B is initialised */
    RM_CHECK(RM_WITHIN(0, 8), 22);                                           /* vectors.py:16, axis 0 of B is in bounds */
    RM_CHECK(RM_WITHIN(0, 4), 23);                                           /* vectors.py:16, axis 1 of B is in bounds */
    B[0] = B[0] - 1.0f;                                                      /* vectors.py:16 */
    B_written[0] = 1;
  }
leave: RM_UNUSED;
  return status;
}
