/* The state of a run, and what checked code needs: fuel, looks, memory, overlap. Struct and numbers:
   refmlc/native/unit.py. */
#ifndef RM_GUARD_H
#define RM_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RM_DONE = 0, RM_CHECK_FAILED = 1, RM_FUEL_EXHAUSTED = 2, RM_NO_MEMORY = 3, RM_OVERLAP = 4, RM_STOPPED = 5 };

/* fuel: loop iterations that may be executed until the next look whether to stop; reserve: those after it. turns: the
   same for what is paid for, in units of work. looks: how often C looked. look: says whether to stop (0: no), and sets
   anew when to look; NULL: never. memory: bytes that may still be taken. site: which check failed. result: what the
   function returned. */
typedef struct rm_run {
  int64_t fuel;
  int64_t reserve;
  int64_t turns;
  int64_t looks;
  int32_t (*look)(void *run);
  int64_t memory;
  int64_t site;
  int64_t result_int;
  double result_float;
} rm_run;

#if defined __OPTIMIZE__
#define RM_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#else /* without optimisation the hint is code of its own, at each check */
#define RM_UNLIKELY(condition) (condition)
#endif

#if defined __GNUC__
#define RM_UNUSED __attribute__((unused))
#define RM_SELDOM static __attribute__((unused, noinline)) /* called once or twice per call: not worth compiling in */
#else
#define RM_UNUSED
#define RM_SELDOM static
#endif

/* Stop when something does not hold: the caller lets the interpreter tell what. */
#define RM_CHECK(condition, number)     \
  do {                                  \
    if (RM_UNLIKELY(!(condition))) {    \
      run->site = (number);             \
      status = RM_CHECK_FAILED;         \
      goto leave;                       \
    }                                   \
  } while (0)

/* Whether to go on: RM_DONE, or why not. */
RM_SELDOM int64_t rm_go_on(rm_run *run) {
  run->fuel += run->reserve;
  run->reserve = 0;
  if (run->fuel < 0) return RM_FUEL_EXHAUSTED;
  run->turns = INT64_MAX;
  return run->look && run->look(run) ? RM_STOPPED : RM_DONE;
}

/* Whether there is too little fuel for `count` iterations. */
#define RM_SCARCE(count) (run->fuel + run->reserve < (count))

/* Pay for `count` iterations before they are executed; now and then, look whether to stop. */
#define RM_PAY(count)                                                \
  do {                                                               \
    run->fuel -= (count);                                            \
    if (RM_UNLIKELY(run->fuel < 0)) {                                \
      if ((status = rm_go_on(run)) != RM_DONE) goto leave;           \
    }                                                                \
  } while (0)

/* Before `units` of work that is paid for: now and then, look whether to stop, and then do `cleanup` first. */
#define RM_LOOK(units, cleanup)                                      \
  do {                                                               \
    run->turns -= (units);                                           \
    if (RM_UNLIKELY(run->turns < 0)) {                               \
      if ((status = rm_go_on(run)) != RM_DONE) {                     \
        cleanup;                                                     \
        goto leave;                                                  \
      }                                                              \
    }                                                                \
  } while (0)

/* Whether 0 <= index < extent. */
#define RM_WITHIN(index, extent) ((uint64_t)(index) < (uint64_t)(extent))

RM_SELDOM bool rm_overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes) {
  const uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
  return a_bytes > 0 && b_bytes > 0 && first < second + (uintptr_t)b_bytes && second < first + (uintptr_t)a_bytes;
}

/* a * b of numbers that are not negative, or the greatest number. */
RM_SELDOM int64_t rm_times(int64_t a, int64_t b) {
  return a != 0 && b > INT64_MAX / a ? INT64_MAX : a * b;
}

/* Memory on an address that 64 divides, counted against run->memory. */
typedef struct rm_block {
  void *data;
  int64_t bytes;
} rm_block;

RM_SELDOM void rm_give(rm_run *run, rm_block *block) {
  free(block->data);
  run->memory += block->bytes;
  block->data = NULL;
  block->bytes = 0;
}

RM_SELDOM bool rm_take(rm_run *run, rm_block *block, int64_t bytes) {
  rm_give(run, block);
  if (bytes > run->memory) return false;
  block->data = aligned_alloc(64, ((size_t)bytes + 64) & ~(size_t)63);
  if (!block->data) return false;
  run->memory -= bytes;
  block->bytes = bytes;
  return true;
}

/* Take memory for `block` (in place of what it holds), or leave. */
#define RM_TAKE(block, count_of_bytes)                       \
  do {                                                       \
    if (RM_UNLIKELY(!rm_take(run, &(block), (count_of_bytes)))) { \
      status = RM_NO_MEMORY;                                 \
      goto leave;                                            \
    }                                                        \
  } while (0)

#endif
