#include "CSeal.h"

#include <string.h>

/* The fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

typedef struct hash {
  uint32_t state[8];
  uint64_t count;
  uint8_t block[64];
} hash;

static uint32_t turn(uint32_t value, int by) { return value >> by | value << (32 - by); }

static void begin(hash *h) {
  static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memcpy(h->state, start, sizeof start);
  h->count = 0;
}

static void mix(hash *h) {
  uint32_t w[64], s[8];
  for (int i = 0; i < 16; i++) {
    const uint8_t *at = h->block + 4 * i;
    w[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
  }
  for (int i = 16; i < 64; i++) {
    uint32_t a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
    uint32_t b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + a + w[i - 7] + b;
  }
  memcpy(s, h->state, sizeof s);
  for (int i = 0; i < 64; i++) {
    uint32_t e = turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25);
    uint32_t one = s[7] + e + ((s[4] & s[5]) ^ (~s[4] & s[6])) + K[i] + w[i];
    uint32_t a = turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22);
    uint32_t two = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    for (int j = 7; j > 0; j--) s[j] = s[j - 1];
    s[4] += one;
    s[0] = one + two;
  }
  for (int i = 0; i < 8; i++) h->state[i] += s[i];
}

static void take(hash *h, const uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    h->block[h->count++ % 64] = bytes[i];
    if (h->count % 64 == 0) mix(h);
  }
}

static void end(hash *h, uint8_t *digest) {
  static const uint8_t one = 0x80, zero = 0;
  uint64_t bits = h->count * 8;
  uint8_t length[8];
  for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
  take(h, &one, 1);
  while (h->count % 64 != 56) take(h, &zero, 1);
  take(h, length, sizeof length);
  for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}

void seal_hmac(const uint8_t *key, const uint8_t *bytes, size_t count, uint8_t *tag) {
  uint8_t inner[64] = {0}, outer[64] = {0}, digest[32];
  memcpy(inner, key, 32);
  memcpy(outer, key, 32);
  for (int i = 0; i < 64; i++) {
    inner[i] ^= 0x36;
    outer[i] ^= 0x5c;
  }
  hash h;
  begin(&h);
  take(&h, inner, sizeof inner);
  take(&h, bytes, count);
  end(&h, digest);
  begin(&h);
  take(&h, outer, sizeof outer);
  take(&h, digest, sizeof digest);
  end(&h, tag);
}
