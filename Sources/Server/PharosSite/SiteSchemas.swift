package import PharosDocuments

extension Schema {
  package static let applicationDocument = Schema.closed([
    .optional("purpose", .text(1...1_000), "Read by people: not blank, no control characters."),
    .optional("regionLimit", .integer(1...1_000), "By default `20`."),
  ]).named("ApplicationDocument")

  package static let regionDocument = Schema.closed([
    .optional("kind", .regionKind),
    .optional("latitude", .number(-90...90), "Of the middle of a circle, WGS 84."),
    .optional("longitude", .number(-180...180), "Of the middle of a circle, WGS 84."),
    .optional("radius", .distance, "Metres with their unit, as in `20m`."),
    .optional(
      "coordinates",
      .list(.list(.any), 1...),
      """
      Of a polygon: a ring of `[longitude, latitude]`, a list of rings of which all but the first are holes, \
      or a list of such lists for an area of several parts. At most 1,000 corners.
      """
    ),
    .optional(
      "level",
      .integer(-100...1_000),
      "The floor of an area, 0 for the ground floor and outdoors; without it every floor."
    ),
    .optional("building", .name, "The building of an area; without it every building and outdoors."),
    .optional(
      "uuid",
      .pattern("^([0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9A-Fa-f]{32})$"),
      "A proximity UUID, of an iBeacon or an AltBeacon."
    ),
    .optional("major", .integer(0...65_535)),
    .optional("minor", .integer(0...65_535)),
    .optional("namespace", .pattern("^[0-9A-Fa-f]{20}$"), "An Eddystone namespace."),
    .optional("instance", .pattern("^[0-9A-Fa-f]{12}$"), "An Eddystone instance."),
    .optional(
      "mac",
      .pattern("^(([0-9A-Fa-f]{2}:){5}|([0-9A-Fa-f]{2}-){5}|([0-9A-Fa-f]{2}){5})[0-9A-Fa-f]{2}$"),
      "A device address, whatever it advertises."
    ),
    .optional("key", .identityKey),
    .optional("subject", .regionSubject),
    .optional("observers", .set(.name)),
    .optional("notifyOnEntry", .flag, "By default `true`."),
    .optional("notifyOnExit", .flag, "By default `true`."),
    .optional("notifyEntryStateOnDisplay", .flag, "By default `false`."),
    .optional(
      "enter",
      .closed([
        .optional("samples", .integer(1...1_000)),
        .optional("within", .duration),
        .optional("rssi", .number(-127...20)),
        .optional("distance", .distance, "Metres with their unit, as in `2.5m`."),
        .optional(
          "probability",
          .number(0.5...0.9999),
          "Of an area: the probability above which a subject is inside; 0.9 unless given."
        ),
        .optional(
          "dwell",
          .duration,
          "Of an area: the time for which the probability must be above it; 1s unless given."
        ),
      ])
    ),
    .optional(
      "exit",
      .closed([
        .optional("rssi", .number(-127...20)),
        .optional("distance", .distance, "Metres with their unit, as in `2.5m`."),
        .optional("dwell", .duration),
        .optional(
          "silence",
          .pattern(#"^(adaptive|never|[0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h|d))$"#),
          "`adaptive`, `never` or a time."
        ),
        .optional("floor", .duration),
        .optional("ceiling", .duration),
        .optional("falseExitsPerDay", .number(1e-06...1000)),
        .optional("stillInterval", .duration),
        .optional(
          "probability",
          .number(0.0001...0.5),
          "Of an area: the probability below which a subject is outside; 0.1 unless given."
        ),
      ])
    ),
    .optional("maximumHold", .duration),
  ]).requiring(["major": "uuid", "minor": "major", "instance": "namespace"]).described(
    """
    A region as it is registered: the keys, rules and defaults of the site file. One of `uuid`, `namespace` \
    and `mac` says which beacons; `kind: circle` and `kind: polygon` say which area.
    """
  ).named("RegionDocument")

  package static let rangingDocument = Schema.closed([
    .optional(
      "uuid",
      .pattern("^([0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9A-Fa-f]{32})$"),
      "A proximity UUID, of an iBeacon or an AltBeacon."
    ),
    .optional("major", .integer(0...65_535)),
    .optional("minor", .integer(0...65_535)),
    .optional("namespace", .pattern("^[0-9A-Fa-f]{20}$"), "An Eddystone namespace."),
    .optional("instance", .pattern("^[0-9A-Fa-f]{12}$"), "An Eddystone instance."),
    .optional(
      "mac",
      .pattern("^(([0-9A-Fa-f]{2}:){5}|([0-9A-Fa-f]{2}-){5}|([0-9A-Fa-f]{2}){5})[0-9A-Fa-f]{2}$"),
      "A device address, whatever it advertises."
    ),
    .optional("key", .identityKey),
    .optional(
      "whileInside",
      .flag,
      """
      Whether to range only while a region of the application with this constraint is inside. By default \
      `false`.
      """
    ),
  ]).requiring(["major": "uuid", "minor": "major", "instance": "namespace"]).described(
    "What is to be ranged once a second. One of `uuid`, `namespace` and `mac` says which beacons."
  ).named("RangingDocument")

  package static let observerDocument = Schema.closed([
    .optional("id", .name, "As in the address."),
    .optional("name", .text(1...128), "For people: at most 128 bytes, no control characters."),
    .optional("rssiOffset", .number(-40...40), "dB, added to every level that it hears. By default `0`."),
    .optional(
      "liveness",
      .words(["auto", "heartbeat", "traffic", "assumed"]),
      "How it proves that its silence about a beacon means something. By default `auto`."
    ),
    .optional("lag", .duration, "At most `10m`; without it the lag is learned."),
  ]).named("ObserverDocument")

  package static let zoneDocument = Schema.closed([
    .optional("id", .name, "As in the address."),
    .optional("name", .text(1...128), "For people: at most 128 bytes, no control characters."),
    .optional("floor", .integer(-20...200)),
    .required("observers", .set(.name)),
    .optional(
      "adjacent",
      .list(.name),
      "Other zones that one can walk to from it; none means any of its floor."
    ),
    .optional(
      "beacons",
      .list(
        .closed([
          .optional(
            "uuid",
            .pattern("^([0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9A-Fa-f]{32})$"),
            "A proximity UUID, of an iBeacon or an AltBeacon."
          ),
          .optional("major", .integer(0...65_535)),
          .optional("minor", .integer(0...65_535)),
          .optional("namespace", .pattern("^[0-9A-Fa-f]{20}$"), "An Eddystone namespace."),
          .optional("instance", .pattern("^[0-9A-Fa-f]{12}$"), "An Eddystone instance."),
          .optional(
            "mac",
            .pattern("^(([0-9A-Fa-f]{2}:){5}|([0-9A-Fa-f]{2}-){5}|([0-9A-Fa-f]{2}){5})[0-9A-Fa-f]{2}$"),
            "A device address, whatever it advertises."
          ),
          .optional("key", .words(["mac"]), "`mac` makes the device address a part of the identity."),
        ])
      ),
      "The beacons that it places; none means all that some region asks about."
    ),
    .optional(
      "occupancy",
      .list(
        .closed([
          .required("above", .integer(0...65_536), "The number that must be exceeded."),
          .optional(
            "below",
            .integer(0...65_536),
            "The number below which the count must then fall; `above` if left out."
          ),
        ]),
        0...16
      ),
      "Numbers of beacons at which `pharos.zone.occupancy` is published."
    ),
    .optional(
      "warnings",
      .list(.text).readOnly,
      "What `pharos check` warns of; only in an answer, and only if there is anything."
    ),
  ]).named("ZoneDocument")

  package static let beaconDocument = Schema.closed([
    .optional("id", .text, "As in the address."),
    .optional("name", .text(1...128)),
    .optional("measuredPower", .number(-127...20), "dBm at one metre, in place of what it advertises."),
    .optional("interval", .text, "The advertising interval, as in the site file: `1s`."),
  ]).named("BeaconDocument")

  package static let regionKind = Schema.words(["beacons", "circle", "polygon"]).described(
    "What the region is about: beacons, or an area that a located subject is in."
  ).named("RegionKind")

  package static let identityKey = Schema.words(["mac"]).described(
    "`mac` makes the device address a part of the identity."
  ).named("IdentityKey")

  package static let regionSubject = Schema.words(["observer", "beacon"]).described(
    "Who is inside: an observer that hears a matching beacon, or a beacon that the observers hear."
  ).named("RegionSubject")
}
