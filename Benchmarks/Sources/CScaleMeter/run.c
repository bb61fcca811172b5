#define _GNU_SOURCE
#include "CScaleMeter.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* How often a child's memory is looked at. Its peak only grows, so that at most the last growth is missed. */
static const struct timespec pause_between_looks = {0, 5 * 1000 * 1000};

/* The peak that a process tells of itself, or 0. The kernel's figure for a child that has ended counts what its parent
   held when it was started, and says nothing about a small child of a large parent. */
static int64_t peak_of(pid_t process) {
  char path[64];
  char line[256];
  snprintf(path, sizeof path, "/proc/%d/status", (int)process);
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  long long kibibytes = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "VmHWM: %lld kB", &kibibytes) == 1) break;
  }
  fclose(file);
  return kibibytes * 1024;
}

static int64_t nanoseconds(struct timeval time) { return (int64_t)time.tv_sec * 1000000000 + time.tv_usec * 1000; }

int scale_run(char *const arguments[], const char *output, const char *errors, struct scale_usage *usage) {
  posix_spawn_file_actions_t actions;
  memset(usage, 0, sizeof *usage);
  if (posix_spawn_file_actions_init(&actions) != 0) return -1;
  int flags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, flags, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, flags, 0600);
  pid_t child = 0;
  int failure = posix_spawn(&child, arguments[0], &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return -1;
  for (;;) {
    int status = 0;
    struct rusage used;
    pid_t ended = wait4(child, &status, WNOHANG, &used);
    if (ended == child) {
      usage->cpu_nanoseconds = nanoseconds(used.ru_utime) + nanoseconds(used.ru_stime);
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    if (ended < 0 && errno != EINTR) return -1;
    int64_t peak = peak_of(child);
    if (peak > usage->peak_bytes) usage->peak_bytes = peak;
    nanosleep(&pause_between_looks, NULL);
  }
}
