#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/filter.h>
#endif

#include "addresses.h"

/* Since Linux 4.12; the C library's headers of some systems do not name it. */
#if defined(__linux__) && !defined(SO_MEMINFO)
#define SO_MEMINFO 55
#endif

/* Since Linux 4.5. */
#if defined(__linux__) && !defined(SO_ATTACH_REUSEPORT_CBPF)
#define SO_ATTACH_REUSEPORT_CBPF 51
#endif

/* The place of the drop counter among the numbers of SO_MEMINFO (linux/sock_diag.h). */
enum { MEMORY_NUMBERS = 16, MEMORY_DROPS = 8 };

static int result_of(int outcome) { return outcome < 0 ? -errno : 0; }

int pharos_close(int descriptor) { return result_of(close(descriptor)); }

int pharos_set_close_on_exec(int descriptor) { return result_of(fcntl(descriptor, F_SETFD, FD_CLOEXEC)); }

int pharos_connect(const pharos_address *address, int send_buffer) {
  struct sockaddr_storage storage;
  socklen_t length = pharos_address_to(address, &storage);
  if (length == 0) return -EAFNOSUPPORT;
  int descriptor = socket(storage.ss_family, SOCK_DGRAM, 0);
  if (descriptor < 0) return -errno;
  pharos_set_close_on_exec(descriptor);
  if (send_buffer > 0) setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
  if (connect(descriptor, (struct sockaddr *)&storage, length) < 0) {
    int error = errno;
    close(descriptor);
    return -error;
  }
  return descriptor;
}

int pharos_wait_writable(int descriptor, int milliseconds) {
  struct pollfd wanted = {.fd = descriptor, .events = POLLOUT};
  int ready = poll(&wanted, 1, milliseconds);
  if (ready < 0) return errno == EINTR ? 0 : -errno;
  return ready > 0;
}

int pharos_set_receive_buffer(int descriptor, int bytes) {
#if defined(SO_RCVBUFFORCE)
  if (setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) == 0) return 0;
#endif
  return result_of(setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes));
}

int pharos_receive_buffer(int descriptor) {
  int bytes = 0;
  socklen_t length = sizeof bytes;
  if (getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, &length) < 0) return -errno;
#if defined(__linux__)
  bytes /= 2;
#endif
  return bytes;
}

int64_t pharos_kernel_drops(int descriptor) {
#if defined(__linux__)
  uint32_t numbers[MEMORY_NUMBERS] = {0};
  socklen_t length = sizeof numbers;
  if (getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, numbers, &length) < 0) return -errno;
  if (length < (MEMORY_DROPS + 1) * sizeof numbers[0]) return -ENOTSUP;
  return numbers[MEMORY_DROPS];
#else
  (void)descriptor;
  return -ENOTSUP;
#endif
}

int pharos_set_reuse_port(int descriptor) {
  int yes = 1;
  return result_of(setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes));
}

#if defined(__linux__)
/* Joins the word at an offset to what was read of an identity before it: four instructions. */
#define PHAROS_JOIN(offset, factor)                                                                         \
  BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, factor), BPF_STMT(BPF_MISC | BPF_TAX, 0),                             \
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset), BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0)
#endif

int pharos_steer_by_observer(int descriptor, uint32_t sockets, const uint32_t factors[3], uint32_t cell_bits) {
#if defined(__linux__)
  /* The head of a Pharos datagram: its magic at 0, kind and length of the observer at 28, its octets from 30 on. They are
     taken four at a time, those of an EUI-48 two and four. A jump's numbers say how many instructions it passes over. */
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 36, 0, 39),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x50484152, 0, 37),
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 28),
      /* EUI-48 */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0106, 0, 6),
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 30),
      PHAROS_JOIN(32, factors[0]),
      BPF_STMT(BPF_JMP | BPF_JA, 21),
      /* EUI-64 */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0208, 0, 6),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 30),
      PHAROS_JOIN(34, factors[0]),
      BPF_STMT(BPF_JMP | BPF_JA, 14),
      /* UUID */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0310, 0, 21),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 30),
      PHAROS_JOIN(34, factors[0]),
      PHAROS_JOIN(38, factors[0]),
      PHAROS_JOIN(42, factors[0]),
      /* All are mixed alike. */
      BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, factors[1]),
      BPF_STMT(BPF_MISC | BPF_TAX, 0),
      BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 15),
      BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
      BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, factors[2]),
      BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 32 - cell_bits),
      BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, sockets),
      BPF_STMT(BPF_RET | BPF_A, 0),
      /* No socket has this number: the kernel goes by the sender. */
      BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
  };
  struct sock_fprog filter = {.len = sizeof program / sizeof program[0], .filter = program};
  return result_of(setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &filter, sizeof filter));
#else
  (void)descriptor, (void)sockets, (void)factors, (void)cell_bits;
  return -ENOTSUP;
#endif
}

int pharos_probe_bind(const pharos_address *address) {
  struct sockaddr_storage storage;
  socklen_t length = pharos_address_to(address, &storage);
  if (length == 0) return -EAFNOSUPPORT;
  int descriptor = socket(storage.ss_family, SOCK_DGRAM, 0);
  if (descriptor < 0) return -errno;
  int outcome = result_of(bind(descriptor, (struct sockaddr *)&storage, length));
  close(descriptor);
  return outcome;
}

int pharos_datagram_socket_version(int descriptor) {
  int type = 0;
  socklen_t length = sizeof type;
  if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) < 0) return -errno;
  if (type != SOCK_DGRAM) return -EPROTOTYPE;
  struct sockaddr_storage storage = {0};
  length = sizeof storage;
  if (getsockname(descriptor, (struct sockaddr *)&storage, &length) < 0) return -errno;
  if (storage.ss_family == AF_INET) return 4;
  return storage.ss_family == AF_INET6 ? 6 : -EAFNOSUPPORT;
}

int pharos_local_address(int descriptor, pharos_address *address) {
  struct sockaddr_storage storage = {0};
  socklen_t length = sizeof storage;
  if (getsockname(descriptor, (struct sockaddr *)&storage, &length) < 0) return -errno;
  *address = pharos_address_from(&storage);
  return address->version == 0 ? -EAFNOSUPPORT : 0;
}

int64_t pharos_nanoseconds(int64_t seconds, int64_t nanoseconds) {
  if (seconds > PHAROS_LAST_SECOND) return PHAROS_LAST_SECOND * 1000000000;
  if (seconds < -PHAROS_LAST_SECOND) return -PHAROS_LAST_SECOND * 1000000000;
  return seconds * 1000000000 + nanoseconds;
}

static int64_t nanoseconds_of(clockid_t clock) {
  struct timespec now = {0};
  clock_gettime(clock, &now);
  return pharos_nanoseconds((int64_t)now.tv_sec, (int64_t)now.tv_nsec);
}

int64_t pharos_clock_since_boot(void) {
#if defined(__linux__)
  return nanoseconds_of(CLOCK_BOOTTIME);
#else
  /* Elsewhere this one counts while the machine is suspended. */
  return nanoseconds_of(CLOCK_MONOTONIC);
#endif
}

int64_t pharos_clock_monotonic(void) { return nanoseconds_of(CLOCK_MONOTONIC); }

int64_t pharos_clock_processor(void) { return nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID); }

void pharos_wait(int64_t nanoseconds) {
  if (nanoseconds <= 0) return;
  struct timespec span = {.tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)};
  nanosleep(&span, NULL);
}

int64_t pharos_clock_wall(void) { return nanoseconds_of(CLOCK_REALTIME); }
