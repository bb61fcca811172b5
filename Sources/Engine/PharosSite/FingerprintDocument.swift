import PharosDocuments
import PharosModel

/// The fingerprint of a zone as a part of the zone's document.
enum FingerprintDocument {
  private static let levelKeys = ["id"] + DocumentField.keys(ZoneFingerprint.Level.properties)
  /// The keys of a fingerprint.
  static let keys = DocumentField.keys(ZoneFingerprint.properties) + ["levels"]

  /// The member of a zone's document.
  static let member = Schema.Member.optional(
    "fingerprint",
    .closed(.given(ZoneFingerprint.properties) + [.required("levels", levels)]),
    "The levels of beacons in it, as `pharos rooms learn` finds them; without it the zone is known by its observers."
  )
  private static let levels = Schema.list(.closed(level), 0...ZoneFingerprint.maximumLevels)
  private static let level: [Schema.Member] =
    [.required("id", .name, "The observer.")] + .given(ZoneFingerprint.Level.properties)

  /// Reads a fingerprint.
  ///
  /// - Parameters:
  ///   - fields: the keys of the zone.
  ///   - key: the key of the fingerprint.
  /// - Returns: the fingerprint; nil if there is none or it is noted as a mistake.
  static func read(_ fields: DocumentFields, _ key: String) -> ZoneFingerprint? {
    guard let node = fields[key] else { return nil }
    let place = "\(fields.place): \(key)"
    guard
      let entry = DocumentFields(
        node,
        place: place,
        path: fields.path(of: key),
        known: keys,
        problems: fields.problems
      )
    else { return nil }
    var fingerprint = ZoneFingerprint(levels: [], looks: 0, learnedAt: .distantPast)
    DocumentField.read(ZoneFingerprint.properties, of: entry, into: &fingerprint)
    for fields in entry.entries(
      "levels",
      known: levelKeys,
      place: { _, index in "\(place): level \(index + 1)" }
    ) {
      guard let observer = fields.required("id", .observer) else { continue }
      var level = ZoneFingerprint.Level(observer: observer, mean: 0, deviation: 0, heard: 0)
      DocumentField.read(ZoneFingerprint.Level.properties, of: fields, into: &level)
      if fingerprint.levels.contains(where: { $0.observer == observer }) {
        fields.mistake("id", "observer \"\(observer)\" occurs twice", expected: "each once")
      }
      fingerprint.levels.append(level)
    }
    if fingerprint.levels.count > ZoneFingerprint.maximumLevels {
      let count = ZoneFingerprint.maximumLevels
      entry.mistake(
        "levels",
        "\(fingerprint.levels.count) observers are listed",
        expected: "at most \(count)"
      )
    }
    fingerprint.levels.sort { $0.observer < $1.observer }
    return fingerprint
  }

  /// Writes a zone's fingerprint, if it has one, under its key into an open JSON object; read back, it is the same.
  static func write(_ fingerprint: ZoneFingerprint?, to json: inout JSONText) {
    guard let fingerprint else { return }
    json.openObject("fingerprint")
    DocumentField.write(ZoneFingerprint.properties, of: fingerprint, to: &json)
    json.objects("levels", fingerprint.levels) { json, level in
      json.member("id", "\(level.observer)")
      DocumentField.write(ZoneFingerprint.Level.properties, of: level, to: &json)
    }
    json.closeObject()
  }
}

extension ZoneFingerprint {
  fileprivate static let properties: [DocumentField<ZoneFingerprint>] = [
    DocumentField("learnedAt", \.learnedAt, .instant, "The end of the last stay.", isRequired: true),
    DocumentField(
      "looks",
      \.looks,
      .number(in: lookCounts),
      "The number of independent looks: successive ones at one posture count as one.",
      isRequired: true
    ),
  ]
}

extension ZoneFingerprint.Level {
  fileprivate static let properties: [DocumentField<ZoneFingerprint.Level>] = [
    DocumentField(
      "mean",
      \.mean,
      .number(in: means, unit: "dBm"),
      "dBm, of the looks at which it hears the beacon.",
      isRequired: true
    ),
    DocumentField(
      "deviation",
      \.deviation,
      .number(in: deviations, unit: "dB"),
      "dB, one standard deviation.",
      isRequired: true
    ),
    DocumentField(
      "heard",
      \.heard,
      .number(in: 0...1),
      "The share of looks at which it hears it.",
      isRequired: true
    ),
  ]
}
