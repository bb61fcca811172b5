#ifndef CSCALEMETER_H
#define CSCALEMETER_H

#include <stdint.h>

/// How many times the calling thread has asked for memory since it started.
///
/// Linking this target puts a counter in front of the C library's allocator.
uint64_t scale_allocations_of_this_thread(void);

/// The CPU time of the calling thread in nanoseconds.
int64_t scale_thread_nanoseconds(void);

/// The CPU time of all threads of the process in nanoseconds.
int64_t scale_process_nanoseconds(void);

/// The process's resident memory in bytes, freed memory having been given back first.
int64_t scale_resident_bytes(void);

/// What a program took from its start to its end.
struct scale_usage {
  /// Its CPU time, the kernel's part included.
  int64_t cpu_nanoseconds;
  /// The most memory that it held at a time.
  int64_t peak_bytes;
};

/// Runs a program to its end, its output and errors going to two files.
///
/// Gives its exit code, 128 and the signal's number if it was killed, or -1 if it could not be started.
int scale_run(char *const arguments[], const char *output, const char *errors, struct scale_usage *usage);

#endif
