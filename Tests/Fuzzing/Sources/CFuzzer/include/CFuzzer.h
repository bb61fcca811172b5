#pragma once

#include <stddef.h>
#include <stdint.h>

/// Runs libFuzzer with the arguments of a command line: calls `body` with one input after another.
///
/// Comes with the compiler's runtime library; see https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*body)(const uint8_t *bytes, size_t count));

/// Opens a file that lies in memory alone; negative where that cannot be done.
int fuzzer_memory_file(void);
