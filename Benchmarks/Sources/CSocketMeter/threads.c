#define _GNU_SOURCE
#include "CSocketMeter.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

static int64_t nanoseconds_of(clockid_t clock) {
  struct timespec now = {0};
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t meter_thread_nanoseconds(void) { return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID); }

int64_t meter_process_nanoseconds(void) { return nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID); }

int64_t meter_now(void) { return nanoseconds_of(CLOCK_MONOTONIC); }

void meter_wait_until(int64_t nanoseconds) {
  struct timespec time = {.tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) continue;
}

int meter_pin(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  return sched_setaffinity(0, sizeof cores, &cores) < 0 ? -errno : 0;
}

int meter_give_way(void) {
  struct sched_param none = {0};
  return sched_setscheduler(0, SCHED_IDLE, &none) < 0 ? -errno : 0;
}

int meter_cores(void) {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) < 0) return 1;
  return CPU_COUNT(&cores);
}

uint64_t meter_thread(void) { return (uint64_t)pthread_self(); }

int meter_thread_clock(void) {
  clockid_t clock;
  return pthread_getcpuclockid(pthread_self(), &clock) == 0 ? (int)clock : CLOCK_THREAD_CPUTIME_ID;
}

int64_t meter_clock_nanoseconds(int clock) { return nanoseconds_of((clockid_t)clock); }
