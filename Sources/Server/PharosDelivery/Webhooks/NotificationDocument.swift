import Foundation
package import PharosDocuments
import PharosModel

/// The decoder of a notification rule from the JSON of a request.
package enum NotificationDocument {
  /// The members besides the declared ones.
  private static let others = ["region", "zone", "beacon", "subject", "appointment", "quietHours"]

  /// The occasions that a member belongs to, by their names; a member that is not listed belongs to all.
  private static let occasions: KeyValuePairs<String, [String]> = [
    "region": ["enter", "exit", "proximity"],
    "zone": ["enter", "exit", "arrive", "depart"],
    "beacon": ["proximity"],
    "proximity": ["proximity"],
    "onlyIfStillInsideAfter": ["enter", "proximity", "offline"],
    "oncePer": ["enter", "exit", "proximity"],
    "belowMillivolts": ["lowBattery"],
    "appointment": ["deadline"],
  ]

  /// Reads a document.
  ///
  /// - Parameters:
  ///   - json: the document.
  ///   - application: the application, from the path.
  ///   - id: the identifier, from the path.
  ///   - timeZone: the time zone of quiet hours that state none.
  /// - Returns: the rule.
  /// - Throws: ``WebhookError/invalid(_:)``.
  package static func rule(
    json: [UInt8],
    application: String,
    id: String,
    timeZone: String = TimeZone.current.identifier
  ) throws(WebhookError) -> NotificationRule {
    let known = others + DocumentField.keys(NotificationRule.properties)
    let ignored = ["id", "application"]
    return try WebhookError.document(json, name: "notification", known: known, ignored: ignored) { fields in
      var rule = NotificationRule(application: application, id: id, region: "", occasion: .enter, text: "")
      let length = id.utf8.count
      if !(1...NotificationRule.maximumIdentifier).contains(length) || PlainText.hasControls(id) {
        fields.mistake(
          "id",
          "id has \(length) bytes",
          expected: "1 to \(NotificationRule.maximumIdentifier) bytes without control characters"
        )
      }
      let on = fields["on"]?.scalar ?? ""
      rule.occasion = NotificationDetail.Occasion.allCases.first { $0.name == on } ?? .enter
      readPlace(fields, into: &rule)
      DocumentField.read(NotificationRule.properties, of: fields, into: &rule)
      if fields.has("zone") {
        switch rule.occasion {
        case .enter: rule.occasion = .zoneEnter
        case .exit: rule.occasion = .zoneExit
        default: break
        }
      }
      checkMembers(fields, of: rule.occasion)
      check(rule.text, "text", fields, of: rule.occasion)
      check(rule.title, "title", fields, of: rule.occasion)
      check(rule.link, "link", fields, of: rule.occasion)
      check(rule.picture, "picture", fields, of: rule.occasion)
      rule.quietHours = fields.fields("quietHours", known: ["from", "to", "timeZone"])?.quietHours(
        in: timeZone
      )
      return rule
    }
  }

  /// Reads what the rule is about: a region, a zone or place, a beacon, an appointment; and the subject.
  private static func readPlace(_ fields: DocumentFields, into rule: inout NotificationRule) {
    let subject = ValueForm(expected: "an observer or a beacon as events name it") { SubjectID($0) }
    rule.subject = fields.value("subject", subject)
    switch rule.occasion {
    case .enter, .exit, .zoneEnter, .zoneExit:
      guard fields.has("zone") else {
        rule.region =
          fields.requiredText("region", expected: "a region's identifier, or zone and a zone's") ?? ""
        return
      }
      if fields.has("region") {
        fields.mistake("zone", "region and zone are set together", expected: "one of them")
      }
      rule.region = fields.requiredText("zone", expected: "a zone's identifier") ?? ""
    case .proximity:
      rule.beacons = fields.value("beacon", .beacons)
      rule.nearness = .immediate
      guard fields.has("region") else {
        if !fields.has("beacon") {
          fields.mistake(
            "beacon",
            "beacon is missing",
            expected: ValueForm.beacons.expected + ", or a region"
          )
        }
        return
      }
      if fields.has("beacon") {
        fields.mistake("beacon", "region and beacon are set together", expected: "one of them")
      }
      rule.region = fields.requiredText("region", expected: "a region's identifier") ?? ""
    case .visitArrive, .visitDepart:
      if fields.has("zone") {
        rule.region = fields.requiredText("zone", expected: "the identifier of a zone or place") ?? ""
      }
    case .lowBattery: rule.below = NotificationRule.usualBelow
    case .offline: break
    case .deadline:
      if rule.subject == nil, !fields.has("subject") {
        fields.mistake("subject", "subject is missing", expected: subject.expected)
      }
      guard fields.has("appointment") else {
        fields.mistake("appointment", "appointment is missing", expected: "an object with place and time")
        return
      }
      let known = ["place", "time", "margin", "accessible"]
      rule.appointment = fields.fields("appointment", known: known)?.appointment()
    }
  }

  private static func checkMembers(_ fields: DocumentFields, of occasion: NotificationDetail.Occasion) {
    for (key, names) in occasions where fields.has(key) && !names.contains(occasion.name) {
      fields.mistake(
        key,
        "\(key) does not go with \"on\": \"\(occasion.name)\"",
        expected: "\"on\": " + names.map { "\"\($0)\"" }.joined(separator: " or ") + ", or no \(key)"
      )
    }
  }

  private static func check(
    _ text: String?,
    _ key: String,
    _ fields: DocumentFields,
    of occasion: NotificationDetail.Occasion
  ) {
    guard let text else { return }
    if text.utf8.count > NotificationRule.maximumText {
      let limit = NotificationRule.maximumText
      fields.mistake(key, "\(key) has \(text.utf8.count) bytes", expected: "at most \(limit)")
    }
    for part in text.split(separator: "{", omittingEmptySubsequences: false).dropFirst() {
      guard let end = part.firstIndex(of: "}") else { continue }
      let name = "{\(part[..<end])}"
      let placeholders = NotificationText.placeholders(of: occasion)
      if !placeholders.contains(name) {
        let expected = placeholders.joined(separator: ", ")
        fields.mistake(key, "\(key) mentions \(name), which is not known", expected: expected)
      }
    }
  }
}

extension NotificationRule {
  /// The voltage below which a battery is low if a rule states none: an alkaline or lithium cell with a tenth of its charge.
  ///
  /// - Units: millivolts.
  fileprivate static let usualBelow: UInt16 = 2_400

  /// The members of a document that are one value each.
  fileprivate static let properties: [DocumentField<NotificationRule>] = [
    DocumentField("on", \.occasion, .occasion, isRequired: true),
    DocumentField(
      "text",
      \.text,
      .filled("a text such as \"Welcome, {name}!\""),
      "`{subject}`, `{name}` and `{region}` are filled in, and what the occasion has besides: `{room}`, `{beacon}`, `{major}`, `{minor}`, `{volts}`, `{place}`, `{minutes}`, `{walk}`.",
      isRequired: true
    ),
    DocumentField(
      "title",
      \.title,
      .filled("a text such as \"{beacon}\""),
      "A line above the text, with placeholders."
    ),
    DocumentField(
      "link",
      \.link,
      .filled("an address"),
      "The address of a page about it, with placeholders."
    ),
    DocumentField(
      "picture",
      \.picture,
      .filled("an address"),
      "The address of a picture, with placeholders."
    ),
    DocumentField(
      "proximity",
      \.nearness,
      .nearness,
      "The farthest proximity that counts as near; `immediate` if it is left out."
    ),
    DocumentField(
      "oncePer",
      \.oncePer,
      .oncePer,
      "Each of these causes one notification of a subject, in `atMostOncePer` or once and for all."
    ),
    DocumentField("belowMillivolts", \.below, .integer(in: 500...10_000), "2400 if it is left out."),
    DocumentField("atMostOncePer", \.atMostOncePer, .span(example: "1h")),
    DocumentField(
      "onlyIfStillInsideAfter",
      \.stayAtLeast,
      .span(example: "30s"),
      "The time that it must last: inside, that near, or offline."
    ),
  ]
}

extension ValueForm where Value == NotificationDetail.Occasion {
  fileprivate static var occasion: Self {
    var names: [String] = []
    for name in Value.allCases.map(\.name) where !names.contains(name) { names.append(name) }
    return ValueForm(
      expected: "one of " + names.map { "\"\($0)\"" }.joined(separator: ", "),
      schema: .words(names),
      text: { $0.name },
      parse: { text in Value.allCases.first { $0.name == text } }
    )
  }
}

extension ValueForm where Value == RangedReading.Proximity {
  fileprivate static var nearness: Self {
    let cases: [Value] = [.immediate, .near, .far]
    return ValueForm(
      expected: "\"immediate\", \"near\" or \"far\"",
      schema: .words(cases.map(\.rawValue)),
      text: { $0.rawValue },
      parse: { text in cases.first { $0.rawValue == text } }
    )
  }
}

extension ValueForm where Value == NotificationRule.OncePer {
  fileprivate static var oncePer: Self {
    ValueForm(
      expected: "\"major\" or \"beacon\"",
      schema: .words(of: Value.self),
      text: { $0.rawValue },
      parse: { Value(rawValue: $0) }
    )
  }
}

extension ValueForm where Value == BeaconConstraint {
  /// One beacon, or all of a UUID, major or namespace, as a constraint is written.
  fileprivate static var beacons: Self {
    let names = "UUID/major/minor or eddystone:namespace/instance"
    return ValueForm(expected: "a beacon as \(names), with * for each number that may be any") { text in
      if let beacon = BeaconID(text) { return BeaconEntry.constraint(of: beacon) }
      if text.hasPrefix("eddystone:"), text.hasSuffix("/*"),
        let some = BeaconID(text.dropLast() + "000000000000"),
        case .eddystone(let namespace, _) = BeaconEntry.constraint(of: some)
      {
        return .eddystone(namespace)
      }
      let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 3, let uuid = UUID128(parts[0]) else { return nil }
      let numbers = parts[1...].map { $0 == "*" ? nil : UInt16($0) }
      guard zip(parts[1...], numbers).allSatisfy({ $0 == "*" || $1 != nil }) else { return nil }
      return .proximity(uuid, major: numbers[0], minor: numbers[1])
    }
  }
}

extension ValueForm where Value == TimeSpan {
  /// A positive time span of at most a week: a rule that waits longer is no notification.
  fileprivate static func span(example: String) -> Self {
    ValueForm(
      expected: "a time such as \"\(example)\": a number with its unit, at most 7d",
      schema: .duration,
      text: { $0.exactlyWritten },
      parse: { text in
        TimeSpan(written: text).flatMap { $0 > .zero && $0 <= .minutes(7 * 24 * 60) ? $0 : nil }
      }
    )
  }
}

extension DocumentFields {
  fileprivate func quietHours(in timeZone: String) -> QuietHours? {
    let time = ValueForm(expected: "a time of day such as \"22:30\"", parse: QuietHours.minutes)
    let (from, to) = (required("from", time), required("to", time))
    let zones = ValueForm(expected: "a name of the tz database, such as \"Europe/Berlin\"") { name in
      TimeZone(identifier: name) == nil ? nil : name
    }
    let zone = value("timeZone", zones) ?? timeZone
    guard let from, let to else { return nil }
    if from == to { mistake("to", "to is when they begin", expected: "another time of day") }
    return QuietHours(from: from, to: to, timeZone: zone)
  }

  fileprivate func appointment() -> NotificationRule.Appointment? {
    typealias Appointment = NotificationRule.Appointment
    let place = requiredText("place", expected: "a place of interest or an entrance, by identifier or name")
    if let place, place.utf8.count > Appointment.maximumName {
      mistake("place", "place has \(place.utf8.count) bytes", expected: "at most \(Appointment.maximumName)")
    }
    let moments = ValueForm(expected: "a time such as \"2026-07-01T12:30:00Z\"") { Timestamp(text: $0) }
    let time = required("time", moments)
    let margin = value("margin", .span(example: "5m")) ?? Appointment.usualMargin
    let isAccessible = value("accessible", .flag) ?? false
    guard let place, let time else { return nil }
    return Appointment(place: place, time: time, margin: margin, isAccessible: isAccessible)
  }
}

extension NotificationRule {
  /// Writes the rule as members of an open JSON object; a client that sends them back creates the same rule.
  package func write(to json: inout JSONText) {
    json.member("id", id)
    json.member("application", application)
    switch occasion {
    case .enter, .exit: json.member("region", region)
    case .zoneEnter, .zoneExit: json.member("zone", region)
    case .visitArrive, .visitDepart: json.member("zone", ifPresent: region.isEmpty ? nil : region)
    case .proximity:
      json.member("region", ifPresent: region.isEmpty ? nil : region)
      json.member("beacon", ifPresent: beacons?.description)
    case .lowBattery, .offline, .deadline: break
    }
    json.member("subject", ifPresent: subject?.description)
    DocumentField.write(NotificationRule.properties, of: self, to: &json)
    if let appointment {
      json.openObject("appointment")
      json.member("place", appointment.place)
      json.member("time", appointment.time.rfc3339)
      json.member("margin", appointment.margin.exactlyWritten)
      json.member("accessible", appointment.isAccessible)
      json.closeObject()
    }
    guard let quietHours else { return }
    json.openObject("quietHours")
    json.member("from", QuietHours.text(quietHours.from))
    json.member("to", QuietHours.text(quietHours.to))
    json.member("timeZone", quietHours.timeZone)
    json.closeObject()
  }
}

extension [Schema.Member] {
  private static func place(_ name: Schema) -> Self {
    [
      .optional("region", name),
      .optional(
        "zone",
        .name,
        "The zone, in place of a region, or the zone or place of a visit; with an operator's token."
      ),
      .optional("beacon", .name, "One beacon, or `UUID/major/*`; the occasion is `proximity`."),
      .optional("subject", .name, "Only this observer or beacon."),
    ]
  }

  private static func appointment(_ time: Schema) -> Schema.Member {
    .optional(
      "appointment",
      .closed([
        .required("place", .text(1...NotificationRule.Appointment.maximumName)),
        .required("time", time),
        .optional("margin", .duration, "The time to spare at the arrival; 5m if it is left out."),
        .optional("accessible", .flag, "Whether the subject avoids steps."),
      ]),
      "The place and the time at which the subject is to be there; the occasion is `deadline`."
    )
  }

  fileprivate static let ruleGiven: Self =
    place(.name) + given(NotificationRule.properties) + [
      appointment(.time),
      .optional(
        "quietHours",
        .closed([.required("from", .text), .required("to", .text), .optional("timeZone", .text)]),
        "Without a time zone, those of the venue, or of the server where its venues differ."
      ),
    ]

  fileprivate static let rule: Self =
    [.required("id", .text), .optional("application", .text)] + place(.text)
    + written(NotificationRule.properties) + [
      appointment(.time),
      .optional(
        "quietHours",
        .object([.required("from", .text), .required("to", .text), .required("timeZone", .text)])
      ),
    ]
}

extension Schema {
  package static let notificationDocument = closed(.ruleGiven).named("NotificationDocument")
  package static let notification = object(.rule).named("Notification")
}
