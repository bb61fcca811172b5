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
  unsigned filled;
  size_t bytes;
  uint8_t *memory;
  struct slot *slot;
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
  void *memory = mmap(NULL, drain->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  drain->memory = memory == MAP_FAILED ? NULL : memory;
  if (!drain->slot || !drain->message || !drain->memory) {
    pharos_drain_destroy(drain);
    return NULL;
  }
  for (unsigned index = 0; index < slots; index++) {
    struct slot *slot = &drain->slot[index];
    slot->vector.iov_base = drain->memory + stride * index;
    slot->vector.iov_len = capacity;
    struct msghdr *header = &drain->message[index].msg_hdr;
    header->msg_name = &slot->source;
    header->msg_namelen = sizeof slot->source;
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
  free(drain);
}

int pharos_drain_receive(pharos_drain *drain, int descriptor) {
  /* The kernel wrote the lengths of the addresses of the last call over the room that there is for them. */
  for (unsigned index = 0; index < drain->filled; index++)
    drain->message[index].msg_hdr.msg_namelen = sizeof drain->slot[index].source;
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
  return count;
}

pharos_datagram pharos_drain_datagram(const pharos_drain *drain, unsigned slot) {
  pharos_datagram datagram = {drain->slot[slot].vector.iov_base, drain->message[slot].msg_len, 0};
  if (drain->message[slot].msg_hdr.msg_flags & MSG_TRUNC) datagram.truncated = 1;
  return datagram;
}

pharos_address pharos_drain_source(const pharos_drain *drain, unsigned slot) {
  return pharos_address_from(&drain->slot[slot].source);
}

enum { SEND_BATCH = 64 };

int pharos_send(int descriptor, const pharos_datagram *datagrams, unsigned count) {
  unsigned sent = 0;
  while (sent < count) {
    unsigned batch = count - sent < SEND_BATCH ? count - sent : SEND_BATCH;
    int taken = 0;
#if defined(__linux__)
    struct iovec vectors[SEND_BATCH];
    struct mmsghdr messages[SEND_BATCH];
    memset(messages, 0, sizeof messages[0] * batch);
    for (unsigned index = 0; index < batch; index++) {
      vectors[index].iov_base = (void *)datagrams[sent + index].bytes;
      vectors[index].iov_len = datagrams[sent + index].length;
      messages[index].msg_hdr.msg_iov = &vectors[index];
      messages[index].msg_hdr.msg_iovlen = 1;
    }
    do taken = sendmmsg(descriptor, messages, batch, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (taken < 0 && errno == EINTR);
#else
    while (taken < (int)batch) {
      const pharos_datagram *next = &datagrams[sent + (unsigned)taken];
      if (send(descriptor, next->bytes, next->length, MSG_DONTWAIT) >= 0) taken++;
      else if (errno != EINTR) break;
    }
    if (taken == 0) taken = -1;
#endif
    if (taken < 0) return sent > 0 ? (int)sent : -errno;
    sent += (unsigned)taken;
    if ((unsigned)taken < batch) break;
  }
  return (int)sent;
}
