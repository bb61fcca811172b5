#ifndef PHAROS_TRACK_TABLE_H
#define PHAROS_TRACK_TABLE_H

#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/* The low bits of an entry that hold its tag. */
#define PHAROS_TAG_MASK 0xFFFu

/* Asks the processor to load the cache line at an address for writing. */
static inline __attribute__((always_inline)) void pharos_prefetch(const void *address) {
  __builtin_prefetch(address, 1, 3);
}

/* Compares the tags of the 16 entries of a bucket, which is aligned to 64 bytes; bit n says that entry n has the tag. */
static inline __attribute__((always_inline)) uint32_t pharos_match(const uint32_t *bucket, uint32_t tag) {
#if defined(__SSE2__)
  const __m128i mask = _mm_set1_epi32((int)PHAROS_TAG_MASK), wanted = _mm_set1_epi32((int)tag);
  const __m128i *rows = (const __m128i *)bucket;
  const __m128i a = _mm_cmpeq_epi32(_mm_and_si128(_mm_load_si128(rows), mask), wanted);
  const __m128i b = _mm_cmpeq_epi32(_mm_and_si128(_mm_load_si128(rows + 1), mask), wanted);
  const __m128i c = _mm_cmpeq_epi32(_mm_and_si128(_mm_load_si128(rows + 2), mask), wanted);
  const __m128i d = _mm_cmpeq_epi32(_mm_and_si128(_mm_load_si128(rows + 3), mask), wanted);
  return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d)));
#elif defined(__ARM_NEON)
  static const uint16_t places[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  const uint32x4_t mask = vdupq_n_u32(PHAROS_TAG_MASK), wanted = vdupq_n_u32(tag);
  const uint16x4_t a = vmovn_u32(vceqq_u32(vandq_u32(vld1q_u32(bucket), mask), wanted));
  const uint16x4_t b = vmovn_u32(vceqq_u32(vandq_u32(vld1q_u32(bucket + 4), mask), wanted));
  const uint16x4_t c = vmovn_u32(vceqq_u32(vandq_u32(vld1q_u32(bucket + 8), mask), wanted));
  const uint16x4_t d = vmovn_u32(vceqq_u32(vandq_u32(vld1q_u32(bucket + 12), mask), wanted));
  const uint16x8_t bits = vld1q_u16(places);
  return vaddvq_u16(vandq_u16(vcombine_u16(a, b), bits)) | (uint32_t)vaddvq_u16(vandq_u16(vcombine_u16(c, d), bits)) << 8;
#else
  uint32_t hits = 0;
  for (int entry = 0; entry < 16; entry++) hits |= (uint32_t)((bucket[entry] & PHAROS_TAG_MASK) == tag) << entry;
  return hits;
#endif
}

#endif
