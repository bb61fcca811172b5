#define _GNU_SOURCE
#include "CSocketMeter.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SOL_UDP
#define SOL_UDP 17
#endif
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

/* Messages a call; datagrams and bytes a train at most (linux/udp.h; what an IPv4 packet holds). */
enum { MESSAGES = 64, TRAIN = 64, TRAIN_BYTES = 65000 };

static void wait_for_room(int descriptor) {
  struct pollfd wanted = {.fd = descriptor, .events = POLLOUT};
  poll(&wanted, 1, 1000);
}

static uint32_t smaller(uint32_t one, uint32_t other) { return one < other ? one : other; }

/* Sends up to MESSAGES trains of `train` datagrams each: how many datagrams were sent, or -errno. */
static int64_t send_some(int descriptor, const char *bytes, uint32_t length, uint32_t count, uint32_t train) {
  struct mmsghdr message[MESSAGES];
  struct iovec vector[MESSAGES];
  union {
    char bytes[CMSG_SPACE(sizeof(uint16_t))];
    struct cmsghdr head;
  } control[MESSAGES];
  memset(message, 0, sizeof message);
  uint32_t messages = 0, planned = 0;
  for (; messages < MESSAGES && planned < count; messages++) {
    uint32_t cars = smaller(train, count - planned);
    vector[messages].iov_base = (void *)(bytes + (size_t)planned * length);
    vector[messages].iov_len = (size_t)cars * length;
    struct msghdr *head = &message[messages].msg_hdr;
    head->msg_iov = &vector[messages];
    head->msg_iovlen = 1;
    if (cars > 1) {
      head->msg_control = control[messages].bytes;
      head->msg_controllen = sizeof control[messages].bytes;
      struct cmsghdr *option = CMSG_FIRSTHDR(head);
      option->cmsg_level = SOL_UDP;
      option->cmsg_type = UDP_SEGMENT;
      option->cmsg_len = CMSG_LEN(sizeof(uint16_t));
      uint16_t size = (uint16_t)length;
      memcpy(CMSG_DATA(option), &size, sizeof size);
    }
    planned += cars;
  }
  int accepted = sendmmsg(descriptor, message, messages, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (accepted < 0) return -errno;
  int64_t sent = 0;
  for (int index = 0; index < accepted; index++) sent += (int64_t)(vector[index].iov_len / length);
  return sent;
}

int64_t meter_send(int descriptor, const void *bytes, uint32_t length, uint32_t count, int segments) {
  uint32_t train = segments ? smaller(TRAIN, TRAIN_BYTES / length) : 1;
  if (train == 0) train = 1;
  int64_t sent = 0;
  while (sent < count) {
    int64_t outcome =
        send_some(descriptor, (const char *)bytes + sent * length, length, count - (uint32_t)sent, train);
    if (outcome >= 0) {
      sent += outcome;
    } else if (outcome == -EAGAIN || outcome == -ENOBUFS) {
      wait_for_room(descriptor);
    } else if (outcome != -EINTR) {
      return outcome;
    }
  }
  return sent;
}

int meter_has_segments(void) {
  int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return 0;
  int size = 0;
  socklen_t length = sizeof size;
  int known = getsockopt(descriptor, SOL_UDP, UDP_SEGMENT, &size, &length) == 0;
  close(descriptor);
  return known;
}
