#ifndef CALLOCATIONCOUNTER_H
#define CALLOCATIONCOUNTER_H

#include <stdbool.h>
#include <stdint.h>

/// Whether allocations are counted: not where a sanitizer has taken the place of the allocator.
bool allocations_are_counted(void);

/// How many times the calling thread has asked for memory since it started.
///
/// Linking this target puts a counter in front of the C library's allocator, for the tests alone.
uint64_t allocation_count_of_this_thread(void);

#endif
