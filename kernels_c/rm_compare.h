/* Comparisons: eq ne lt le gt ge (NUM-301), not (NUM-302), likely (NUM-303), isnan isinf isfinite (NUM-304).
 * C's comparisons are IEEE's: NaN is in no relation, and 0 equals -0. */
#ifndef RM_COMPARE_H
#define RM_COMPARE_H

#include "rm_dtypes.h"

#define RM_COMPARE(D)                                                 \
  RM_FN bool rm_eq_##D(rm_##D a, rm_##D b) { return a == b; }         \
  RM_FN bool rm_ne_##D(rm_##D a, rm_##D b) { return a != b; }         \
  RM_FN bool rm_lt_##D(rm_##D a, rm_##D b) { return a < b; }          \
  RM_FN bool rm_le_##D(rm_##D a, rm_##D b) { return a <= b; }         \
  RM_FN bool rm_gt_##D(rm_##D a, rm_##D b) { return a > b; }          \
  RM_FN bool rm_ge_##D(rm_##D a, rm_##D b) { return a >= b; }         \
  RM_FN rm_##D rm_likely_##D(rm_##D a) { return a; }
RM_EACH_NUMBER(RM_COMPARE)

RM_FN bool rm_eq_bool(bool a, bool b) { return a == b; }
RM_FN bool rm_ne_bool(bool a, bool b) { return a != b; }
RM_FN bool rm_lt_bool(bool a, bool b) { return a < b; }
RM_FN bool rm_le_bool(bool a, bool b) { return a <= b; }
RM_FN bool rm_gt_bool(bool a, bool b) { return a > b; }
RM_FN bool rm_ge_bool(bool a, bool b) { return a >= b; }
RM_FN bool rm_likely_bool(bool a) { return a; }
RM_FN bool rm_not_bool(bool a) { return !a; }

#define RM_CLASSES(D)                                                                     \
  RM_FN bool rm_isnan_##D(rm_##D a) { return a != a; }                                    \
  RM_FN bool rm_isinf_##D(rm_##D a) { return a == (rm_##D)INFINITY || a == -(rm_##D)INFINITY; } \
  RM_FN bool rm_isfinite_##D(rm_##D a) { return a - a == 0; }
RM_EACH_FLOAT(RM_CLASSES)

#endif
