/* Hashes for the pages of a journal, in front of SQLite's own files.
 *
 * SQLite verifies its log only when it opens one, ends it silently at the first damaged frame, and never verifies the pages of the
 * database. Beside `journal.sqlite` lies `journal.sqlite-sums`:
 *   - one entry for each page of the database, written with the page and verified whenever the page is read;
 *   - a mark with the salts of the log and the length up to which its commits were durable, written after each sync of the log.
 * A page that differs from its entry gives SQLITE_IOERR_DATA. At the start the log has to be whole up to the mark: otherwise
 * commits that were published would be missing. The entries of the log's frames are kept in memory, because the log is verified,
 * copied back and emptied at each start.
 *
 * Order of writes: the entries are synced before the database is, and SQLite keeps the log until the database is synced. So a page
 * whose entry was not written in time is still in the log, and is written again. The mark is not synced, except when it is cleared:
 * an older mark claims less. An entry that is itself damaged counts as unknown; a page without an entry is not verified.
 *
 * Source: "WAL-mode File Format" and "The SQLite OS Interface or VFS", sqlite.org.
 */

#include "CJournalFiles.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "/journal.sqlite"
#define LOG_SUFFIX "-wal"
#define SUMS_SUFFIX "-sums"

enum { LOG_HEADER = 32, FRAME_HEADER = 24, SUMS_HEADER = 64, MARK_OFFSET = 16 };

static const char magic[8] = "PhSums1";

/* The head of the file of hashes, without the mark. */
struct head {
  char magic[8];
  uint32_t page_size;
  uint32_t guard;
};

/* How far the log is durable. */
struct mark {
  uint32_t salts[2];
  uint64_t end;
  uint64_t guard;
};

/* MARK: Hashes */

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}

static uint64_t load(const uint8_t *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

/* The hash of bytes whose number is a multiple of 32. Each step is a bijection of its lane, so a single damaged word always shows
 * in the 64 bits. */
static uint64_t hash_of(const uint8_t *bytes, int count) {
  uint64_t a = 1, b = 2, c = 3, d = 4;
  for (int place = 0; place + 32 <= count; place += 32) {
    a = mix(a, load(bytes + place));
    b = mix(b, load(bytes + place + 8));
    c = mix(c, load(bytes + place + 16));
    d = mix(d, load(bytes + place + 24));
  }
  return mix(mix(mix(mix(0, a), b), c), d);
}

/* An entry: 48 bits of the page's hash, and 16 bits that show whether the entry itself is sound. */
static uint64_t entry_of(const uint8_t *page, int count, uint64_t slot) {
  const uint64_t kept = hash_of(page, count) >> 16;
  return kept << 16 | mix(mix(7, kept), slot) >> 48;
}

static int is_sound(uint64_t entry, uint64_t slot) {
  return entry != 0 && (entry & 0xFFFF) == mix(mix(7, entry >> 16), slot) >> 48;
}

static uint32_t guard_of_head(const struct head *head) { return (uint32_t)(mix(11, head->page_size) >> 32); }

static uint64_t guard_of_mark(const struct mark *mark) {
  return mix(mix(13, (uint64_t)mark->salts[0] << 32 | mark->salts[1]), mark->end);
}

/* MARK: The journals that are open */

/* What all connections to one journal share. */
struct journal {
  struct journal *next;
  char *path;
  int references;
  /* The file of hashes, or -1 if there is none. */
  int sums;
  int page_size;
  pthread_mutex_t lock;
  /* Entries of the frames that this process has written to the log. */
  uint64_t *frames;
  uint64_t frame_capacity;
  /* The salts of the log, once they are known, and the end of the last frame written. */
  int knows_salts;
  struct mark mark;
};

static pthread_mutex_t journals_lock = PTHREAD_MUTEX_INITIALIZER;
static struct journal *journals;
static sqlite3_vfs *base;

static char *joined(const char *path, size_t count, const char *suffix) {
  char *text = malloc(count + strlen(suffix) + 1);
  if (text == NULL) return NULL;
  memcpy(text, path, count);
  strcpy(text + count, suffix);
  return text;
}

/* Opens the file of hashes and reads its page size; -1 if there is none that can be used. */
static int open_sums(const char *path, int *page_size) {
  char *name = joined(path, strlen(path), SUMS_SUFFIX);
  if (name == NULL) return -1;
  const int descriptor = open(name, O_RDWR | O_CLOEXEC);
  free(name);
  if (descriptor < 0) return -1;
  struct head head;
  if (pread(descriptor, &head, sizeof head, 0) == sizeof head && memcmp(head.magic, magic, sizeof magic) == 0 &&
      head.guard == guard_of_head(&head)) {
    *page_size = (int)head.page_size;
    return descriptor;
  }
  close(descriptor);
  return -1;
}

static struct journal *acquire(const char *path, size_t count) {
  pthread_mutex_lock(&journals_lock);
  struct journal *journal = journals;
  while (journal != NULL && (strlen(journal->path) != count || memcmp(journal->path, path, count) != 0)) {
    journal = journal->next;
  }
  if (journal == NULL && (journal = calloc(1, sizeof *journal)) != NULL) {
    journal->path = joined(path, count, "");
    if (journal->path == NULL) {
      free(journal);
      journal = NULL;
    } else {
      journal->sums = open_sums(journal->path, &journal->page_size);
      pthread_mutex_init(&journal->lock, NULL);
      journal->next = journals;
      journals = journal;
    }
  }
  if (journal != NULL) journal->references++;
  pthread_mutex_unlock(&journals_lock);
  return journal;
}

static void release(struct journal *journal) {
  pthread_mutex_lock(&journals_lock);
  if (--journal->references == 0) {
    struct journal **place = &journals;
    while (*place != journal) place = &(*place)->next;
    *place = journal->next;
    if (journal->sums >= 0) close(journal->sums);
    pthread_mutex_destroy(&journal->lock);
    free(journal->frames);
    free(journal->path);
    free(journal);
  }
  pthread_mutex_unlock(&journals_lock);
}

static int refusal(void) { return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE; }

static off_t place_of(uint64_t slot) { return (off_t)(SUMS_HEADER + slot * sizeof(uint64_t)); }

static int write_mark(struct journal *journal) {
  journal->mark.guard = guard_of_mark(&journal->mark);
  if (journal->sums < 0) return SQLITE_OK;
  const ssize_t count = pwrite(journal->sums, &journal->mark, sizeof journal->mark, MARK_OFFSET);
  return count == sizeof journal->mark ? SQLITE_OK : refusal();
}

/* Withdraws the claim about the log, durably: what follows removes frames. */
static int clear_mark(struct journal *journal) {
  if (journal->sums < 0) return SQLITE_OK;
  memset(&journal->mark, 0, sizeof journal->mark);
  journal->knows_salts = 0;
  const int result = write_mark(journal);
  if (result != SQLITE_OK) return result;
  return fdatasync(journal->sums) == 0 ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

/* MARK: Files */

struct file {
  sqlite3_file head;
  struct journal *journal;
  int is_log;
  /* SQLite's own file follows. */
};

static sqlite3_file *below(sqlite3_file *file) { return (sqlite3_file *)((struct file *)file + 1); }
static struct journal *journal_of(sqlite3_file *file) { return ((struct file *)file)->journal; }

/* The number of the frame whose page lies at an offset of the log; -1 if none begins there. */
static int64_t frame_at(const struct journal *journal, int count, sqlite3_int64 offset) {
  const sqlite3_int64 first = LOG_HEADER + FRAME_HEADER, length = journal->page_size + FRAME_HEADER;
  if (count != journal->page_size || offset < first || (offset - first) % length != 0) return -1;
  return (offset - first) / length;
}

static int file_close(sqlite3_file *file) {
  const int result = below(file)->pMethods->xClose(below(file));
  release(journal_of(file));
  return result;
}

static int file_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
  const int result = below(file)->pMethods->xRead(below(file), buffer, count, offset);
  struct journal *journal = journal_of(file);
  if ((result != SQLITE_OK && result != SQLITE_IOERR_SHORT_READ) || journal->sums < 0) return result;
  uint64_t entry = 0, slot = 0;
  if (((struct file *)file)->is_log) {
    const int64_t frame = frame_at(journal, count, offset);
    if (frame < 0) return result;
    slot = (uint64_t)frame;
    pthread_mutex_lock(&journal->lock);
    if (slot < journal->frame_capacity) entry = journal->frames[slot];
    pthread_mutex_unlock(&journal->lock);
  } else {
    /* A page of another size: the size in the header is damaged. */
    if (offset == 0 && count >= 512 && count != journal->page_size) return SQLITE_IOERR_DATA;
    if (count != journal->page_size || offset % count != 0) return result;
    slot = (uint64_t)(offset / count);
    if (pread(journal->sums, &entry, sizeof entry, place_of(slot)) != sizeof entry) return result;
  }
  if (!is_sound(entry, slot)) return result;
  return entry_of(buffer, count, slot) == entry ? result : SQLITE_IOERR_DATA;
}

static void note_frame(struct journal *journal, const void *buffer, int count, sqlite3_int64 offset) {
  pthread_mutex_lock(&journal->lock);
  const int64_t frame = frame_at(journal, count, offset);
  if (offset == 0 && count == LOG_HEADER) {
    memcpy(journal->mark.salts, (const uint8_t *)buffer + 16, sizeof journal->mark.salts);
    journal->mark.end = LOG_HEADER;
    journal->knows_salts = 1;
  } else if (frame >= 0) {
    if ((uint64_t)frame >= journal->frame_capacity) {
      const uint64_t capacity = ((uint64_t)frame + 1) * 2;
      uint64_t *grown = realloc(journal->frames, capacity * sizeof *grown);
      if (grown != NULL) {
        memset(grown + journal->frame_capacity, 0, (capacity - journal->frame_capacity) * sizeof *grown);
        journal->frames = grown;
        journal->frame_capacity = capacity;
      }
    }
    if ((uint64_t)frame < journal->frame_capacity) {
      journal->frames[frame] = entry_of(buffer, count, (uint64_t)frame);
    }
    journal->mark.end = (uint64_t)(offset + count);
  } else if (count != FRAME_HEADER) {
    /* A write that is split differs from what frames look like: nothing of the log is known any longer. */
    if (journal->frames != NULL) memset(journal->frames, 0, journal->frame_capacity * sizeof *journal->frames);
    journal->mark.end = (uint64_t)(offset + count);
  }
  pthread_mutex_unlock(&journal->lock);
}

static int file_write(sqlite3_file *file, const void *buffer, int count, sqlite3_int64 offset) {
  struct journal *journal = journal_of(file);
  const int result = below(file)->pMethods->xWrite(below(file), buffer, count, offset);
  if (result != SQLITE_OK || journal->sums < 0) return result;
  if (((struct file *)file)->is_log) {
    note_frame(journal, buffer, count, offset);
    return result;
  }
  uint64_t entry = 0;
  const uint64_t slot = (uint64_t)offset / (uint64_t)journal->page_size;
  if (count == journal->page_size) entry = entry_of(buffer, count, slot);
  return pwrite(journal->sums, &entry, sizeof entry, place_of(slot)) == sizeof entry ? result : refusal();
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
  struct journal *journal = journal_of(file);
  if (journal->sums >= 0) {
    int result = SQLITE_OK;
    if (!((struct file *)file)->is_log) {
      struct stat status;
      const off_t end = place_of((uint64_t)size / (uint64_t)journal->page_size);
      if (fstat(journal->sums, &status) == 0 && status.st_size > end && ftruncate(journal->sums, end) != 0) result = refusal();
    } else if ((uint64_t)size < journal->mark.end || !journal->knows_salts) {
      pthread_mutex_lock(&journal->lock);
      result = clear_mark(journal);
      pthread_mutex_unlock(&journal->lock);
    }
    if (result != SQLITE_OK) return result;
  }
  return below(file)->pMethods->xTruncate(below(file), size);
}

static int file_sync(sqlite3_file *file, int flags) {
  struct journal *journal = journal_of(file);
  const int is_log = ((struct file *)file)->is_log;
  if (journal->sums >= 0 && !is_log && fdatasync(journal->sums) != 0) return SQLITE_IOERR_FSYNC;
  int result = below(file)->pMethods->xSync(below(file), flags);
  if (result != SQLITE_OK || journal->sums < 0 || !is_log) return result;
  pthread_mutex_lock(&journal->lock);
  uint8_t header[LOG_HEADER];
  if (!journal->knows_salts && below(file)->pMethods->xRead(below(file), header, sizeof header, 0) == SQLITE_OK) {
    memcpy(journal->mark.salts, header + 16, sizeof journal->mark.salts);
    journal->knows_salts = 1;
  }
  if (journal->knows_salts) result = write_mark(journal);
  pthread_mutex_unlock(&journal->lock);
  return result;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) { return below(file)->pMethods->xFileSize(below(file), size); }
static int file_lock(sqlite3_file *file, int level) { return below(file)->pMethods->xLock(below(file), level); }
static int file_unlock(sqlite3_file *file, int level) { return below(file)->pMethods->xUnlock(below(file), level); }
static int file_check(sqlite3_file *file, int *out) { return below(file)->pMethods->xCheckReservedLock(below(file), out); }
static int file_control(sqlite3_file *file, int op, void *argument) {
  return below(file)->pMethods->xFileControl(below(file), op, argument);
}
static int file_sector(sqlite3_file *file) { return below(file)->pMethods->xSectorSize(below(file)); }
static int file_traits(sqlite3_file *file) {
  /* SQLITE_IOCAP_SUBPAGE_READ of newer versions: parts of pages cannot be verified. */
  return below(file)->pMethods->xDeviceCharacteristics(below(file)) & ~0x00008000;
}
static int file_map(sqlite3_file *file, int page, int size, int extends, void volatile **out) {
  return below(file)->pMethods->xShmMap(below(file), page, size, extends, out);
}
static int file_share(sqlite3_file *file, int offset, int count, int flags) {
  return below(file)->pMethods->xShmLock(below(file), offset, count, flags);
}
static void file_barrier(sqlite3_file *file) { below(file)->pMethods->xShmBarrier(below(file)); }
static int file_unmap(sqlite3_file *file, int deletes) { return below(file)->pMethods->xShmUnmap(below(file), deletes); }

/* Version 2: without memory-mapped reads, which cannot be verified. */
static const sqlite3_io_methods methods = {
  2,           file_close, file_read,   file_write,  file_truncate, file_sync, file_size,    file_lock,  file_unlock,
  file_check,  file_control, file_sector, file_traits, file_map,    file_share, file_barrier, file_unmap, NULL,
  NULL,
};

/* The length of the journal's name if a name is that of a journal with a suffix; 0 otherwise. */
static size_t journal_name(const char *name, const char *suffix) {
  if (name == NULL) return 0;
  const size_t count = strlen(name), tail = strlen(suffix), wanted = strlen(NAME);
  if (count < wanted + tail || strcmp(name + count - tail, suffix) != 0) return 0;
  return memcmp(name + count - tail - wanted, NAME, wanted) == 0 ? count - tail : 0;
}

static int files_open(sqlite3_vfs *files, sqlite3_filename name, sqlite3_file *file, int flags, int *out) {
  (void)files;
  const int is_log = (flags & SQLITE_OPEN_WAL) != 0;
  const size_t count = is_log || flags & SQLITE_OPEN_MAIN_DB ? journal_name(name, is_log ? LOG_SUFFIX : "") : 0;
  if (count == 0) return base->xOpen(base, name, file, flags, out);
  struct file *opened = (struct file *)file;
  opened->head.pMethods = NULL;
  opened->is_log = is_log;
  opened->journal = acquire(name, count);
  if (opened->journal == NULL) return SQLITE_NOMEM;
  const int result = base->xOpen(base, name, below(file), flags, out);
  if (result == SQLITE_OK) {
    opened->head.pMethods = &methods;
  } else {
    /* SQLite closes a file that failed to open if it has methods. */
    if (below(file)->pMethods != NULL) below(file)->pMethods->xClose(below(file));
    release(opened->journal);
  }
  return result;
}

static int files_delete(sqlite3_vfs *files, const char *name, int syncs) {
  (void)files;
  const size_t count = journal_name(name, LOG_SUFFIX);
  if (count != 0) {
    struct journal *journal = acquire(name, count);
    if (journal == NULL) return SQLITE_NOMEM;
    pthread_mutex_lock(&journal->lock);
    const int result = clear_mark(journal);
    pthread_mutex_unlock(&journal->lock);
    release(journal);
    if (result != SQLITE_OK) return result;
  }
  return base->xDelete(base, name, syncs);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int is_installed;

static void install(void) {
  static sqlite3_vfs files;
  base = sqlite3_vfs_find(NULL);
  if (base == NULL || strcmp(base->zName, "unix") != 0) return;
  files = *base;
  files.zName = "pharos-journal";
  files.pNext = NULL;
  files.szOsFile = base->szOsFile + (int)sizeof(struct file);
  files.xOpen = files_open;
  files.xDelete = files_delete;
  is_installed = sqlite3_vfs_register(&files, 1) == SQLITE_OK;
}

int pharos_journal_install(void) {
  pthread_once(&once, install);
  return is_installed;
}

/* MARK: Start */

static uint32_t big(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The checksum of the log: over pairs of words, in the byte order that the log's first word names. */
static void sum(const uint8_t *bytes, size_t count, int is_big, uint32_t sums[2]) {
  for (size_t place = 0; place + 8 <= count; place += 8) {
    uint32_t words[2];
    for (int index = 0; index < 2; index++) {
      const uint8_t *word = bytes + place + index * 4;
      words[index] = is_big ? big(word) : (uint32_t)word[3] << 24 | (uint32_t)word[2] << 16 | (uint32_t)word[1] << 8 | word[0];
    }
    sums[0] += words[0] + sums[1];
    sums[1] += words[1] + sums[0];
  }
}

/* Walks the log up to the mark. */
static enum pharos_journal_state verify_log(const char *path, const struct mark *mark, int page_size) {
  char *name = joined(path, strlen(path), LOG_SUFFIX);
  if (name == NULL) return PHAROS_JOURNAL_SOUND;
  const int log = open(name, O_RDONLY | O_CLOEXEC);
  free(name);
  if (log < 0) return PHAROS_JOURNAL_LOG_MISSING;
  enum pharos_journal_state state = PHAROS_JOURNAL_LOG_DAMAGED;
  const size_t length = (size_t)page_size + FRAME_HEADER;
  uint8_t header[LOG_HEADER], *frame = malloc(length);
  const ssize_t count = pread(log, header, sizeof header, 0);
  if (count < LOG_HEADER) {
    state = PHAROS_JOURNAL_LOG_MISSING;
  } else if (frame != NULL) {
    const int is_big = (int)(big(header) & 1);
    uint32_t sums[2] = {0, 0};
    sum(header, 24, is_big, sums);
    if ((big(header) & ~1u) == 0x377F0682 && big(header + 24) == sums[0] && big(header + 28) == sums[1]) {
      /* Other salts: the log was begun again later, after all of it had been copied back. */
      if (memcmp(header + 16, mark->salts, sizeof mark->salts) != 0) {
        state = PHAROS_JOURNAL_SOUND;
      } else if ((int)big(header + 8) == page_size) {
        off_t offset = LOG_HEADER;
        while ((uint64_t)offset + length <= mark->end) {
          const ssize_t got = pread(log, frame, length, offset);
          if (got != (ssize_t)length) {
            state = PHAROS_JOURNAL_LOG_MISSING;
            break;
          }
          sum(frame, 8, is_big, sums);
          sum(frame + FRAME_HEADER, (size_t)page_size, is_big, sums);
          if (memcmp(frame + 8, mark->salts, sizeof mark->salts) != 0 || big(frame + 16) != sums[0] || big(frame + 20) != sums[1]) break;
          offset += (off_t)length;
        }
        if ((uint64_t)offset + length > mark->end) state = PHAROS_JOURNAL_SOUND;
      }
    }
  }
  free(frame);
  close(log);
  return state;
}

/* Makes the file of hashes from the pages as they are. What a killed process has copied back in part is still in the log, and is
 * written again. The head comes last: a file without one is made again. */
static void make_sums(const char *path) {
  uint8_t header[100];
  char *name = joined(path, strlen(path), SUMS_SUFFIX);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (name == NULL || file < 0 || pread(file, header, sizeof header, 0) != sizeof header ||
      memcmp(header, "SQLite format 3", 16) != 0) {
    if (file >= 0) close(file);
    free(name);
    return;
  }
  struct head head = {.page_size = (uint32_t)header[16] << 8 | header[17]};
  if (head.page_size == 1) head.page_size = 65536;
  memcpy(head.magic, magic, sizeof magic);
  head.guard = guard_of_head(&head);
  const int sums = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  uint8_t *page = head.page_size >= 512 ? malloc(head.page_size) : NULL;
  if (sums >= 0 && page != NULL) {
    int is_whole = 1;
    for (uint64_t slot = 0; pread(file, page, head.page_size, (off_t)(slot * head.page_size)) == (ssize_t)head.page_size; slot++) {
      const uint64_t entry = entry_of(page, (int)head.page_size, slot);
      if (pwrite(sums, &entry, sizeof entry, place_of(slot)) != sizeof entry) {
        is_whole = 0;
        break;
      }
    }
    if (!is_whole || fdatasync(sums) != 0 || pwrite(sums, &head, sizeof head, 0) != sizeof head) unlink(name);
  }
  free(page);
  if (sums >= 0) close(sums);
  close(file);
  free(name);
}

enum pharos_journal_state pharos_journal_verify(const char *path) {
  char resolved[PATH_MAX];
  if (realpath(path, resolved) == NULL) return PHAROS_JOURNAL_SOUND;
  int page_size = 0;
  const int sums = open_sums(resolved, &page_size);
  if (sums < 0) return PHAROS_JOURNAL_SOUND;
  struct mark mark;
  const int has_mark = pread(sums, &mark, sizeof mark, MARK_OFFSET) == sizeof mark && mark.guard == guard_of_mark(&mark);
  close(sums);
  return has_mark && mark.end > LOG_HEADER ? verify_log(resolved, &mark, page_size) : PHAROS_JOURNAL_SOUND;
}

int pharos_journal_prepare(const char *path) {
  char resolved[PATH_MAX];
  if (realpath(path, resolved) == NULL) return 0;
  int page_size = 0;
  const int sums = open_sums(resolved, &page_size);
  if (sums >= 0) {
    close(sums);
    return 0;
  }
  make_sums(resolved);
  return 1;
}
