#include "CYardstick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The least that monitoring can cost on this machine: one loop from the bytes of a datagram to the state of a track, with the
   arithmetic and the memory of the engine's usual path. It checks the head, decodes an iBeacon, hashes it with a key, probes a
   bucket, compares the whole identity, and keeps interval, losses, usual level, Kalman filter, signs of life, page timers and
   an allowance every 128 samples. It has no joins, untracked beacons, events, ranging, level policies or witnesses. */

enum { window = 64, page_tracks = 8, slots = 4096, bucket_entries = 16, first_advert = 36, record = 48 };

struct hot { /* one cache line: all that a usual advert reads and writes */
  uint32_t scope, tag;
  uint64_t key;
  int64_t last;
  uint64_t heard;
  float interval, usual, deviation, estimate, spread, noise;
  uint16_t samples, epoch;
  int8_t level, power;
  uint8_t runs_left, lost;
};

struct cold { /* what is brought up to date every 128 samples */
  float received, runs, lost, interval;
  uint64_t allowed;
  uint8_t rest[72];
};

struct observer {
  uint64_t id;
  int64_t latest, others_latest;
  uint64_t adverts;
  double widest, others_widest;
  uint32_t leader, votes, buckets, tracks;
  uint32_t (*table)[bucket_entries];
  struct hot **hot;
  struct cold **cold;
  int64_t *due;
};

struct item {
  const uint8_t *at;
  uint64_t hash;
  struct observer *observer;
  struct hot *track;
  int64_t time;
  uint32_t tag, scope, place;
};

struct timer {
  int64_t due;
  uint32_t observer, page;
};

struct slot {
  struct timer *timers;
  uint32_t count, room;
};

struct yardstick {
  struct observer *observers;
  uint32_t *places; /* open addressing; a place is one more than the observer's number */
  uint32_t mask, count;
  struct slot wheel[slots];
  int64_t turn;
  uint64_t scopes[1024][2];
  uint32_t scope_count;
  double sink;
};

static uint64_t fold(uint64_t left, uint64_t right) {
  unsigned __int128 product = (unsigned __int128)left * right;
  return (uint64_t)(product >> 64) ^ (uint64_t)product;
}
static uint16_t big16(const uint8_t *at) { uint16_t word; memcpy(&word, at, 2); return __builtin_bswap16(word); }
static uint32_t big32(const uint8_t *at) { uint32_t word; memcpy(&word, at, 4); return __builtin_bswap32(word); }
static uint64_t word64(const uint8_t *at) { uint64_t word; memcpy(&word, at, 8); return word; }
static uint32_t home(const struct observer *observer, uint64_t hash) {
  return (uint32_t)(((hash >> 32) * observer->buckets) >> 32);
}
static uint32_t tag_of(uint64_t hash) { return ((uint32_t)hash & 0x7FF) | 1; }

struct yardstick *yardstick_make(uint32_t observers) {
  struct yardstick *yardstick = calloc(1, sizeof *yardstick);
  uint32_t room = 64;
  while (room < observers * 2) room *= 2;
  yardstick->observers = aligned_alloc(64, (size_t)(observers + 1) * ((sizeof(struct observer) + 63) & ~(size_t)63));
  yardstick->places = calloc(room, sizeof *yardstick->places);
  yardstick->mask = room - 1;
  return yardstick;
}

static struct observer *observer_of(struct yardstick *yardstick, uint64_t id) {
  for (uint32_t slot = (uint32_t)fold(id ^ 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93);; slot++) {
    uint32_t place = yardstick->places[slot & yardstick->mask];
    if (place != 0) {
      if (yardstick->observers[place - 1].id == id) return &yardstick->observers[place - 1];
      continue;
    }
    struct observer *made = &yardstick->observers[yardstick->count++];
    memset(made, 0, sizeof *made);
    made->id = id;
    made->buckets = 1;
    made->table = aligned_alloc(64, 64);
    memset(made->table, 0, 64);
    yardstick->places[slot & yardstick->mask] = yardstick->count;
    return made;
  }
}

static uint32_t scope_of(struct yardstick *yardstick, uint64_t high, uint64_t low) {
  for (uint32_t slot = (uint32_t)fold(high ^ 0x9E37, low ^ 0xD6E8);; slot++) {
    uint64_t *entry = yardstick->scopes[slot & 1023];
    if (entry[0] == high && entry[1] == low) return (slot & 1023) + 1;
    if (entry[0] != 0) continue;
    entry[0] = high;
    entry[1] = low;
    return (slot & 1023) + 1;
  }
}

static void arm(struct yardstick *yardstick, struct observer *observer, uint32_t page, int64_t due) {
  if (due >= observer->due[page]) return;
  observer->due[page] = due;
  struct slot *slot = &yardstick->wheel[(due >> 22) & (slots - 1)];
  if (slot->count == slot->room) {
    slot->room = slot->room * 2 + 4;
    slot->timers = realloc(slot->timers, slot->room * sizeof *slot->timers);
  }
  slot->timers[slot->count++] = (struct timer){due, (uint32_t)(observer - yardstick->observers), page};
}

/* A page's timer looks at its eight tracks, and is set for the first of them. */
static void fire(struct yardstick *yardstick, int64_t limit) {
  if (yardstick->turn == 0) yardstick->turn = limit >> 22;
  for (; yardstick->turn < limit >> 22; yardstick->turn++) {
    struct slot *slot = &yardstick->wheel[yardstick->turn & (slots - 1)];
    struct slot taken = *slot;
    memset(slot, 0, sizeof *slot);
    for (uint32_t number = 0; number < taken.count; number++) {
      struct timer timer = taken.timers[number];
      struct observer *observer = &yardstick->observers[timer.observer];
      if (observer->due[timer.page] != timer.due) continue;
      int64_t first = INT64_MAX;
      uint32_t left = observer->tracks - timer.page * page_tracks;
      for (uint32_t track = 0; track < left && track < page_tracks; track++) {
        int64_t due = observer->hot[timer.page][track].last + 8000000000;
        first = due < first ? due : first;
      }
      observer->due[timer.page] = INT64_MAX;
      arm(yardstick, observer, timer.page, first > timer.due + 1000000000 ? first : timer.due + 1000000000);
    }
    free(taken.timers);
  }
}

static void insert(struct observer *observer, uint64_t hash, uint32_t place) {
  for (;;) {
    uint32_t *bucket = observer->table[home(observer, hash)];
    for (int entry = 0; entry < bucket_entries; entry++) {
      if (bucket[entry] != 0) continue;
      bucket[entry] = (place + 1) << 11 | tag_of(hash);
      return;
    }
    /* Grows by a half and inserts all again. */
    observer->buckets += observer->buckets / 2 + 1;
    free(observer->table);
    observer->table = aligned_alloc(64, (size_t)observer->buckets * 64);
    memset(observer->table, 0, (size_t)observer->buckets * 64);
    uint32_t count = observer->tracks;
    observer->tracks = 0;
    for (uint32_t other = 0; other < count; other++) {
      struct hot *track = &observer->hot[other / page_tracks][other % page_tracks];
      insert(observer, fold((uint64_t)track->scope << 32 ^ track->key ^ 0x9E3779B97F4A7C15, 0xA24BAED4963EE407), other);
      observer->tracks = other + 1;
    }
    observer->tracks = count;
  }
}

static void make_track(struct yardstick *yardstick, const struct item *item) {
  struct observer *observer = item->observer;
  uint32_t place = observer->tracks, page = place / page_tracks;
  if (place % page_tracks == 0) {
    observer->hot = realloc(observer->hot, (page + 1) * sizeof *observer->hot);
    observer->cold = realloc(observer->cold, (page + 1) * sizeof *observer->cold);
    observer->due = realloc(observer->due, (page + 1) * sizeof *observer->due);
    observer->hot[page] = aligned_alloc(64, page_tracks * sizeof(struct hot));
    observer->cold[page] = aligned_alloc(32, page_tracks * sizeof(struct cold));
    observer->due[page] = INT64_MAX;
  }
  float level = (float)(int8_t)item->at[7];
  observer->hot[page][place % page_tracks] = (struct hot){
    .scope = item->scope, .tag = item->tag, .key = big32(item->at + 43), .last = item->time, .heard = 1, .interval = 1,
    .usual = level, .deviation = 2, .estimate = level, .spread = 16, .noise = 16,
    .samples = (uint16_t)(item->hash >> 20), .level = (int8_t)item->at[7], .power = (int8_t)item->at[47], .runs_left = 200,
  };
  memset(&observer->cold[page][place % page_tracks], 0, sizeof(struct cold));
  insert(observer, item->hash, place);
  observer->tracks = place + 1;
  arm(yardstick, observer, page, item->time + 8000000000);
}

/* About as expensive as the engine's: the tail of a run's length, and some sixty logarithms. */
static void allow(struct yardstick *yardstick, struct hot *track, struct cold *cold) {
  cold->received += 128;
  cold->runs += (float)(200 - track->runs_left);
  cold->lost += (float)track->lost;
  cold->interval = track->interval;
  track->runs_left = 200;
  track->lost = 0;
  double tail = (cold->runs + 0.5) / (cold->received + 4) * 86400 / cold->interval, sum = 0;
  double going = (cold->lost - cold->runs + 8) / (cold->lost + 15) * 15;
  int steps = 0;
  for (; tail > 0.006 && steps < 200; steps++, going += 0.1) tail *= going / (going + 7);
  for (int term = 1; term < 60; term++) sum += log(1 + term * tail);
  yardstick->sink += sum;
  cold->allowed = (uint64_t)(steps + 1) * (uint64_t)(cold->interval * 1000);
}

static void note_gap(int64_t time, int64_t *latest, double *widest) {
  if (time <= *latest) return;
  double gap = (double)(time - *latest);
  if (gap > 10000000 && *latest != 0) {
    double left = *widest * (1 - gap / 7.2e12);
    *widest = gap > left ? gap : left;
  }
  *latest = time;
}

static void hear(struct yardstick *yardstick, const struct item *item) {
  struct hot *track = item->track;
  uint64_t key = big32(item->at + 43);
  if (track == NULL || track->key != key || track->scope != item->scope) {
    struct observer *observer = item->observer;
    const uint32_t *bucket = observer->table[home(observer, item->hash)];
    track = NULL;
    for (int entry = 0; entry < bucket_entries && track == NULL; entry++) {
      if (bucket[entry] == 0 || (bucket[entry] & 0x7FF) != tag_of(item->hash)) continue;
      uint32_t place = (bucket[entry] >> 11) - 1;
      struct hot *other = &observer->hot[place / page_tracks][place % page_tracks];
      if (other->key == key && other->scope == item->scope) track = other;
    }
    if (track == NULL) return make_track(yardstick, item);
  }
  if (track->tag != item->tag || track->power != (int8_t)item->at[47] || track->epoch != 0) return;
  int64_t gap = item->time - track->last;
  if (gap <= 15000000) return;
  float seconds = (float)gap * 1e-9f, level = (float)(int8_t)item->at[7];
  /* The usual level. */
  float recent = (level + (float)track->level) * 0.5f;
  float share = fminf(seconds * (1.0f / 900), 1.0f / 64), most = 3 * track->deviation + 1;
  float off = fmaxf(fminf(recent - track->usual, most), -most);
  track->usual += off * share;
  track->deviation += (fabsf(off) - track->deviation) * share;
  /* One interval, or a few. */
  uint32_t intervals = 1;
  if (seconds < track->interval * 1.5f) {
    float difference = seconds - track->interval;
    if (fabsf(difference) < track->interval * 0.1f + 0.012f) track->interval += difference * (1.0f / 16);
  } else {
    float ratio = seconds / track->interval;
    intervals = ratio < 60 ? (uint32_t)(ratio + 0.5f) : 60;
    track->interval += (seconds / (float)intervals - track->interval) * (1.0f / 16) / (float)intervals;
    track->runs_left--;
    track->lost += (uint8_t)(intervals - 1);
  }
  track->heard = track->heard << intervals | 1;
  /* The Kalman filter with its measured noise. */
  float spread = track->spread + seconds * 2, innovation = level - track->estimate;
  float expected = spread + track->noise, gain = spread / expected, square = innovation * innovation;
  track->noise = fmaxf(fminf(track->noise + (fminf(square, 9 * expected) - expected) * (1.0f / 32), 100), 0.5f);
  track->estimate += gain * innovation;
  track->spread = (1 - gain) * spread;
  track->level = (int8_t)item->at[7];
  track->last = item->time;
  if ((++track->samples & 127) != 0) return;
  uint32_t place = item->place;
  allow(yardstick, track, &item->observer->cold[place / page_tracks][place % page_tracks]);
}

void yardstick_hear(
  struct yardstick *yardstick, const uint8_t *bytes, const uint32_t *starts, const int64_t *received, uint32_t count
) {
  struct item items[window + 32];
  uint64_t last_high = 0, last_low = 0;
  uint32_t scope = 0;
  if (count > 0) fire(yardstick, received[0]);
  for (uint32_t datagram = 0; datagram < count;) {
    uint32_t filled = 0;
    /* A window of whole datagrams: first all identities, then all buckets, then all tracks. */
    for (; datagram < count && filled < window - 24; datagram++) {
      const uint8_t *head = bytes + starts[datagram], *end = bytes + starts[datagram + 1];
      if (big32(head) != 0x50484152 || big16(head + 6) != end - head) continue;
      struct observer *observer = observer_of(yardstick, __builtin_bswap64(word64(head + 28)) & 0xFFFFFFFFFFFF);
      uint32_t least = UINT32_MAX, others = UINT32_MAX;
      for (const uint8_t *at = head + first_advert; at + record <= end && filled < window + 32; at += record) {
        if (at[0] != 2 || big16(at + 1) != record - 3) break;
        if ((word64(at + 18) & 0xFFFFFFFFFF00FFFF) != 0x02004CFF1A000102 || at[26] != 0x15) continue;
        uint32_t age = big32(at + 3);
        uint64_t high = word64(at + 27), low = word64(at + 35);
        if (high != last_high || low != last_low) {
          scope = scope_of(yardstick, high, low);
          last_high = high;
          last_low = low;
        }
        uint64_t hash = fold((uint64_t)scope << 32 ^ big32(at + 43) ^ 0x9E3779B97F4A7C15, 0xA24BAED4963EE407);
        uint32_t tag = (uint32_t)(word64(at + 10) * 0x9E3779B97F4A7C15 >> 32);
        least = age < least ? age : least;
        if (observer->leader == tag && observer->votes != 0) {
          observer->votes += observer->votes < 64;
        } else {
          if (observer->votes != 0) others = age < others ? age : others;
          observer->leader = observer->votes == 0 ? tag : observer->leader;
          observer->votes = observer->votes == 0 ? 1 : observer->votes - 1;
        }
        __builtin_prefetch(observer->table[home(observer, hash)]);
        items[filled++] = (struct item){
          .at = at, .hash = hash, .observer = observer, .time = received[datagram] - (int64_t)age * 1000000, .tag = tag,
          .scope = scope};
        observer->adverts++;
      }
      note_gap(received[datagram] - (int64_t)least * 1000000, &observer->latest, &observer->widest);
      if (others != UINT32_MAX) {
        note_gap(received[datagram] - (int64_t)others * 1000000, &observer->others_latest, &observer->others_widest);
      }
    }
    for (uint32_t number = 0; number < filled; number++) {
      struct item *item = &items[number];
      const uint32_t *bucket = item->observer->table[home(item->observer, item->hash)];
      uint32_t tag = tag_of(item->hash), hits = 0;
      for (int entry = 0; entry < bucket_entries; entry++) hits |= (uint32_t)((bucket[entry] & 0x7FF) == tag) << entry;
      if (hits == 0) continue;
      item->place = (bucket[__builtin_ctz(hits)] >> 11) - 1;
      item->track = &item->observer->hot[item->place / page_tracks][item->place % page_tracks];
      __builtin_prefetch(item->track, 1);
    }
    for (uint32_t number = 0; number < filled; number++) hear(yardstick, &items[number]);
  }
}
