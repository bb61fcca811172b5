import GRDB

/// The difference of two bundles, row by row: what changed in a venue without the tiles that stay as they are.
public enum BundleDelta {
  /// Writes the difference that leads from one bundle to another.
  ///
  /// - Throws: the reason why one of them cannot be read, or that they are of two venues.
  public static func write(from old: String, to new: String, at path: String) throws(MapFailure) {
    let (first, second) = (try VenueBundle(path: old), try VenueBundle(path: new))
    guard first.venue == second.venue else {
      throw MapFailure(
        "\(old) is of venue \"\(first.venue)\", but \(new) of \"\(second.venue)\": a delta is of one venue"
      )
    }
    try first.verify()
    try second.verify()
    try BundleFile.write(path, pageSize: 1_024) { database in
      try database.execute(sql: "PRAGMA application_id = \(BundleFormat.deltaID)")
      try database.execute(sql: "PRAGMA user_version = \(BundleFormat.version)")
      try database.execute(sql: "ATTACH ? AS old", arguments: [old])
      try database.execute(sql: "ATTACH ? AS new", arguments: [new])
      try database.inTransaction(.deferred) {
        try database.execute(
          sql: "CREATE TABLE delta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
        )
        for (key, value) in [
          ("from_version", first.contentVersion), ("to_version", second.contentVersion),
          ("venue", first.venue),
        ] {
          try database.execute(sql: "INSERT INTO delta VALUES (?, ?)", arguments: [key, value])
        }
        for table in BundleFormat.tables {
          let (columns, key) = (table.columns.joined(separator: ", "), table.key.joined(separator: ", "))
          try database.execute(
            sql: """
              CREATE TABLE put_\(table.name) AS SELECT * FROM (
              SELECT \(columns) FROM new.\(table.name) EXCEPT SELECT \(columns) FROM old.\(table.name)) ORDER BY \(key)
              """
          )
          try database.execute(
            sql: """
              CREATE TABLE drop_\(table.name) AS SELECT * FROM (
              SELECT \(key) FROM old.\(table.name) EXCEPT SELECT \(key) FROM new.\(table.name)) ORDER BY \(key)
              """
          )
        }
        return .commit
      }
      try database.execute(sql: "DETACH old")
      try database.execute(sql: "DETACH new")
    }
  }

  /// Writes the bundle to which a difference leads.
  ///
  /// - Returns: the version of its content, which was compared with the one that the delta states.
  /// - Throws: the reason why a file cannot be read, or that the delta is not for this bundle; nothing is written then.
  @discardableResult
  public static func apply(_ delta: String, to old: String, at path: String) throws(MapFailure) -> String {
    let bundle = try VenueBundle(path: old)
    let difference = try BundleFile.open(delta, isDelta: true)
    let facts = try BundleFile.translate(delta) {
      try difference.read { database in
        try Row.fetchAll(database, sql: "SELECT key, value FROM delta")
          .map {
            (try $0.decode(String.self, forColumn: "key"), try $0.decode(String.self, forColumn: "value"))
          }
      }
    }
    let values = Dictionary(facts) { first, _ in first }
    guard let from = values["from_version"], let target = values["to_version"] else {
      throw MapFailure("\(delta) is damaged: it names no versions; copy or make it again")
    }
    guard from == bundle.contentVersion else {
      throw MapFailure(
        "\(delta) leads from version \(from), but \(old) has version \(bundle.contentVersion): take the delta for that one, "
          + "or the whole bundle"
      )
    }
    try BundleFile.write(path, from: old) { database in
      try database.execute(sql: "ATTACH ? AS delta", arguments: [delta])
      try database.inTransaction(.deferred) {
        for table in BundleFormat.tables {
          let (columns, key) = (table.columns.joined(separator: ", "), table.key.joined(separator: ", "))
          try database.execute(
            sql:
              "DELETE FROM main.\(table.name) WHERE (\(key)) IN (SELECT \(key) FROM delta.drop_\(table.name))"
          )
          try database.execute(
            sql: "INSERT OR REPLACE INTO main.\(table.name) SELECT \(columns) FROM delta.put_\(table.name)"
          )
        }
        try database.execute(
          sql: "UPDATE main.bundle SET value = ? WHERE key = 'content_version'",
          arguments: [target]
        )
        let version = try BundleFormat.contentVersion(of: database)
        guard version == target else {
          throw MapFailure(
            "\(delta) does not lead to what it states: the content has version \(version), expected \(target)"
          )
        }
        return .commit
      }
      try database.execute(sql: "DETACH delta")
    }
    return target
  }
}
