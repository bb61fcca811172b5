// Tells ThreadSanitizer of the order that the Swift libraries make and do not tell it of.
//
// A Mutex that no other thread holds is taken and given back by atomics within the caller, which are instrumented. For one
// that is contended the library is called, which is not: without this, whatever two threads do under such a lock would be
// reported as a race. These functions have the library's own names and stand before it in the order of linking; each calls
// the library's and says in addition what was acquired or released.

#define _GNU_SOURCE
#include "CThreadOrder.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if __has_feature(thread_sanitizer)

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *mutex

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef SWIFT void lock_function(uint32_t thread, SELF);
typedef SWIFT bool try_lock_function(SELF);
typedef SWIFT void unlock_function(SELF);

static lock_function *library_lock;
static try_lock_function *library_try_lock;
static unlock_function *library_unlock;

// A library that has changed its names is noticed at the start, and not by false reports.
static void *find(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) {
    fprintf(stderr, "the Swift library no longer has %s\n", name);
    abort();
  }
  return found;
}

__attribute__((constructor)) static void prepare(void) {
  library_lock = (lock_function *)find(LOCK);
  library_try_lock = (try_lock_function *)find(TRY_LOCK);
  library_unlock = (unlock_function *)find(UNLOCK);
}

SWIFT void swift_order_lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void swift_order_lock(uint32_t thread, SELF) {
  library_lock(thread, mutex);
  __tsan_acquire(mutex);
}

SWIFT bool swift_order_try_lock(SELF) __asm__(TRY_LOCK);
SWIFT bool swift_order_try_lock(SELF) {
  bool is_locked = library_try_lock(mutex);
  if (is_locked) __tsan_acquire(mutex);
  return is_locked;
}

SWIFT void swift_order_unlock(SELF) __asm__(UNLOCK);
SWIFT void swift_order_unlock(SELF) {
  __tsan_release(mutex);
  library_unlock(mutex);
}

SWIFT void *swift_task_getCurrent(void);

// Resuming a continuation releases its task.
void swift_order_go_on(void) { __tsan_acquire(swift_task_getCurrent()); }

#else

void swift_order_go_on(void) {}

#endif
