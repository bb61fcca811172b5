#define _GNU_SOURCE
#include "CSocketMeter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif

/* Places among the numbers of SO_MEMINFO (linux/sock_diag.h). */
enum { MEMORY_NUMBERS = 16, MEMORY_BOOKED = 0, MEMORY_DROPS = 8 };

static struct sockaddr_in loopback(uint16_t port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

static int failed(int descriptor) {
  int error = errno;
  close(descriptor);
  return -error;
}

int meter_open(uint16_t *port, int receive_buffer, int shares) {
  int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -errno;
  int yes = 1;
  if (shares && setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) < 0) return failed(descriptor);
  if (setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &receive_buffer, sizeof receive_buffer) < 0 &&
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer) < 0)
    return failed(descriptor);
  struct sockaddr_in address = loopback(*port);
  socklen_t length = sizeof address;
  if (bind(descriptor, (struct sockaddr *)&address, length) < 0) return failed(descriptor);
  if (getsockname(descriptor, (struct sockaddr *)&address, &length) < 0) return failed(descriptor);
  *port = ntohs(address.sin_port);
  return descriptor;
}

int meter_receive_buffer(int descriptor) {
  int bytes = 0;
  socklen_t length = sizeof bytes;
  if (getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, &length) < 0) return -errno;
  return bytes / 2;
}

static int64_t memory_number(int descriptor, int place) {
  uint32_t numbers[MEMORY_NUMBERS] = {0};
  socklen_t length = sizeof numbers;
  if (getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, numbers, &length) < 0) return -errno;
  return numbers[place];
}

int64_t meter_booked_bytes(int descriptor) { return memory_number(descriptor, MEMORY_BOOKED); }

int64_t meter_kernel_drops(int descriptor) { return memory_number(descriptor, MEMORY_DROPS); }

int meter_is_empty(int descriptor) {
  int next = 0;
  if (ioctl(descriptor, FIONREAD, &next) < 0) return -errno;
  return next == 0;
}

void meter_close(int descriptor) { close(descriptor); }

int meter_connect(uint16_t port) {
  int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -errno;
  int send_buffer = 1 << 20;
  setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
  struct sockaddr_in address = loopback(port);
  if (connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0) return failed(descriptor);
  return descriptor;
}
