/* Arguments as Python holds them: a tuple of NumPy arrays, read without a call of Python.

   The layouts are those of CPython (PyTupleObject) and NumPy (PyArrayObject_fields), which every compiled extension
   relies on. refmlc/native/tier/layout.py declares them again, and compares them with arrays of known shape before
   anything here is called; where they differ, nothing here is called. */
#ifndef RM_PYTHON_H
#define RM_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "rm_guard.h"

typedef struct rm_object {
  int64_t references;
  const void *type;
} rm_object;

typedef struct rm_tuple {
  rm_object head;
  int64_t size;
  const void *items[];
} rm_tuple;

typedef struct rm_ndarray {
  rm_object head;
  void *data;
  int32_t rank;
  const int64_t *shape;
  const int64_t *strides;
  const void *base;
  const void *dtype;
  int32_t flags;
} rm_ndarray;

enum { RM_CONTIGUOUS = 0x0001, RM_ALIGNED = 0x0100, RM_WRITEABLE = 0x0400 };

/* A parameter: an argument is an array of this dtype (the object) and shape, with at least these flags. */
typedef struct rm_parameter {
  const void *dtype;
  const int64_t *shape;
  int32_t rank;
  int32_t flags;
} rm_parameter;

/* The parts of a call that are the same for equal shapes. fixed: pointers that are no arguments; numbers: values of
   variables; fuel, reserve, turns, look, memory: the limits of the call, as in rm_run. */
typedef struct rm_entry {
  const void *array_type;
  const rm_parameter *parameters;
  int64_t count;
  void *const *fixed;
  const int64_t *numbers;
  int64_t fuel;
  int64_t reserve;
  int64_t turns;
  int32_t (*look)(void *run);
  int64_t memory;
} rm_entry;

#define RM_RUN_OF(entry)                                                                                          \
  {.fuel = (entry)->fuel, .reserve = (entry)->reserve, .turns = (entry)->turns, .look = (entry)->look,       \
   .memory = (entry)->memory}

enum { RM_NOT_APPLICABLE = -1, RM_INTERRUPTED = -2 };

/* The addresses of the elements of the arrays in the tuple at `args`; false where one is no such array. */
#if defined __GNUC__
__attribute__((noinline, cold)) /* one copy, not unrolled: compiling it for each function takes longer than calling it */
#endif
RM_UNUSED static bool rm_arrays(const rm_entry *entry, int64_t args, void **cells) {
  const rm_tuple *const tuple = (const rm_tuple *)(intptr_t)args;
  if (tuple->size != entry->count) return false;
  for (int64_t number = 0; number < entry->count; number++) {
    const rm_object *const head = (const rm_object *)tuple->items[number];
    if (head->type != entry->array_type) return false;
    const rm_ndarray *const array = (const rm_ndarray *)tuple->items[number];
    const rm_parameter *const parameter = &entry->parameters[number];
    if (array->dtype != parameter->dtype || array->rank != parameter->rank) return false;
    if ((array->flags & parameter->flags) != parameter->flags) return false;
    for (int32_t axis = 0; axis < parameter->rank; axis++) {
      if (array->shape[axis] != parameter->shape[axis]) return false;
    }
    cells[number] = array->data;
  }
  return true;
}

/* The first address in the fresh array at `room` that 64 divides. */
RM_UNUSED static inline void *rm_fresh(int64_t room) {
  const uintptr_t data = (uintptr_t)((const rm_ndarray *)(intptr_t)room)->data;
  return (void *)((data + 63) & ~(uintptr_t)63);
}

/* The result of an entry: the steps of 256 iterations that were used, RM_NOT_APPLICABLE, or RM_INTERRUPTED. */
RM_UNUSED static inline int64_t rm_steps(const rm_entry *entry, const rm_run *run, int64_t status) {
  if (status == RM_STOPPED) return RM_INTERRUPTED;
  return status == RM_DONE ? (entry->fuel + entry->reserve - run->fuel - run->reserve) / 256 : RM_NOT_APPLICABLE;
}

#endif
