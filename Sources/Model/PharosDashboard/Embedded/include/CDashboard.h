#ifndef CDASHBOARD_H
#define CDASHBOARD_H

#include <stddef.h>

/// One file of the dashboard as it lies in the binary.
typedef struct {
  /// Its name within the folder Assets; never null.
  const char *_Nonnull name;
  /// Its bytes; valid as long as the program runs.
  const unsigned char *_Nonnull bytes;
  /// How many bytes there are.
  size_t size;
} cdashboard_file_t;

/// How many files there are.
size_t cdashboard_file_count(void);

/// The file of a number below `cdashboard_file_count()`.
cdashboard_file_t cdashboard_file(size_t index);

#endif
