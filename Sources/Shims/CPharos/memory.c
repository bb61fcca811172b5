#include <stdlib.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "CPharos.h"

#if defined(__GLIBC__)

/*
 * Two heaps for all threads, instead of up to eight for each core.
 *
 * What one thread allocates another frees here: events go from the loops to the journal and from there to the streams,
 * checkpoints from a loop to the thread that keeps them. With a heap for nearly every thread each of them keeps the holes
 * of its own peak, and no other thread uses them: at 25,000 adverts a second 131 MB were held after nine minutes, and
 * still growing, where 61 MB in two heaps were enough. Two heaps cost the same as one and let threads avoid each other's lock; the
 * path of an advert allocates next to nothing.
 */
enum { HEAPS = 2 };

/*
 * From this size on a block is a mapping of its own, which goes back to the system when it is freed.
 *
 * Left alone the C library raises its threshold to the largest block that was ever freed, up to 32 MiB: checkpoints, the
 * index of the journal's tail and long answers then lie in the heaps and leave holes that small blocks break up.
 */
enum { OWN_MAPPING = 256 << 10 };

/* A heap that ends with more than this free gives it back. */
enum { TRIMMED = 1 << 20 };

/* Leaves to the operator what the variable of the C library says. */
static void set_unless(const char *variable, int parameter, int value) {
  if (getenv(variable) == NULL) mallopt(parameter, value);
}

void pharos_limit_heaps(void) {
  set_unless("MALLOC_ARENA_MAX", M_ARENA_MAX, HEAPS);
  set_unless("MALLOC_MMAP_THRESHOLD_", M_MMAP_THRESHOLD, OWN_MAPPING);
  set_unless("MALLOC_TRIM_THRESHOLD_", M_TRIM_THRESHOLD, TRIMMED);
}

#else

void pharos_limit_heaps(void) {}

#endif
