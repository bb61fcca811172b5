import Foundation
package import PharosDocuments
package import PharosModel

/// A rule of an application: a text to publish on an occasion, such as a subject that enters a region or comes near a beacon.
package struct NotificationRule: Hashable, Sendable {
  /// The maximum number of rules of an application about other occasions than appointments: five for each of its twenty regions.
  package static let limit = 100
  /// The maximum number of rules of an application about appointments: the passengers of a terminal.
  package static let appointmentLimit = 5_000
  /// The time after an appointment after which its rule no longer counts, and a new one may replace it.
  package static let appointmentAge = TimeSpan.minutes(24 * 60)
  /// The maximum length of a text: four times the length that lock screens show.
  ///
  /// - Units: bytes of UTF-8.
  package static let maximumText = 1_024
  /// The maximum length of an identifier.
  ///
  /// - Units: bytes of UTF-8.
  package static let maximumIdentifier = 64
  /// The voltage by which a battery must rise above the bound of a rule before it can be low again.
  ///
  /// - Units: millivolts. A coin cell recovers by less in the warmth of the afternoon.
  package static let batteryHysteresis: UInt16 = 100

  /// The beacons of which a subject is the cause of one notification.
  package enum OncePer: String, CaseIterable, Hashable, Sendable {
    /// Those with the same UUID and major, or the same namespace.
    case major
    /// One beacon.
    case beacon
  }

  /// The appointment of a subject.
  package struct Appointment: Hashable, Sendable {
    /// The place, by identifier or name.
    package var place: String
    /// The time.
    package var time: Timestamp
    /// The time to spare at the arrival.
    package var margin: TimeSpan
    /// Indicates whether the subject avoids steps.
    package var isAccessible = false

    /// The margin of an appointment that states none.
    package static let usualMargin = TimeSpan.minutes(5)
    /// The longest name of a place.
    ///
    /// - Units: bytes of UTF-8.
    package static let maximumName = 200
  }

  /// The application.
  package var application: String
  /// The identifier, unique within the application.
  package var id: String
  /// The region, or the zone or place if the occasion is about one; empty if it is about neither.
  package var region: String
  /// The one subject that it is about, or nil for all.
  package var subject: SubjectID?
  /// The occasion of the notification.
  package var occasion: NotificationDetail.Occasion
  /// The text to publish; ``NotificationText`` fills in its placeholders.
  package var text: String
  /// The time within which a subject is the cause of one notification at most.
  package var atMostOncePer: TimeSpan?
  /// The hours in which the rule publishes nothing.
  package var quietHours: QuietHours?
  /// The time that a subject must stay inside, near or offline before the rule publishes, so that it does not greet passers-by.
  package var stayAtLeast: TimeSpan?
  /// The sequence after which events count.
  package var startsAfter: Int64
  /// The line above the text, with placeholders.
  package var title: String?
  /// The address of a page about it, with placeholders.
  package var link: String?
  /// The address of a picture, with placeholders.
  package var picture: String?
  /// The beacons that a subject comes near to; nil for those of the region.
  package var beacons: BeaconConstraint?
  /// The farthest proximity that counts as near.
  package var nearness: RangedReading.Proximity?
  /// The beacons of which a subject is the cause of one notification, within ``atMostOncePer`` or, without it, once and for all.
  package var oncePer: OncePer?
  /// The voltage below which a battery is low.
  ///
  /// - Units: millivolts.
  package var below: UInt16?
  /// The appointment.
  package var appointment: Appointment?

  /// Makes a rule.
  package init(
    application: String,
    id: String,
    region: String,
    subject: SubjectID? = nil,
    occasion: NotificationDetail.Occasion,
    text: String,
    atMostOncePer: TimeSpan? = nil,
    quietHours: QuietHours? = nil,
    stayAtLeast: TimeSpan? = nil,
    startsAfter: Int64 = 0
  ) {
    self.application = application
    self.id = id
    self.region = region
    self.subject = subject
    self.occasion = occasion
    self.text = text
    self.atMostOncePer = atMostOncePer
    self.quietHours = quietHours
    self.stayAtLeast = stayAtLeast
    self.startsAfter = startsAfter
  }

  /// Returns whether the rule is about a subject.
  func concerns(_ subject: SubjectID) -> Bool { self.subject == nil || self.subject == subject }

  /// Returns whether a proximity is near enough.
  func isNear(_ proximity: RangedReading.Proximity) -> Bool {
    switch nearness ?? .immediate {
    case .immediate, .unknown: proximity == .immediate
    case .near: proximity == .immediate || proximity == .near
    case .far: proximity != .unknown
    }
  }

  /// Returns the beacons that count as one for ``oncePer``; nil if all of them do, or the occasion is about none.
  func scope(of beacon: BeaconID?) -> BeaconConstraint? {
    guard let oncePer, let beacon else { return nil }
    switch oncePer {
    case .beacon: return BeaconEntry.constraint(of: beacon).normal
    case .major:
      if let uuid = beacon.uuid { return .proximity(uuid, major: beacon.major) }
      return beacon.namespace.map { .eddystone($0) } ?? BeaconEntry.constraint(of: beacon).normal
    }
  }

  /// Indicates whether the occasion is about more than the application's own regions and subjects, so that an operator makes the rule.
  package var isForOperators: Bool {
    switch occasion {
    case .zoneEnter, .zoneExit, .visitArrive, .visitDepart, .lowBattery, .offline: true
    case .enter, .exit, .proximity, .deadline: false
    }
  }
}

extension NotificationRule: FieldStruct {
  /// The versions of the layout: for all subjects; for one; with what has been added since, behind the rest.
  private static let versions: (all: UInt8, one: UInt8, present: UInt8) = (1, 2, 3)

  /// Makes a value whose fields are still to be read.
  package init() { self.init(application: "", id: "", region: "", occasion: .enter, text: "") }

  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    let versions = NotificationRule.versions
    var version = versions.present
    try coder.code(&version)
    try coder.check(versions.all...versions.present ~= version, "a version of notification rules")
    try coder.code(&application)
    try coder.code(&id)
    try coder.code(&region)
    try coder.code(&occasion)
    try coder.code(&text)
    try coder.code(&atMostOncePer)
    try coder.code(&quietHours)
    try coder.code(&stayAtLeast)
    try coder.code(&startsAfter)
    if version != versions.all { try coder.code(&subject) }
    guard version == versions.present else { return }
    try coder.code(&title)
    try coder.code(&link)
    try coder.code(&picture)
    try coder.code(&beacons)
    try coder.code(&nearness)
    try coder.code(&oncePer)
    try coder.code(&below)
    try coder.code(&appointment)
  }
}

extension NotificationRule.OncePer: FieldChoice {
  /// The name of the field.
  package static var fieldName: String { "the beacons of one notification" }
}

extension NotificationRule.Appointment: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      place: try coder.field(value().place),
      time: try coder.field(value().time),
      margin: try coder.field(value().margin),
      isAccessible: try coder.field(value().isAccessible)
    )
  }
}

/// The hours of the day in which a rule publishes no notification, in the local time of a place.
///
/// A notification that falls into them is dropped, not postponed: a greeting in the morning is wrong for a visitor
/// who came at night.
package struct QuietHours: Hashable, Sendable {
  /// The beginning.
  ///
  /// - Units: minutes after midnight, 0 to 1439.
  package var from: Int
  /// The end; if it lies before `from`, the hours last over midnight.
  ///
  /// - Units: minutes after midnight, 0 to 1439.
  package var to: Int
  /// The time zone, by its name in the tz database, such as `Europe/Berlin`.
  package var timeZone: String

  /// Makes quiet hours.
  package init(from: Int, to: Int, timeZone: String) {
    self.from = from
    self.to = to
    self.timeZone = timeZone
  }

  /// Returns whether an instant lies within the hours; the minute at which they end does not.
  ///
  /// The local time follows the time zone's rules for that instant, including summer time.
  package func contains(_ instant: Timestamp) -> Bool {
    // The name was checked when the rule was made; a system that has lost it since counts in UTC.
    let zone = TimeZone(identifier: timeZone) ?? .gmt
    let seconds = instant.nanoseconds / 1_000_000_000
    let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
    let minute = ((Int(seconds) + offset) % 86_400 + 86_400) % 86_400 / 60
    return from <= to ? (from..<to).contains(minute) : minute >= from || minute < to
  }

  /// Parses a time of day such as `22:30` as minutes after midnight; returns nil if it is no time of day.
  static func minutes(_ text: String) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isASCII) }) else {
      return nil
    }
    guard let hour = UInt8(parts[0]), let minute = UInt8(parts[1]), hour < 24, minute < 60 else { return nil }
    return Int(hour) * 60 + Int(minute)
  }

  /// Formats minutes after midnight as a time of day such as `22:30`.
  static func text(_ minutes: Int) -> String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(two(minutes / 60)):\(two(minutes % 60))"
  }
}

extension QuietHours: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let from = Int(try coder.field(UInt16(clamping: value().from)))
    let to = Int(try coder.field(UInt16(clamping: value().to)))
    return QuietHours(from: min(from, 1_439), to: min(to, 1_439), timeZone: try coder.field(value().timeZone))
  }
}
