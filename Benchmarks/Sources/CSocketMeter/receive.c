#define _GNU_SOURCE
#include "CSocketMeter.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* As many datagrams a call as Pharos takes, in slots that hold what fits a network's packet. */
enum { SLOTS = 64, SLOT_BYTES = 2048 };

/* How long an empty socket is waited for before a loop gives up or looks whether it is to stop, in milliseconds. */
enum { PATIENCE = 1000, GLANCE = 20 };

struct slots {
  struct mmsghdr message[SLOTS];
  struct iovec vector[SLOTS];
  struct sockaddr_storage source[SLOTS];
  int asks_sources;
  char bytes[SLOTS][SLOT_BYTES];
};

static struct slots *make_slots(int asks_sources) {
  struct slots *slots = calloc(1, sizeof *slots);
  if (!slots) return NULL;
  for (int index = 0; index < SLOTS; index++) {
    slots->vector[index].iov_base = slots->bytes[index];
    slots->vector[index].iov_len = SLOT_BYTES;
    slots->message[index].msg_hdr.msg_iov = &slots->vector[index];
    slots->message[index].msg_hdr.msg_iovlen = 1;
    if (asks_sources) slots->message[index].msg_hdr.msg_name = &slots->source[index];
    if (asks_sources) slots->message[index].msg_hdr.msg_namelen = sizeof slots->source[index];
  }
  slots->asks_sources = asks_sources;
  return slots;
}

/* Takes and counts what there is, up to all slots: how many, 0 if there is nothing, or -errno. */
static int receive_batch(int descriptor, struct slots *slots, int maximum, meter_tally *tally) {
  int count = recvmmsg(descriptor, slots->message, (unsigned)maximum, MSG_DONTWAIT, NULL);
  tally->calls++;
  if (count < 0) return errno == EAGAIN || errno == EINTR ? 0 : -errno;
  for (int index = 0; index < count; index++) tally->bytes += slots->message[index].msg_len;
  /* The kernel wrote each address's length over the room that there is for it. */
  for (int index = 0; slots->asks_sources && index < count; index++)
    slots->message[index].msg_hdr.msg_namelen = sizeof slots->source[index];
  tally->datagrams += count;
  return count;
}

static int wait_for(int descriptor, int milliseconds) {
  struct pollfd wanted = {.fd = descriptor, .events = POLLIN};
  return poll(&wanted, 1, milliseconds);
}

static void end(meter_tally *tally, int64_t thread, int64_t wall) {
  tally->thread_nanoseconds = meter_thread_nanoseconds() - thread;
  tally->wall_nanoseconds = meter_now() - wall;
}

int meter_receive(int descriptor, int64_t datagrams, int asks_sources, meter_tally *tally) {
  struct slots *slots = make_slots(asks_sources);
  if (!slots) return -ENOMEM;
  *tally = (meter_tally){0};
  int64_t wall = meter_now(), thread = meter_thread_nanoseconds();
  int outcome = 0;
  while (tally->datagrams < datagrams) {
    int64_t left = datagrams - tally->datagrams;
    outcome = receive_batch(descriptor, slots, left < SLOTS ? (int)left : SLOTS, tally);
    if (outcome < 0 || (outcome == 0 && wait_for(descriptor, PATIENCE) <= 0)) break;
  }
  end(tally, thread, wall);
  free(slots);
  return outcome < 0 ? outcome : 0;
}

int meter_serve(int descriptor, const int32_t *stop, int asks_sources, meter_tally *tally) {
  struct slots *slots = make_slots(asks_sources);
  if (!slots) return -ENOMEM;
  *tally = (meter_tally){0};
  int64_t wall = meter_now(), thread = meter_thread_nanoseconds();
  int outcome = 0;
  for (;;) {
    outcome = receive_batch(descriptor, slots, SLOTS, tally);
    if (outcome < 0) break;
    if (outcome > 0) continue;
    if (meter_load_flag(stop)) break;
    wait_for(descriptor, GLANCE);
  }
  end(tally, thread, wall);
  free(slots);
  return outcome < 0 ? outcome : 0;
}
