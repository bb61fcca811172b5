#define _GNU_SOURCE
#include "CScaleMeter.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* glibc's own entry points, to which everything is passed on. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static __thread uint64_t count __attribute__((tls_model("initial-exec")));

uint64_t scale_allocations_of_this_thread(void) { return count; }

static int64_t nanoseconds_of(clockid_t clock) {
  struct timespec time;
  if (clock_gettime(clock, &time) != 0) return 0;
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t scale_thread_nanoseconds(void) { return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID); }

int64_t scale_process_nanoseconds(void) { return nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID); }

int64_t scale_resident_bytes(void) {
  malloc_trim(0);
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL) return 0;
  long long size = 0, resident = 0;
  int fields = fscanf(file, "%lld %lld", &size, &resident);
  fclose(file);
  return fields == 2 ? resident * sysconf(_SC_PAGESIZE) : 0;
}

void *malloc(size_t size) {
  count += 1;
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count += 1;
  return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
  count += 1;
  return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count += 1;
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  count += 1;
  void *memory = __libc_memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *result = memory;
  return 0;
}
