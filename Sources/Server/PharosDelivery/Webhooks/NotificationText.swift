package import PharosDocuments
package import PharosModel

/// The site as notification rules see it: names, regions, and the directory that says what a beacon stands for.
package struct NotificationSite: Sendable {
  /// The names that the site gives.
  package let names: SiteNames?
  private let site: Site

  /// Takes a site and its names; without arguments, a site that knows nothing.
  package init(_ site: Site = Site(), names: SiteNames? = nil) {
    self.site = site
    self.names = names
  }

  /// Returns the beacons of a region; nil for an area, and for a region that is gone.
  package func beacons(of region: String, application: String) -> BeaconConstraint? {
    let regions = site.applications.first { $0.identifier == application }?.regions
    guard case .beacons(let constraint) = regions?.first(where: { $0.identifier == region })?.condition else {
      return nil
    }
    return constraint
  }

  /// Returns why a rule about proximity could have no occasion, and the remedy; nil if its application ranges some of the
  /// beacons.
  package func problem(with rule: NotificationRule) -> DocumentProblem? {
    let place = "/v1/applications/\(rule.application)"
    guard let wanted = rule.beacons ?? beacons(of: rule.region, application: rule.application) else {
      return DocumentProblem(
        field: "region",
        message: "region \"\(rule.region)\" has no beacons to come near to",
        expected: "a beacon, or a region of beacons that \(place)/regions lists"
      )
    }
    let ranged = site.applications.first { $0.identifier == rule.application }?.ranging ?? []
    guard !ranged.contains(where: { $0.constraint.meets(wanted) }) else { return nil }
    return DocumentProblem(
      field: rule.beacons == nil ? "region" : "beacon",
      message: "application \"\(rule.application)\" does not range \(wanted): no distance is known",
      expected: "PUT \(place)/ranging/NAME with these beacons first, or ranging of the site file"
    )
  }

  /// Returns the entry of the directory about a beacon, the most specific of several; nil if there is none.
  package func entry(of beacon: BeaconID) -> BeaconEntry? {
    beacon.namingConstraints.lazy.compactMap { wanted in
      site.beacons.first { $0.constraint.normal == wanted }
    }.first
  }
}

/// A text of a rule with placeholders, which an occasion fills in.
package enum NotificationText {
  /// The occasion that a text is about.
  package struct Occasion {
    /// The subject.
    package var subject: SubjectID
    /// The region, zone or place.
    package var region: String
    /// The beacon that it is about besides the subject.
    package var beacon: BeaconID?
    /// The time of the occasion.
    package var time: Timestamp
    /// The appointment.
    package var appointment: NotificationRule.Appointment?
    /// The walk to the appointment.
    package var walk: TimeSpan?
    /// The voltage of a battery.
    ///
    /// - Units: millivolts.
    package var millivolts: UInt16?

    /// Makes an occasion.
    package init(subject: SubjectID, region: String, time: Timestamp) {
      self.subject = subject
      self.region = region
      self.time = time
    }

    /// The beacon that the text looks up: the one that it is about, or else the subject.
    fileprivate var lookedUp: BeaconID? {
      if let beacon { return beacon }
      guard case .beacon(let beacon) = subject else { return nil }
      return beacon
    }
  }

  /// A placeholder: its name in braces, the occasions that have it (nil: all), and its value.
  private struct Placeholder: Sendable {
    let name: String
    var occasions: Set<NotificationDetail.Occasion>?
    let value: @Sendable (Occasion, NotificationSite, SiteNames?) -> String?
  }

  private static let ofBeacons: Set<NotificationDetail.Occasion> = [
    .enter, .exit, .zoneEnter, .zoneExit, .proximity, .lowBattery,
  ]

  /// The placeholders; what the directory says of a beacon is one line each.
  private static let placeholders: [Placeholder] = [
    Placeholder(name: "subject") { occasion, _, _ in occasion.subject.description },
    Placeholder(name: "name") { occasion, _, names in
      names?.given(to: occasion.subject) ?? occasion.subject.description
    },
    Placeholder(name: "region") { occasion, _, _ in occasion.region },
    Placeholder(name: "room", occasions: [.zoneEnter, .zoneExit, .visitArrive, .visitDepart]) {
      occasion,
      _,
      names in names?.room(ofZone: occasion.region) ?? occasion.region
    },
    Placeholder(name: "beacon", occasions: ofBeacons) { occasion, site, names in
      guard let beacon = occasion.lookedUp else { return nil }
      return names?.given(to: .beacon(beacon)) ?? site.entry(of: beacon)?.name ?? beacon.description
    },
    Placeholder(name: "major", occasions: ofBeacons) { occasion, _, _ in
      occasion.lookedUp?.major.map { "\($0)" }
    },
    Placeholder(name: "minor", occasions: ofBeacons) { occasion, _, _ in
      occasion.lookedUp?.minor.map { "\($0)" }
    },
    Placeholder(name: "volts", occasions: [.lowBattery]) { occasion, _, _ in
      occasion.millivolts.map { "\($0 / 1_000).\($0 % 1_000 / 100)" }
    },
    caption("title") { $0.title }, caption("description") { $0.description },
    caption("address") { $0.address },
    caption("picture") { $0.picture }, caption("link") { $0.link },
    Placeholder(name: "place", occasions: [.deadline]) { occasion, _, _ in occasion.appointment?.place },
    Placeholder(name: "minutes", occasions: [.deadline]) { occasion, _, _ in
      occasion.appointment.map { "\(max(0, Int(($0.time - occasion.time).seconds / 60)))" }
    },
    Placeholder(name: "walk", occasions: [.deadline]) { occasion, _, _ in
      occasion.walk.map { "\(Int(($0.seconds / 60).rounded(.up)))" }
    },
  ]

  /// What the directory shows people of the beacon.
  private static func caption(
    _ name: String,
    _ member: @escaping @Sendable (Caption) -> String?
  ) -> Placeholder {
    Placeholder(name: name, occasions: ofBeacons) { occasion, site, _ in
      occasion.lookedUp.flatMap { site.entry(of: $0) }.flatMap { member($0.caption) }
    }
  }

  /// The placeholders of the texts of an occasion, in braces.
  package static func placeholders(of occasion: NotificationDetail.Occasion) -> [String] {
    placeholders.filter { $0.occasions?.contains(occasion) ?? true }.map { "{\($0.name)}" }
  }

  /// Returns a text with its placeholders filled in, by what the site knew at the time of the occasion.
  ///
  /// A placeholder without a value becomes nothing; braces around another word stay.
  package static func filled(_ text: String, _ occasion: Occasion, _ site: NotificationSite) -> String {
    let names = site.names?.asOf(occasion.time)
    var result = ""
    var rest = text[...]
    while let brace = rest.firstIndex(of: "{") {
      result += rest[..<brace]
      rest = rest[brace...]
      guard let placeholder = placeholders.first(where: { rest.hasPrefix("{\($0.name)}") }) else {
        result += "{"
        rest = rest.dropFirst()
        continue
      }
      result += placeholder.value(occasion, site, names) ?? ""
      rest = rest.dropFirst(placeholder.name.count + 2)
    }
    return result + rest
  }
}

extension BeaconConstraint {
  /// Returns whether one beacon may fulfil both constraints.
  fileprivate func meets(_ other: BeaconConstraint) -> Bool {
    func agree<Part: Equatable>(_ left: Part?, _ right: Part?) -> Bool {
      left == nil || right == nil || left == right
    }
    switch (normal, other.normal) {
    case (.proximity(let uuid, let major, let minor), .proximity(let other, let otherMajor, let otherMinor)):
      return uuid == other && agree(major, otherMajor) && agree(minor, otherMinor)
    case (.eddystone(let namespace, let instance), .eddystone(let other, let otherInstance)):
      return namespace == other && agree(instance, otherInstance)
    case (.address(let address), .address(let other)): return address == other
    case (.proximity, _), (.eddystone, _), (.address, _): return false
    }
  }
}
