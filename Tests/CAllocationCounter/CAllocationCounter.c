#define _GNU_SOURCE
#include "CAllocationCounter.h"

#include <errno.h>
#include <stddef.h>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)

/* A sanitizer stands there itself. */
bool allocations_are_counted(void) { return false; }

uint64_t allocation_count_of_this_thread(void) { return 0; }

#else

bool allocations_are_counted(void) { return true; }

/* glibc's own entry points, to which everything is passed on. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

/* Of each thread its own, so that tests that run beside each other do not see each other's. */
static __thread uint64_t count __attribute__((tls_model("initial-exec")));

uint64_t allocation_count_of_this_thread(void) { return count; }

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

#endif
