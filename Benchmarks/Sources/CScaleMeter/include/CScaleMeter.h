#ifndef CSCALEMETER_H
#define CSCALEMETER_H

#include <stdint.h>

/// How many times the calling thread has asked for memory since it started.
///
/// Linking this target puts a counter in front of the C library's allocator.
uint64_t scale_allocations_of_this_thread(void);

/// The CPU time of the calling thread in nanoseconds.
int64_t scale_thread_nanoseconds(void);

/// The process's resident memory in bytes, freed memory having been given back first.
int64_t scale_resident_bytes(void);

#endif
