import GRDB

/// The tables of a journal, and how they came to be.
///
/// Names are kept once and go by numbers everywhere else. Events lie in the order of their sequence and have no index of
/// their own: two wide ones would make an append nine times more expensive. What filters need is written once for
/// every block of 65,536 events, behind the last block's: for each name in it, the places of the events that mention
/// it.
enum JournalSchema {
  /// Brings a database up to date; one that knows steps that this program does not know is refused.
  static func prepare(_ database: any DatabaseWriter, at place: String) throws {
    var migrator = DatabaseMigrator().disablingDeferredForeignKeyChecks()
    register(in: &migrator)
    Deliveries.migrate(&migrator)
    let unknown = try database.read { database in
      try migrator.appliedIdentifiers(database).subtracting(migrator.migrations)
    }
    guard unknown.isEmpty else { throw JournalError(.newer(steps: unknown.sorted()), at: place) }
    try migrator.migrate(database)
  }

  /// Registers the migrations of this file, in order; a released one never changes.
  private static func register(in migrator: inout DatabaseMigrator) {
    migrator.registerMigration("journal 1") { database in
      for table in first { try database.execute(sql: table) }
    }
    migrator.registerMigration("journal 2") { database in
      for table in history { try database.execute(sql: table) }
    }
    migrator.registerMigration("journal 3") { database in
      try database.execute(sql: "ALTER TABLE zone_rows ADD COLUMN unmonitored INTEGER NOT NULL DEFAULT 0")
    }
  }

  private static let first = [
    """
    CREATE TABLE facts (name TEXT PRIMARY KEY NOT NULL, value NOT NULL) WITHOUT ROWID
    """,
    """
    CREATE TABLE names (
      key INTEGER PRIMARY KEY AUTOINCREMENT, name BLOB NOT NULL UNIQUE, last_block INTEGER NOT NULL)
    """,
    """
    CREATE TABLE events (sequence INTEGER PRIMARY KEY, record BLOB NOT NULL)
    """,
    """
    CREATE TABLE blocks (block INTEGER PRIMARY KEY, earliest INTEGER NOT NULL, latest INTEGER NOT NULL)
    """,
    """
    CREATE TABLE postings (
      block INTEGER NOT NULL, key INTEGER NOT NULL, places BLOB NOT NULL,
      PRIMARY KEY (block, key)) WITHOUT ROWID
    """,
    """
    CREATE TABLE region_rows (
      application INTEGER NOT NULL, region INTEGER NOT NULL, subject INTEGER NOT NULL,
      state INTEGER NOT NULL, known INTEGER NOT NULL, entered INTEGER, refinement INTEGER,
      observer INTEGER, time INTEGER NOT NULL, decided INTEGER NOT NULL, changed INTEGER NOT NULL,
      PRIMARY KEY (application, region, subject)) WITHOUT ROWID
    """,
    """
    CREATE TABLE zone_rows (
      beacon INTEGER PRIMARY KEY, zone INTEGER, time INTEGER NOT NULL, decided INTEGER NOT NULL,
      changed INTEGER NOT NULL)
    """,
    """
    CREATE TABLE observer_rows (
      observer INTEGER PRIMARY KEY, up INTEGER NOT NULL, time INTEGER NOT NULL, decided INTEGER NOT NULL,
      changed INTEGER NOT NULL)
    """,
    """
    CREATE TABLE checkpoints (
      id INTEGER PRIMARY KEY AUTOINCREMENT, instant INTEGER NOT NULL, through INTEGER NOT NULL,
      parts INTEGER NOT NULL, digest INTEGER NOT NULL, complete INTEGER NOT NULL)
    """,
    """
    CREATE TABLE checkpoint_parts (
      checkpoint INTEGER NOT NULL, part INTEGER NOT NULL, bytes BLOB NOT NULL,
      PRIMARY KEY (checkpoint, part))
    """,
    """
    CREATE TABLE documents (
      kind TEXT NOT NULL, key TEXT NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID
    """,
  ]

  /// The summaries of minutes: a row for each hour of a subject, observer or place, the series by their names, and the
  /// sizes of hours.
  private static let history = [
    """
    CREATE TABLE history (slot INTEGER PRIMARY KEY, minutes BLOB NOT NULL)
    """,
    """
    CREATE TABLE history_series (
      series INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL, owner INTEGER NOT NULL,
      name INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, UNIQUE (kind, owner, name))
    """,
    """
    CREATE TABLE history_hours (hour INTEGER PRIMARY KEY, bytes INTEGER NOT NULL)
    """,
  ]
}
