#ifndef PHAROS_JOURNAL_FILES_H
#define PHAROS_JOURNAL_FILES_H

/* What pharos_journal_verify finds. */
enum pharos_journal_state {
  PHAROS_JOURNAL_SOUND = 0,
  /* The log lacks commits that were durable: frames that it once held are damaged. */
  PHAROS_JOURNAL_LOG_DAMAGED = 1,
  /* The log lacks commits that were durable: the file is missing or cut off. */
  PHAROS_JOURNAL_LOG_MISSING = 2,
};

/* Registers SQLite's default file system with hashes for the files named `journal.sqlite`.
 *
 * Returns 1 if the hashes are in use; 0 if another file system than SQLite's own is the default, which is left alone. */
int pharos_journal_install(void);

/* Verifies the log of a journal against the record of the last durable commit. Call it before a connection opens the journal. */
enum pharos_journal_state pharos_journal_verify(const char *path);

/* Makes the file of hashes of a journal if there is none that can be used; returns 1 then, and 0 if there is one. Call it before a
 * connection opens the journal. */
int pharos_journal_prepare(const char *path);

#endif
