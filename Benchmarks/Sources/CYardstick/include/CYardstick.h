#ifndef CYARDSTICK_H
#define CYARDSTICK_H

#include <stdint.h>

/// The least that monitoring can cost on this machine: see yardstick.c.
struct yardstick;

/// Makes one for so many observers; it is kept until the process ends.
struct yardstick *yardstick_make(uint32_t observers);

/// Hears so many Pharos datagrams, which lie one behind the other.
void yardstick_hear(
  struct yardstick *yardstick, const uint8_t *bytes, const uint32_t *starts, const int64_t *received, uint32_t count
);

#endif
