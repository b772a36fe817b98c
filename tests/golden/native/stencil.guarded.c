#define RM_USE_float32
#define RM_USE_int32
#include "rm_guard.h"
#include "rm_dtypes.h"
#include "rm_arith.h"
#include "rm_transcendental.h"

/* stencil.py:4, stencil */
int64_t f0_stencil(rm_run *const run, const rm_float32_cell *restrict const A, const rm_int32_cell *restrict const P, rm_float32_cell *restrict const O, uint8_t *restrict const O_written) {
  int64_t status = RM_DONE;
  if (rm_overlap(A, 64, O, 64)) return RM_OVERLAP;
  if (rm_overlap(P, 64, O, 64)) return RM_OVERLAP;
  rm_float32_cell padded[18] __attribute__((aligned(64)));                   /* stencil.py:5 */
  uint8_t padded_written[18] = {0};
  const bool scarce = RM_SCARCE(INT64_C(18));
  RM_PAY(scarce ? 0 : INT64_C(18));
  for (int64_t i = 0; i < 18; ++i) {                                         /* stencil.py:6 */
    if (RM_UNLIKELY(scarce)) RM_PAY(1);
    /* block pad */
    const int64_t v = i;
    RM_CHECK(RM_WITHIN(v, 18), 1);                                           /* stencil.py:6, axis v is in its domain */
    rm_float32 chosen;
    if (((1 <= v) && (v < 17))) {
      RM_CHECK(!rm_sub_int32_undefined(v, 1), 2);                            /* stencil.py:9, sub of int32 is defined */
      const int64_t t = rm_sub_int32(v, 1);
      RM_CHECK(RM_WITHIN(t, 16), 3);                                         /* stencil.py:9, axis 0 of A is in bounds */
      chosen = A[t];
    }
    else {
      chosen = 0.0f;
    }
    RM_CHECK(RM_WITHIN(v, 18), 4);                                           /* stencil.py:9, axis 0 of padded is in bounds */
    padded[v] = chosen;                                                      /* stencil.py:9 */
    padded_written[v] = 1;
  }
  const bool scarce_1 = RM_SCARCE(INT64_C(64));
  RM_PAY(scarce_1 ? 0 : INT64_C(64));
  for (int64_t i_1 = 0; i_1 < 16; ++i_1) {                                   /* stencil.py:10 */
    if (RM_UNLIKELY(scarce_1)) RM_PAY(1);
    for (int64_t r = 0; r < 3; ++r) {                                        /* stencil.py:10 */
      if (RM_UNLIKELY(scarce_1)) RM_PAY(1);
      /* block sum */
      const int64_t v_1 = i_1;
      RM_CHECK(RM_WITHIN(v_1, 16), 5);                                       /* stencil.py:10, axis v is in its domain */
      const int64_t k = r;
      RM_CHECK(RM_WITHIN(k, 3), 6);                                          /* stencil.py:10, axis k is in its domain */
      if (k == 0) {                                                          /* stencil.py:14, init */
        RM_CHECK(RM_WITHIN(v_1, 16), 7);                                     /* stencil.py:14, axis 0 of O is in bounds */
        O[v_1] = 0.0f;                                                       /* stencil.py:14 */
        O_written[v_1] = 1;
      }
      RM_CHECK(RM_WITHIN(v_1, 16), 8);                                       /* stencil.py:15, axis 0 of O is in bounds */
      RM_CHECK(O_written[v_1], 9);                                           /* stencil.py:15, the element of O is initialised */
      RM_CHECK(!rm_add_int32_undefined(v_1, k), 10);                         /* stencil.py:15, add of int32 is defined */
      const int64_t t_1 = rm_add_int32(v_1, k);
      RM_CHECK(RM_WITHIN(t_1, 18), 11);                                      /* stencil.py:15, axis 0 of padded is in bounds */
      RM_CHECK(padded_written[t_1], 12);                                     /* stencil.py:15, the element of padded is initialised */
      RM_CHECK(RM_WITHIN(v_1, 16), 13);                                      /* stencil.py:15, axis 0 of O is in bounds */
      O[v_1] = O[v_1] + padded[t_1];                                         /* stencil.py:15 */
      O_written[v_1] = 1;
    }
  }
  const bool scarce_2 = RM_SCARCE(INT64_C(32));
  RM_PAY(scarce_2 ? 0 : INT64_C(32));
  for (int64_t i_2 = 0; i_2 < 16; ++i_2) {                                   /* stencil.py:16 */
    if (RM_UNLIKELY(scarce_2)) RM_PAY(2);
    /* block gather */
    const int64_t v_2 = i_2;
    RM_CHECK(RM_WITHIN(v_2, 16), 14);                                        /* stencil.py:16, axis v is in its domain */
    RM_CHECK(RM_WITHIN(v_2, 16), 15);                                        /* stencil.py:19, axis 0 of O is in bounds */
    RM_CHECK(O_written[v_2], 16);                                            /* stencil.py:19, the element of O is initialised */
    RM_CHECK(RM_WITHIN(v_2, 16), 17);                                        /* stencil.py:19, axis 0 of P is in bounds */
    const int64_t t_2 = P[v_2];
    RM_CHECK(RM_WITHIN(t_2, 16), 18);                                        /* stencil.py:19, axis 0 of A is in bounds */
    RM_CHECK(RM_WITHIN(v_2, 16), 19);                                        /* stencil.py:19, axis 0 of A is in bounds */
    RM_CHECK(RM_WITHIN(v_2, 16), 20);                                        /* stencil.py:19, axis 0 of O is in bounds */
    O[v_2] = rm_max_float32(O[v_2], A[t_2]) * rm_exp_float32(A[v_2]);        /* stencil.py:19 */
    O_written[v_2] = 1;
  }
leave: RM_UNUSED;
  return status;
}
