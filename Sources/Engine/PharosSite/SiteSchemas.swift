package import PharosDocuments
package import PharosModel

// The keys of the site's entries, and the schemas of the documents that have them.

extension ObserverEntry {
  static let properties: [DocumentField<ObserverEntry>] = [
    DocumentField("name", \.name, .shownName, "For people: at most 128 bytes, no control characters."),
    DocumentField(
      "rssiOffset",
      \.rssiOffset,
      .number(in: rssiOffsets, unit: "dB"),
      "dB, added to every level that it hears. By default `0`."
    ),
    DocumentField(
      "liveness",
      \.liveness,
      .word([.auto, .heartbeat, .traffic, .assumed]),
      "How it proves that its silence about a beacon means something. By default `auto`."
    ),
    // A larger lag would delay every decision for too long.
    DocumentField(
      "lag",
      \.lag,
      .time(in: .zero ... .minutes(10)),
      "At most `10m`; without it the lag is learned."
    ),
  ]
}

extension BeaconEntry {
  static let properties: [DocumentField<BeaconEntry>] =
    [
      DocumentField("name", \.name, .shownName),
      DocumentField(
        "measuredPower",
        \.measuredPower,
        .number(in: MeasuredPower.range, unit: "dBm"),
        "dBm at one metre, in place of what it advertises."
      ),
      DocumentField("interval", \.interval, .time, "The advertising interval, as in the site file: `1s`."),
    ] + DocumentField.members(Caption.members, of: \.caption)
}

extension Zone {
  static let properties: [DocumentField<Zone>] = [
    DocumentField("name", \.name, .shownName, "For people: at most 128 bytes, no control characters."),
    DocumentField("floor", \.floor, .integer(in: -20...200)),
  ]
}

extension AccuracyPolicy {
  /// The keys of an application that say how finely it may learn where subjects are.
  package static let properties: [DocumentField<AccuracyPolicy>] = [
    DocumentField(
      "accuracy",
      \.accuracy,
      .word(AccuracyAuthorisation.allCases),
      "How finely it may learn where subjects are; by default `full`."
    ),
    DocumentField(
      "temporaryPurposes",
      \.purposes,
      .texts(
        upTo: AccuracyPolicy.maximumPurposes,
        ofLength: Application.maximumPurpose,
        "purposes of temporary full accuracy"
      ),
      "The purposes of temporary full accuracy, by the keys that requests name."
    ),
  ]

  static let keys = DocumentField<AccuracyPolicy>.keys(properties)

  /// Reads the policy of an application; nil if it says nothing of it.
  static func read(_ fields: DocumentFields) -> AccuracyPolicy? {
    guard keys.contains(where: fields.has) else { return nil }
    var policy = AccuracyPolicy()
    DocumentField.read(properties, of: fields, into: &policy)
    return policy
  }
}

extension RangingRequest {
  static let properties: [DocumentField<RangingRequest>] = [
    DocumentField(
      "whileInside",
      \.whileInside,
      .flag,
      """
      Whether to range only while a region of the application with this constraint is inside. By default \
      `false`.
      """
    )
  ]
}

extension ValueForm where Value == String {
  /// A name that lists show; documents limit its length.
  fileprivate static var shownName: Self { .text.stated(as: .text(1...Document.maximumIdentifier)) }
}

extension [Schema.Member] {
  /// The members that say which beacons are meant.
  package static let identity: Self = [
    .optional("uuid", ValueForm<UUID128>.uuid.schema, "A proximity UUID, of an iBeacon or an AltBeacon."),
    .optional("major", .integer(0...65_535)),
    .optional("minor", .integer(0...65_535)),
    .optional("namespace", ValueForm<EddystoneNamespace>.namespace.schema, "An Eddystone namespace."),
    .optional("instance", ValueForm<UInt64>.instance.schema, "An Eddystone instance."),
    .optional("mac", ValueForm<DeviceAddress>.address.schema, "A device address, whatever it advertises."),
    .optional("key", .identityKey),
  ]

  /// The members that say what a region is about: beacons or an area.
  private static let condition: Self =
    [
      .optional("kind", .regionKind),
      .optional("latitude", .number(-90...90), "Of the middle of a circle, WGS 84."),
      .optional("longitude", .number(-180...180), "Of the middle of a circle, WGS 84."),
      .optional("radius", .distance, "Metres with their unit, as in `20m`."),
      .optional(
        "coordinates",
        .list(.list(.any), 1...),
        """
        Of a polygon: a ring of `[longitude, latitude]`, a list of rings of which all but the first are \
        holes, or a list of such lists for an area of several parts. At most 1,000 corners.
        """
      ),
    ] + given(GeofenceDocument.floor) + [
      .optional(
        "altitude",
        .closed(given(GeofenceDocument.altitude)),
        """
        Of an area: the heights between which it lies. A fix without a height of the same reference does not decide \
        whether a subject is in it, unless it lies beside the outline.
        """
      )
    ] + identity + [.optional("observers", .set(.name))]

  private static let enter: Self = given(PresencePolicy.enter) + given(GeofenceDocument.enter)
  private static let exit: Self = given(PresencePolicy.exit) + given(GeofenceDocument.exit)

  fileprivate static let regionGiven: Self =
    condition + [.optional("subject", .regionSubject)] + given(Region.announcing + Region.displaying)
    + [.optional("enter", .closed(enter)), .optional("exit", .closed(exit))]
    + given(Region.holding + Region.describing)

  /// The members of a region in answers.
  package static let region: Self =
    [.required("id", .text)] + condition + [.required("subject", .regionSubject)]
    + written(Region.announcing) + given(Region.displaying)
    + [.required("enter", .object(enter)), .required("exit", .object(exit))]
    + written(Region.holding + Region.describing)

  /// The members of a ranging request in answers.
  package static let ranging: Self = identity + written(RangingRequest.properties)

  /// The members of a zone in answers.
  package static let zone: Self =
    [.required("id", .text)] + given(Zone.properties) + [
      .required("observers", .list(.text)),
      .required(
        "adjacent",
        .list(.text),
        """
        The zones that it names as reached by a door or stairs. A door leads both ways: naming it in one of \
        the two zones is enough.
        """
      ),
    ] + zoneDetails

  /// What a zone may have besides.
  fileprivate static let zoneDetails: Self = [
    .optional(
      "beacons",
      .list(.closed(identity)),
      "The beacons that it places; none means all that some region asks about."
    ),
    .optional(
      "occupancy",
      .list(.closed(threshold), 0...OccupancyThreshold.maximumCount),
      "Numbers of beacons at which `pharos.zone.occupancy` is published."
    ),
    FingerprintDocument.member,
  ]

  private static let threshold: Self = [
    .required("above", .integer(OccupancyThreshold.bounds), "The number that must be exceeded."),
    .optional(
      "below",
      .integer(OccupancyThreshold.bounds),
      "The number below which the count must then fall; `above` if left out."
    ),
  ]
}

extension Schema {
  package static let applicationDocument = closed(
    [
      .optional(
        "purpose",
        .text(1...Application.maximumPurpose),
        "Read by people: not blank, no control characters."
      ),
      .optional(
        "regionLimit",
        .integer(1...ApplicationSettings.highestRegionLimit),
        "By default `\(Application.defaultRegionLimit)`."
      ),
    ] + .given(AccuracyPolicy.properties)
  ).named("ApplicationDocument")

  package static let regionDocument = closed(.regionGiven)
    .requiring(["major": "uuid", "minor": "major", "instance": "namespace"])
    .described(
      """
      A region as it is registered: the keys, rules and defaults of the site file. One of `uuid`, \
      `namespace` and `mac` says which beacons; `kind: circle` and `kind: polygon` say which area.
      """
    )
    .named("RegionDocument")

  package static let rangingDocument = closed(.identity + .given(RangingRequest.properties))
    .requiring(["major": "uuid", "minor": "major", "instance": "namespace"])
    .described("What is to be ranged once a second. One of `uuid`, `namespace` and `mac` says which beacons.")
    .named("RangingDocument")

  package static let observerDocument = closed(
    [.optional("id", .name, "As in the address.")] + .given(ObserverEntry.properties)
  ).named("ObserverDocument")

  package static let zoneChanges = closed([
    .optional("zones", .list(zoneDocument), "The zones that are made or replaced, each with its `id`."),
    .optional("removed", .list(.name), "The identifiers of zones that are removed."),
  ])
  .named("ZoneChanges")

  package static let zoneDocument = closed(
    [.optional("id", .name, "As in the address.")] + .given(Zone.properties) + [
      .required("observers", .set(.name)),
      .optional(
        "adjacent",
        .list(.name),
        "Other zones that one can walk to from it; none means any of its floor."
      ),
    ] + .zoneDetails + [
      .optional(
        "warnings",
        .list(.text).readOnly,
        "What `pharos check` warns of; only in an answer, and only if there is anything."
      )
    ]
  ).named("ZoneDocument")

  package static let beaconDocument = closed(
    [.optional("id", .text, "As in the address.")] + .given(BeaconEntry.properties)
  ).named("BeaconDocument")

  package static let regionKind = words(of: GeofenceDocument.Kind.self)
    .described("What the region is about: beacons, or an area that a located subject is in.")
    .named("RegionKind")

  package static let identityKey = words(["mac"])
    .described("`mac` makes the device address a part of the identity.")
    .named("IdentityKey")

  package static let regionSubject = words(["observer", "beacon"])
    .described(
      "Who is inside: an observer that hears a matching beacon, or a beacon that the observers hear."
    )
    .named("RegionSubject")
}
