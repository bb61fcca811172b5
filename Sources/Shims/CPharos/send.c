#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "CPharos.h"

/* How many messages go into one call. */
enum { SEND_BATCH = 64 };

#if defined(__linux__)

/* Since Linux 4.18; the C library's headers of some systems do not name it. */
#if !defined(UDP_SEGMENT)
#define UDP_SEGMENT 103
#endif
#if !defined(SOL_UDP)
#define SOL_UDP 17
#endif

/* The kernel's limit of datagrams in a train (UDP_MAX_SEGMENTS of linux/udp.h before 6.9; it was raised since). */
enum { TRAIN_MOST = 64 };
/* The most bytes that a train may have: the longest payload of one datagram over IPv6, less its extension headers. */
enum { TRAIN_BYTES = 65000 };

/* Room for the one control message of a train, aligned as such. */
union train_control {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(uint16_t))];
};

/*
 * How many of the datagrams make a train: all of one length, but for the last, which may be shorter, and in one piece
 * of memory.
 */
static unsigned train_length(const pharos_datagram *datagrams, unsigned count, int maximum) {
  size_t total = datagrams[0].length;
  unsigned length = 1;
  if (total == 0 || total > (size_t)maximum) return 1;
  while (length < count && length < TRAIN_MOST) {
    const pharos_datagram *before = &datagrams[length - 1], *next = &datagrams[length];
    if (before->length != datagrams[0].length || next->length > before->length || next->length == 0) break;
    if ((const char *)before->bytes + before->length != (const char *)next->bytes) break;
    if (total + next->length > TRAIN_BYTES) break;
    total += next->length;
    length++;
  }
  return length;
}

/* Says how long the datagrams of a train are. */
static void mark_train(struct msghdr *message, union train_control *control, uint16_t length) {
  memset(control, 0, sizeof *control);
  message->msg_control = control;
  message->msg_controllen = sizeof control->bytes;
  struct cmsghdr *header = CMSG_FIRSTHDR(message);
  header->cmsg_level = SOL_UDP;
  header->cmsg_type = UDP_SEGMENT;
  header->cmsg_len = CMSG_LEN(sizeof length);
  memcpy(CMSG_DATA(header), &length, sizeof length);
}

/* A datagram that every route takes in one piece: IPv6 promises 1,280 bytes, less its heads. */
enum { ALWAYS_FITS = 1232 };

/*
 * How long a datagram in a train may be behind an error: EMSGSIZE and EINVAL tell that one was longer than the route
 * takes in one piece, unless it was short; all else, that the system or the card cuts up no trains.
 */
static int longest_behind(int error, int length) {
  return (error == EMSGSIZE || error == EINVAL) && length > ALWAYS_FITS ? length - 1 : 0;
}

/* Whether an error of a train may come of its being one. */
static int is_train_error(int error) {
  return error == EINVAL || error == EIO || error == EMSGSIZE || error == EOPNOTSUPP || error == ENOPROTOOPT;
}

/* Sends up to SEND_BATCH messages: how many datagrams were in those that were taken and whether that was all of them. */
static int send_batch(int descriptor, const pharos_datagram *datagrams, unsigned count, int *trains, int *all) {
  struct iovec vectors[SEND_BATCH];
  struct mmsghdr messages[SEND_BATCH];
  union train_control controls[SEND_BATCH];
  unsigned lengths[SEND_BATCH], batch = 0, next = 0;
  for (; batch < SEND_BATCH && next < count; batch++) {
    unsigned length = train_length(datagrams + next, count - next, *trains);
    struct msghdr *message = &messages[batch].msg_hdr;
    memset(&messages[batch], 0, sizeof messages[batch]);
    vectors[batch].iov_base = (void *)datagrams[next].bytes;
    vectors[batch].iov_len = 0;
    for (unsigned index = 0; index < length; index++) vectors[batch].iov_len += datagrams[next + index].length;
    message->msg_iov = &vectors[batch];
    message->msg_iovlen = 1;
    if (length > 1) mark_train(message, &controls[batch], (uint16_t)datagrams[next].length);
    lengths[batch] = length;
    next += length;
  }
  int accepted;
  do accepted = sendmmsg(descriptor, messages, batch, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (accepted < 0 && errno == EINTR);
  if (accepted < 0) {
    if (lengths[0] == 1 || !is_train_error(errno)) return -errno;
    *trains = longest_behind(errno, (int)datagrams[0].length);
    return send_batch(descriptor, datagrams, count, trains, all);
  }
  int sent = 0;
  for (int index = 0; index < accepted; index++) sent += (int)lengths[index];
  *all = (unsigned)accepted == batch;
  return sent;
}

int pharos_maximum_in_train(int descriptor) {
  int length = 0;
  socklen_t size = sizeof length;
  /* An older kernel would pass over the control message and send a train as one long datagram, so it is asked. */
  return getsockopt(descriptor, SOL_UDP, UDP_SEGMENT, &length, &size) == 0 ? TRAIN_BYTES : 0;
}

#else

int pharos_maximum_in_train(int descriptor) {
  (void)descriptor;
  return 0;
}

static int send_batch(int descriptor, const pharos_datagram *datagrams, unsigned count, int *trains, int *all) {
  unsigned batch = count < SEND_BATCH ? count : SEND_BATCH, accepted = 0;
  *trains = 0;
  while (accepted < batch) {
    if (send(descriptor, datagrams[accepted].bytes, datagrams[accepted].length, MSG_DONTWAIT) >= 0) accepted++;
    else if (errno != EINTR) break;
  }
  if (accepted == 0) return -errno;
  *all = accepted == batch;
  return (int)accepted;
}

#endif

int pharos_send(int descriptor, const pharos_datagram *datagrams, unsigned count, int *trains) {
  int none = 0, all = 1;
  unsigned sent = 0;
  while (sent < count && all) {
    int accepted = send_batch(descriptor, datagrams + sent, count - sent, trains ? trains : &none, &all);
    if (accepted < 0) return sent > 0 ? (int)sent : accepted;
    sent += (unsigned)accepted;
  }
  return (int)sent;
}
