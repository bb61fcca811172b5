#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "addresses.h"

/*
 * What the distance between slots has beyond their capacity: 33 cache lines.
 *
 * With slots a power of two apart all first lines would fall into the same few sets of the processor's caches and
 * throw each other out; an odd number of lines spreads them.
 */
enum { SLOT_SKEW = 33 * 64 };

struct slot {
  struct sockaddr_storage source;
  struct iovec vector;
};

struct pharos_drain {
  unsigned slots;
  /* How many slots the last call filled, and whether it asked for names. */
  unsigned filled;
  int names;
  size_t bytes;
  uint8_t *memory;
  struct slot *slot;
  pharos_datagram *datagram;
#if defined(__linux__)
  struct mmsghdr *message;
#else
  struct { struct msghdr msg_hdr; unsigned msg_len; } *message;
#endif
};

pharos_drain *pharos_drain_create(unsigned slots, unsigned capacity) {
  if (slots == 0 || slots > 1024 || capacity < 64 || capacity > 65536) return NULL;
  pharos_drain *drain = calloc(1, sizeof *drain);
  if (!drain) return NULL;
  size_t stride = capacity + SLOT_SKEW;
  drain->slots = slots;
  drain->bytes = stride * slots;
  drain->slot = calloc(slots, sizeof *drain->slot);
  drain->message = calloc(slots, sizeof *drain->message);
  drain->datagram = calloc(slots, sizeof *drain->datagram);
  void *memory = mmap(NULL, drain->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  drain->memory = memory == MAP_FAILED ? NULL : memory;
  if (!drain->slot || !drain->message || !drain->datagram || !drain->memory) {
    pharos_drain_destroy(drain);
    return NULL;
  }
  for (unsigned index = 0; index < slots; index++) {
    struct slot *slot = &drain->slot[index];
    slot->vector.iov_base = drain->memory + stride * index;
    slot->vector.iov_len = capacity;
    drain->datagram[index].bytes = slot->vector.iov_base;
    struct msghdr *header = &drain->message[index].msg_hdr;
    header->msg_iov = &slot->vector;
    header->msg_iovlen = 1;
  }
  return drain;
}

void pharos_drain_destroy(pharos_drain *drain) {
  if (!drain) return;
  if (drain->memory) munmap(drain->memory, drain->bytes);
  free(drain->slot);
  free(drain->message);
  free(drain->datagram);
  free(drain);
}

/* Makes all slots ask for names, or none. */
static void ask_for_names(pharos_drain *drain, int names) {
  for (unsigned index = 0; index < drain->slots; index++) {
    struct msghdr *header = &drain->message[index].msg_hdr;
    header->msg_name = names ? &drain->slot[index].source : NULL;
    header->msg_namelen = names ? sizeof drain->slot[index].source : 0;
  }
  drain->names = names;
}

int pharos_drain_receive(pharos_drain *drain, int descriptor, int names) {
  if (drain->names != names) {
    ask_for_names(drain, names);
  } else if (names) {
    /* The kernel wrote the lengths of the addresses of the last call over the room that there is for them. */
    for (unsigned index = 0; index < drain->filled; index++)
      drain->message[index].msg_hdr.msg_namelen = sizeof drain->slot[index].source;
  }
  drain->filled = 0;
#if defined(__linux__)
  int count;
  do count = recvmmsg(descriptor, drain->message, drain->slots, MSG_DONTWAIT, NULL);
  while (count < 0 && errno == EINTR);
#else
  int count = 0;
  while (count < (int)drain->slots) {
    ssize_t length = recvmsg(descriptor, &drain->message[count].msg_hdr, MSG_DONTWAIT);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) break;
    drain->message[count++].msg_len = (unsigned)length;
  }
  if (count == 0) count = -1;
#endif
  if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -errno;
  drain->filled = (unsigned)count;
  for (int index = 0; index < count; index++) {
    drain->datagram[index].length = drain->message[index].msg_len;
    drain->datagram[index].truncated = (drain->message[index].msg_hdr.msg_flags & MSG_TRUNC) != 0;
  }
  return count;
}

const pharos_datagram *pharos_drain_datagrams(const pharos_drain *drain) { return drain->datagram; }

pharos_address pharos_drain_source(const pharos_drain *drain, unsigned slot) {
  if (!drain->names) return (pharos_address){0};
  return pharos_address_from(&drain->slot[slot].source);
}
