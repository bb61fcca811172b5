/*
 * CPharos: the few system calls of Pharos that Swift cannot spell, and nothing that decides.
 *
 * Every function that can fail returns a negative errno. None of them allocates except pharos_drain_create,
 * keeps global state or is bound to a thread, except pharos_limit_heaps, which sets the allocator's; a drain is used
 * by one thread at a time.
 */
#ifndef CPHAROS_H
#define CPHAROS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An internet address and port as numbers, so that no text is made for a datagram. */
typedef struct pharos_address {
  uint64_t high;   /* bytes 0 to 7 of an IPv6 address; 0 for IPv4 */
  uint64_t low;    /* bytes 8 to 15 of an IPv6 address; an IPv4 address in the low 32 bits */
  uint32_t scope;  /* the interface of a link-local IPv6 address, otherwise 0 */
  uint16_t port;   /* in host order */
  uint8_t version; /* 4, 6, or 0 where there is none; an IPv4 address mapped into IPv6 counts as 4 */
} pharos_address;

/* One datagram as it lies in a drain, or as it is to be sent. */
typedef struct pharos_datagram {
  const void *bytes;
  uint32_t length;
  uint32_t truncated; /* 1 if the datagram was longer than a slot */
} pharos_datagram;

/* The slots that recvmmsg fills: made once, filled again and again. */
typedef struct pharos_drain pharos_drain;

/*
 * Makes a drain of `slots` slots (1 to 1024) of `capacity` bytes each (64 to 65536); NULL if there is no memory.
 *
 * A slot is a stretch of address space: memory is taken only for the pages that datagrams have touched, so that
 * slots of 64 KiB cost the same as slots of 2 KiB while datagrams are small.
 */
pharos_drain *pharos_drain_create(unsigned slots, unsigned capacity);

/* Frees a drain. */
void pharos_drain_destroy(pharos_drain *drain);

/*
 * Takes what the socket holds, up to all slots, without waiting: how many datagrams, 0 if none, or -errno.
 *
 * With `names` 0 the kernel is not asked who sent them, which saves it some 60 ns for each: the sources of what this
 * call took are then unknown.
 */
int pharos_drain_receive(pharos_drain *drain, int descriptor, int names);

/* What the last call took, one entry a slot; valid until the next call. */
const pharos_datagram *pharos_drain_datagrams(const pharos_drain *drain);

/* Who sent the datagram in a slot that the last call filled; version 0 if the kernel was not asked. */
pharos_address pharos_drain_source(const pharos_drain *drain, unsigned slot);

/* The address that `length` bytes of a struct sockaddr hold; version 0 if it is neither IPv4 nor IPv6. */
pharos_address pharos_address_of(const void *address, size_t length);

/*
 * Looks up a host, blocking as long as the resolver takes: how many addresses were found, `capacity` at most, in the order
 * of the system's preference and with this port, or the (negative) error of getaddrinfo. `flags` are those of its hints.
 */
int pharos_look_up(const char *host, uint16_t port, int flags, pharos_address *found, int capacity);

/*
 * Sends datagrams over a connected socket without waiting: how many were taken, or -errno if none was.
 *
 * Where `trains` points to something that is not 0, datagrams of one length, of so many bytes at most, that lie one
 * behind the other go to the kernel as one, which it cuts up again (UDP_SEGMENT): a quarter of the work for each. A route
 * or network card that cannot do so shows at the first of them: then `*trains` becomes less, or 0, and they are sent one
 * by one.
 */
int pharos_send(int descriptor, const pharos_datagram *datagrams, unsigned count, int *trains);

/* The longest datagrams that pharos_send may make trains of at a socket, or 0 if the system cannot (before Linux 4.18). */
int pharos_maximum_in_train(int descriptor);

/* Opens a UDP socket that is connected to an address: the descriptor, or -errno. */
int pharos_connect(const pharos_address *address, int send_buffer);

/* Waits until a socket can be written, at most so many milliseconds: 1, 0 when the time is over, or -errno. */
int pharos_wait_writable(int descriptor, int milliseconds);

/* Closes a descriptor: 0 or -errno. */
int pharos_close(int descriptor);

/* Asks for a receive buffer, by privilege beyond the limit of the system if there is one: 0 or -errno. */
int pharos_set_receive_buffer(int descriptor, int bytes);

/*
 * The receive buffer that was granted in the unit it was asked in, or -errno.
 *
 * Linux books twice the bytes that were asked for, to account for its own overhead, and reports the double.
 */
int pharos_receive_buffer(int descriptor);

/* How many datagrams the kernel has dropped at the socket since it was made (wraps at 2^32), or -errno. */
int64_t pharos_kernel_drops(int descriptor);

/* Lets several sockets of this process share a port, the kernel spreading senders over them: 0 or -errno. */
int pharos_set_reuse_port(int descriptor);

/* Has the kernel choose among the sockets that share a descriptor's port by the observer that a datagram names: in a Pharos
   datagram (its layout: PharosWire) an EUI or a UUID; whatever else comes goes by its sender. The socket that was bound n-th,
   counted from 0, gets the observers whose cell (`ObserverID.cell` of PharosModel, which has the factors) is n modulo the
   number of sockets. 0 or -errno. */
int pharos_steer_by_observer(int descriptor, uint32_t sockets, const uint32_t factors[3], uint32_t cell_bits);

/* Checks whether a socket that does not share its port can bind an address: 0 or -errno. */
int pharos_probe_bind(const pharos_address *address);

/* 4 or 6 if the descriptor is a UDP socket of that version, otherwise -errno. */
int pharos_datagram_socket_version(int descriptor);

/* The address that a socket is bound to: 0 or -errno. */
int pharos_local_address(int descriptor, pharos_address *address);

/* Marks a descriptor to be closed when another program is started: 0 or -errno. */
int pharos_set_close_on_exec(int descriptor);

/* Nanoseconds of a clock that never goes back and counts while the machine is suspended. */
int64_t pharos_clock_since_boot(void);

/* Nanoseconds of a clock that never goes back and stands still while the machine is suspended. */
int64_t pharos_clock_monotonic(void);

/* Nanoseconds of processor time that this process has taken, user and system together. */
int64_t pharos_clock_processor(void);

/* Waits for so many nanoseconds, or until a signal comes. */
void pharos_wait(int64_t nanoseconds);

/* The last second that a clock shows, in the year 2255, and the first one with a minus: one that was set beyond stands there.
   Seven years are left to 2262, where 64 bits of nanoseconds end, so that a span may be added to any time. */
#define PHAROS_LAST_SECOND 9000000000LL

/* Nanoseconds of a time of a clock, held at PHAROS_LAST_SECOND. */
int64_t pharos_nanoseconds(int64_t seconds, int64_t nanoseconds);

/* Nanoseconds of the wall clock since 1970-01-01 UTC. */
int64_t pharos_clock_wall(void);

/*
 * Has the allocator give back what a long-running process frees, as far as it is the GNU C library's: few heaps, large
 * blocks by themselves. To be called first thing: a thread that has allocated already keeps its heap. Variables of the C
 * library (MALLOC_ARENA_MAX, MALLOC_MMAP_THRESHOLD_, MALLOC_TRIM_THRESHOLD_) take precedence.
 */
void pharos_limit_heaps(void);

#ifdef __cplusplus
}
#endif

#endif
