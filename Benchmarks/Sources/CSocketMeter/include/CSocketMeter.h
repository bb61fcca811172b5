/*
 * CSocketMeter: what the socket benchmarks measure with, and the bare C loop that they measure against.
 *
 * Functions that can fail return a negative errno. Linux only, as the figures are.
 */
#ifndef CSOCKETMETER_H
#define CSOCKETMETER_H

#include <stdint.h>

/* What a receiving thread has taken and what it cost. */
typedef struct meter_tally {
  int64_t datagrams;
  int64_t bytes;
  int64_t calls;             /* of recvmmsg */
  int64_t thread_nanoseconds; /* CPU time of the thread, user and system */
  int64_t wall_nanoseconds;
} meter_tally;

/*
 * Opens a UDP socket on 127.0.0.1 that asks for a receive buffer, by privilege beyond the system's limit if there is any.
 *
 * `port` 0 takes any that is free and is replaced by it. With `shares` several sockets may have the port.
 */
int meter_open(uint16_t *port, int receive_buffer, int shares);

/* The receive buffer that was granted, in the unit it was asked in: Linux books the double. */
int meter_receive_buffer(int descriptor);

/* The bytes that the kernel books for what waits in a socket. */
int64_t meter_booked_bytes(int descriptor);

/* How many datagrams the kernel has dropped at a socket since it was made. */
int64_t meter_kernel_drops(int descriptor);

/* Whether nothing waits in a socket; datagrams of no bytes count as nothing. */
int meter_is_empty(int descriptor);

/* Closes a descriptor. */
void meter_close(int descriptor);

/*
 * The bare loop: receives and counts until it has so many datagrams, 64 a call into slots of 2 KiB, without waiting.
 *
 * With `asks_sources` the kernel also writes down who sent each. It gives up, with fewer, when the socket has been empty for
 * a second.
 */
int meter_receive(int descriptor, int64_t datagrams, int asks_sources, meter_tally *tally);

/* The bare loop as a server would run it: waits for datagrams and counts them until `stop` is set and the socket is empty. */
int meter_serve(int descriptor, const int32_t *stop, int asks_sources, meter_tally *tally);

/* Reads what another thread writes, and the other way round; relaxed, since only the value matters. */
static inline int32_t meter_load_flag(const int32_t *flag) { return __atomic_load_n(flag, __ATOMIC_RELAXED); }
static inline void meter_store_flag(int32_t *flag, int32_t value) { __atomic_store_n(flag, value, __ATOMIC_RELAXED); }

/* Opens a UDP socket that is connected to a port of 127.0.0.1. */
int meter_connect(uint16_t port);

/*
 * Sends datagrams of one length that lie one behind the other, with sendmmsg; with `segments` in trains that the kernel
 * cuts (UDP_SEGMENT), which costs the sender several times less.
 *
 * Waits where the send buffer is full. How many were sent, or a negative errno.
 */
int64_t meter_send(int descriptor, const void *bytes, uint32_t length, uint32_t count, int segments);

/* Whether the kernel cuts trains of datagrams. */
int meter_has_segments(void);

/* Nanoseconds of CPU time of the calling thread. */
int64_t meter_thread_nanoseconds(void);

/* What tells the calling thread from others. */
uint64_t meter_thread(void);

/* The number of the clock that counts the calling thread's CPU time, for other threads to read. */
int meter_thread_clock(void);

/* Nanoseconds of a clock by its number. */
int64_t meter_clock_nanoseconds(int clock);

/* Nanoseconds of a clock that never goes back. */
int64_t meter_now(void);

/* Waits until that clock shows a time. */
void meter_wait_until(int64_t nanoseconds);

/* Nanoseconds of CPU time of the whole process. */
int64_t meter_process_nanoseconds(void);

/* Keeps the calling thread on one core: 0 or a negative errno. */
int meter_pin(int core);

/* Lets every other thread go before the calling one, as a sender on a machine of its own would. */
int meter_give_way(void);

/* How many cores this process may use. */
int meter_cores(void);

#endif
