/* Parts of a loop nest, each in a thread of its own: what the parts write is disjoint, and no part reads what another
   one writes.

   The threads are made for one nest and have ended when it is done: nothing runs beside the program, and a fork has one
   thread. Only the thread that calls looks at the clock and for interrupts (rm_run.look); when it is to stop, or a part
   leaves early, the others stop at their next look. Parts pay nothing: the nest is paid for before. */
#ifndef RM_THREADS_H
#define RM_THREADS_H

#include <pthread.h>
#include <time.h>

#include "rm_guard.h"

typedef const void *rm_cells;
typedef int64_t rm_part(rm_run *run, const rm_cells *cells, int64_t first, int64_t last);

#define RM_CELLS(cells, number) ((void *)(uintptr_t)(cells)[number])

enum { RM_MOST_THREADS = 256, RM_BETWEEN_LOOKS = 20000000, RM_UNITS_BETWEEN = 1 << 22 };

typedef struct rm_crew {
  pthread_mutex_t lock;
  pthread_cond_t ended;
  int64_t running;
  bool stopped;
} rm_crew;

/* One part; run is first, so that rm_look_at_crew has the whole. */
typedef struct rm_worker {
  rm_run run;
  rm_crew *crew;
  rm_part *part;
  const rm_cells *cells;
  int64_t first, last, status;
  pthread_t thread;
} rm_worker;

RM_SELDOM int32_t rm_look_at_crew(void *run) {
  rm_worker *const worker = run;
  worker->run.turns = RM_UNITS_BETWEEN;
  pthread_mutex_lock(&worker->crew->lock);
  const bool stopped = worker->crew->stopped;
  pthread_mutex_unlock(&worker->crew->lock);
  return stopped;
}

RM_SELDOM void *rm_work(void *work) {
  rm_worker *const worker = work;
  worker->status = worker->part(&worker->run, worker->cells, worker->first, worker->last);
  pthread_mutex_lock(&worker->crew->lock);
  worker->crew->running -= 1;
  if (worker->status != RM_DONE) worker->crew->stopped = true;
  pthread_cond_signal(&worker->crew->ended);
  pthread_mutex_unlock(&worker->crew->lock);
  return NULL;
}

/* Wait for the others; now and then, look whether to stop. */
RM_SELDOM int64_t rm_wait(rm_run *run, rm_crew *crew, int64_t status) {
  pthread_mutex_lock(&crew->lock);
  if (status != RM_DONE) crew->stopped = true;
  while (crew->running > 0) {
    struct timespec until;
    timespec_get(&until, TIME_UTC);
    until.tv_nsec += RM_BETWEEN_LOOKS;
    if (until.tv_nsec >= 1000000000) {
      until.tv_sec += 1;
      until.tv_nsec -= 1000000000;
    }
    if (pthread_cond_timedwait(&crew->ended, &crew->lock, &until) == 0 || crew->stopped || !run->look) continue;
    pthread_mutex_unlock(&crew->lock);
    const bool stop = run->look(run);
    pthread_mutex_lock(&crew->lock);
    if (stop) {
      crew->stopped = true;
      status = RM_STOPPED;
    }
  }
  pthread_mutex_unlock(&crew->lock);
  return status;
}

/* The parts 0 to count - 1 in threads, the first of them here. A thread that cannot be made does its part here. */
RM_SELDOM int64_t rm_in_threads(rm_run *run, rm_part *part, const rm_cells *cells, int64_t count, int64_t threads) {
  rm_worker workers[RM_MOST_THREADS];
  rm_crew crew = {.running = 0, .stopped = false};
  if (threads > count) threads = count;
  if (threads > RM_MOST_THREADS) threads = RM_MOST_THREADS;
  if (threads < 2 || pthread_mutex_init(&crew.lock, NULL) != 0) return part(run, cells, 0, count);
  if (pthread_cond_init(&crew.ended, NULL) != 0) {
    pthread_mutex_destroy(&crew.lock);
    return part(run, cells, 0, count);
  }
  int64_t made = 1;
  for (; made < threads; ++made) {
    rm_worker *const worker = &workers[made];
    *worker = (rm_worker){.run = {.fuel = INT64_MAX, .turns = RM_UNITS_BETWEEN, .look = rm_look_at_crew},
                          .crew = &crew,
                          .part = part,
                          .cells = cells,
                          .first = count * made / threads,
                          .last = count * (made + 1) / threads};
    pthread_mutex_lock(&crew.lock);
    crew.running += 1;
    pthread_mutex_unlock(&crew.lock);
    if (pthread_create(&worker->thread, NULL, rm_work, worker) != 0) {
      pthread_mutex_lock(&crew.lock);
      crew.running -= 1;
      pthread_mutex_unlock(&crew.lock);
      break;
    }
  }
  int64_t status = part(run, cells, 0, count / threads);
  if (status == RM_DONE && made < threads) status = part(run, cells, count * made / threads, count);
  status = rm_wait(run, &crew, status);
  int64_t cause = RM_DONE; /* of the others: that a part was stopped follows from what happened to another one */
  for (int64_t number = 1; number < made; ++number) {
    pthread_join(workers[number].thread, NULL);
    if (cause == RM_DONE || cause == RM_STOPPED) {
      if (workers[number].status != RM_DONE) cause = workers[number].status;
    }
  }
  if (status == RM_DONE) status = cause;
  pthread_cond_destroy(&crew.ended);
  pthread_mutex_destroy(&crew.lock);
  return status;
}

#endif
