#define _GNU_SOURCE

#include "CFuzzer.h"

#include <sys/mman.h>

int fuzzer_memory_file(void) { return memfd_create("input", 0); }
