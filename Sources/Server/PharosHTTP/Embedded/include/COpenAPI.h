#ifndef COPENAPI_H
#define COPENAPI_H

#include <stddef.h>

/// The description of the HTTP interface.
typedef struct {
  /// Its bytes, in UTF-8.
  const unsigned char *bytes;
  /// How many there are.
  size_t size;
} copenapi_file;

/// The description of the HTTP interface; lives as long as the process.
copenapi_file copenapi_document(void);

#endif
