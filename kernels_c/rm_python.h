/* Entries: functions that Python calls with NumPy arrays, whose memory C learns by the array interface.

   Nothing here knows the layout of an object or is linked with Python: `rm_python` holds functions of Python's stable
   ABI, which refmlc/native/tier/array_interface.py looks up, and `rm_array` is what NumPy's array interface defines.
   Source: https://numpy.org/doc/stable/reference/arrays.interface.html, C-struct access; PEP 384. */
#ifndef RM_PYTHON_H
#define RM_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "rm_guard.h"

/* PyArrayInterface, the content of the capsule `array.__array_struct__`. */
typedef struct rm_array {
  int32_t two;
  int32_t rank;
  char kind;
  int32_t itemsize;
  int32_t flags;
  const intptr_t *shape;
  const intptr_t *strides;
  void *data;
} rm_array;

enum { RM_CONTIGUOUS = 0x0001, RM_ALIGNED = 0x0100, RM_NOT_SWAPPED = 0x0200, RM_WRITEABLE = 0x0400 };

/* Objects of Python, and functions of its stable ABI: PyObject_Type, PyObject_GetAttr, PyCapsule_GetPointer,
   Py_DecRef, PyErr_Clear, PyEval_SaveThread, PyEval_RestoreThread, PyLong_FromLongLong. array_type is numpy.ndarray,
   interface the string "__array_struct__". */
typedef struct rm_python {
  void *array_type;
  void *interface;
  void *(*type)(void *object);
  void *(*attribute)(void *object, void *name);
  void *(*pointer)(void *capsule, const char *name);
  void (*forget)(void *object);
  void (*clear)(void);
  void *(*unlock)(void);
  void (*lock)(void *thread);
  void *(*number)(long long value);
} rm_python;

/* The functions of the process; set before an entry is called. */
RM_UNUSED static const rm_python *rm_functions;

RM_UNUSED static inline void rm_use(const rm_python *functions) { rm_functions = functions; }

/* A parameter: an argument is an array of this kind and size of elements, and of this shape, with at least these flags. */
typedef struct rm_parameter {
  const int64_t *shape;
  int32_t rank;
  int32_t kind;
  int32_t itemsize;
  int32_t flags;
} rm_parameter;

/* The parts of a call that are the same for equal shapes. fixed: pointers that are no arguments; numbers: values of
   variables; busy: 1 while a call of this machine is in C, which all entries share; fuel, reserve, turns, look, memory: the limits of the call, as in rm_run. */
typedef struct rm_entry {
  const rm_parameter *parameters;
  int64_t count;
  void *const *fixed;
  const int64_t *numbers;
  int64_t *busy;
  int64_t fuel;
  int64_t reserve;
  int64_t turns;
  int32_t (*look)(void *run);
  int64_t memory;
} rm_entry;

/* The arguments of a call. */
typedef void *const *rm_args;

#define RM_RUN_OF(entry)                                                                                          \
  {.fuel = (entry)->fuel, .reserve = (entry)->reserve, .turns = (entry)->turns, .look = (entry)->look,       \
   .memory = (entry)->memory}

enum { RM_NOT_APPLICABLE = -1, RM_INTERRUPTED = -2 };

/* Whether an array is as `parameter` says. */
RM_UNUSED static inline bool rm_is_array(const rm_parameter *parameter, const rm_array *array) {
  if (array->two != 2 || array->kind != (char)parameter->kind || array->itemsize != parameter->itemsize) return false;
  if (array->rank != parameter->rank || (array->flags & parameter->flags) != parameter->flags) return false;
  for (int32_t axis = 0; axis < parameter->rank; axis++) {
    if (array->shape[axis] != parameter->shape[axis]) return false;
  }
  return true;
}

/* The address of the elements of `object`; false where it is no array as `parameter` says. */
RM_UNUSED static bool rm_elements(const rm_parameter *parameter, void *object, void **cells) {
  const rm_python *const python = rm_functions;
  void *const type = python->type(object);
  python->forget(type); /* the object holds it */
  if (type != python->array_type) return false;
  void *const capsule = python->attribute(object, python->interface);
  const rm_array *const array = capsule ? (const rm_array *)python->pointer(capsule, NULL) : NULL;
  const bool fits = array && rm_is_array(parameter, array);
  if (fits) *cells = array->data;
  if (capsule) python->forget(capsule);
  if (!array) python->clear();
  return fits;
}

/* The entry that a capsule holds. */
RM_UNUSED static inline const rm_entry *rm_entry_of(void *capsule) {
  return (const rm_entry *)rm_functions->pointer(capsule, NULL);
}

/* The addresses of the elements of the `count` arguments; false where one is no array as the entry says, or another
   call is in C. */
#if defined __GNUC__
__attribute__((noinline, cold)) /* one copy, not unrolled: compiling it for each function takes longer than calling it */
#endif
RM_UNUSED static bool rm_arrays(const rm_entry *entry, rm_args args, int64_t count, void **cells) {
  if (*entry->busy || count != entry->count) return false;
  for (int64_t number = 0; number < count; number++) {
    if (!rm_elements(&entry->parameters[number], args[number], &cells[number])) return false;
  }
  return true;
}

/* Let other threads use Python, until rm_lock. They do not begin a call of an entry: one thread at a time uses Python,
   and sees whether there is such a call. */
RM_UNUSED static inline void *rm_unlock(const rm_entry *entry) {
  *entry->busy = 1;
  return rm_functions->unlock();
}

/* Use Python again, as this thread. */
RM_UNUSED static inline void rm_lock(const rm_entry *entry, void *thread) {
  rm_functions->lock(thread);
  *entry->busy = 0;
}

/* The first address in fresh memory that 64 divides. */
RM_UNUSED static inline void *rm_fresh(void *room) { return (void *)(((uintptr_t)room + 63) & ~(uintptr_t)63); }

/* The result of an entry for Python: the steps of 256 iterations that were used, or why there is no result. */
RM_UNUSED static inline void *rm_steps(const rm_entry *entry, const rm_run *run, int64_t status) {
  const int64_t used = (entry->fuel + entry->reserve - run->fuel - run->reserve) / 256;
  return rm_functions->number(status == RM_DONE ? used : status == RM_STOPPED ? RM_INTERRUPTED : RM_NOT_APPLICABLE);
}

/* The result of an entry that does not take the arguments. */
RM_UNUSED static inline void *rm_refusal(void) { return rm_functions->number(RM_NOT_APPLICABLE); }

#endif
