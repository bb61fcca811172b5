#if NATS
/// A bucket of keys and values, in the form of NATS (its ADR-8), so that `nats kv` reads it too.
///
/// Values are asked for at the leader: any replica might answer with an older one (`allow_direct`), which a lease must not.
///
/// Compare-and-set is by the last sequence of the whole bucket. With NATS's own, by the last sequence of the key, three replicas of
/// 2.9.10 lost 94 of 200 increments by four threads.
package struct NATSKeyValue: Sendable {
  /// A value of a key.
  package struct Entry: Sendable, Equatable {
    /// The value.
    package var value: [UInt8]
    /// The sequence of the value in the bucket, which grows with each change of any key.
    package var revision: UInt64
    /// The time at which it was stored by the leader's clock, in nanoseconds since 1970.
    package var time: Int64
  }

  /// The header and its values by which a bucket marks a key that was deleted.
  private static let (header, deleted) = ("KV-Operation", "DEL")

  /// The name of the bucket.
  package let bucket: String
  private let stream: NATSStream

  /// Creates a bucket that keeps one value for each key, or checks the one that exists.
  ///
  /// - Parameters:
  ///   - bucket: The name, of letters, digits, `-` and `_`.
  ///   - connection: The connection.
  ///   - replicas: The number of servers that store it.
  ///   - age: The age at which a value is removed, in nanoseconds; 0 for none. Servers of 2.9 send no message of it.
  ///   - time: The time of a call, in milliseconds.
  /// - Returns: The bucket.
  /// - Throws: ``NATSError/differs(stream:differences:)`` if the bucket exists otherwise.
  package static func ensure(
    _ bucket: String,
    on connection: NATSConnection,
    replicas: Int,
    age: Int64 = 0,
    within time: Int = 5_000
  ) throws(NATSError) -> NATSKeyValue {
    var settings = NATSStreamSettings(name: "KV_\(bucket)", subjects: ["$KV.\(bucket).>"], replicas: replicas)
    settings.maximumPerSubject = 1
    settings.maximumAge = age
    // The server allows no window of duplicates that is longer than the age.
    settings.duplicates = age == 0 ? settings.duplicates : min(age, settings.duplicates)
    settings.isBucket = true
    return NATSKeyValue(
      bucket: bucket,
      stream: try NATSStream.ensure(settings, on: connection, within: time)
    )
  }

  /// The value of a key; nil if it has none.
  package func value(of key: String, within time: Int = 2_000) throws(NATSError) -> Entry? {
    let found = try stream.lastMessage(of: subject(key), header: NATSKeyValue.header, within: time)
    guard let found, found.header == nil else { return nil }
    return Entry(value: found.message.bytes, revision: found.message.sequence, time: found.message.time)
  }

  /// Stores the first value of a key; returns its revision.
  ///
  /// - Throws: ``NATSError/conflict(_:)`` if the key has one.
  package func create(_ key: String, _ value: [UInt8], within time: Int = 2_000) throws(NATSError) -> UInt64 {
    try store(NATSOutgoing(value, try subject(key)), expecting: nil, within: time)
  }

  /// Replaces the value that has a revision; returns the new revision.
  ///
  /// - Throws: ``NATSError/conflict(_:)`` if the key has another revision, or none. After ``NATSError/unavailable(_:reason:)`` the
  ///   value may be stored or not: it has to be asked for.
  package func update(
    _ key: String,
    _ value: [UInt8],
    expecting revision: UInt64,
    within time: Int = 2_000
  ) throws(NATSError) -> UInt64 {
    try store(NATSOutgoing(value, try subject(key)), expecting: revision, within: time)
  }

  /// Stores a value, whatever the key has; returns its revision.
  package func put(_ key: String, _ value: [UInt8], within time: Int = 2_000) throws(NATSError) -> UInt64 {
    try stream.publish(NATSOutgoing(value, try subject(key)), within: time).sequence
  }

  /// Deletes the value of a key, of one revision if it is given.
  package func delete(
    _ key: String,
    expecting revision: UInt64? = nil,
    within time: Int = 2_000
  ) throws(NATSError) {
    var marker = NATSOutgoing([], try subject(key))
    marker.operation = NATSKeyValue.deleted
    if let revision {
      _ = try store(marker, expecting: revision, within: time)
    } else {
      _ = try stream.publish(marker, within: time)
    }
  }

  /// The keys that have a value, in no order; one call for each, as a bucket has dozens and not thousands.
  package func keys(within time: Int = 2_000) throws(NATSError) -> [String] {
    let prefix = "$KV.\(bucket)."
    let keys = try stream.subjects(prefix + ">", within: time).map { String($0.dropFirst(prefix.count)) }
    var found: [String] = []
    for key in keys where try value(of: key, within: time) != nil { found.append(key) }
    return found
  }

  /// The state of the stream behind the bucket.
  package func info(within time: Int = 2_000) throws(NATSError) -> NATSStreamInfo {
    try stream.info(within: time)
  }

  /// Stores a value or a marker if the key has a revision, or no value; returns the new revision.
  private func store(
    _ outgoing: NATSOutgoing,
    expecting revision: UInt64?,
    within time: Int
  ) throws(NATSError) -> UInt64 {
    do {
      return try stream.publish(
        outgoing,
        replacing: revision,
        marker: NATSKeyValue.header,
        until: NATSDeadline(time)
      )
    } catch .wrongLastSequence {
      throw .conflict("the key \(outgoing.subject.dropFirst(4)) of NATS")
    }
  }

  private func subject(_ key: String) throws(NATSError) -> String {
    guard NATSName.isKey(key) else {
      throw .settings("\"\(key)\" is no key: letters, digits, - _ = / and . between them")
    }
    return "$KV.\(bucket).\(key)"
  }
}

/// The names that subjects may be made of.
enum NATSName {
  /// Indicates whether a text is a key of a bucket: parts with dots between them, none empty.
  static func isKey(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.allSatisfy { isPart($0, "-_=/") }
  }

  /// Indicates whether a text is one part of a subject.
  static func isPart(_ text: some StringProtocol, _ others: String = "-_") -> Bool {
    !text.isEmpty
      && text.unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
          || others.unicodeScalars.contains($0)
      }
  }
}
#endif
