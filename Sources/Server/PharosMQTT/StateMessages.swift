import PharosDocuments
package import PharosModel

/// What of a site decides what is published.
struct PublishedSite: Sendable {
  let site: Site
  /// The regions that there are.
  let regions: Set<RegionKey>
  /// The zones that there are, by identifier.
  let zones: [String: Zone]
  /// The names that the site gives.
  let names: SiteNames

  init(_ site: Site) {
    self.site = site
    var regions: Set<RegionKey> = []
    for application in site.applications {
      for region in application.regions + application.rotation.flatMap(\.allRegions) {
        regions.insert(RegionKey(application: application.identifier, region: region.identifier))
      }
    }
    self.regions = regions
    zones = Dictionary(site.zones.map { ($0.identifier, $0) }) { first, _ in first }
    names = SiteNames(site)
  }

  /// The zone that a location is in; nil if it is in none that there is.
  func zone(of location: StateTable.Location) -> Zone? { location.zone?.zone.flatMap { zones[$0] } }

  /// The name of the zone that a location is in; nil if it is in none that there is.
  func room(of location: StateTable.Location) -> String? {
    zone(of: location).map { names.room(ofZone: $0.identifier) }
  }
}

/// Writes states as messages.
struct StateMessages: Sendable {
  let names: MQTTNames

  /// The state of a subject towards a region.
  ///
  /// `nearest` is the observer that hears the subject best now, where it is inside, and `room` the one that it is in.
  func region(
    _ key: RegionKey,
    _ subject: SubjectID,
    _ standing: StateTable.Standing<PublishedState.RegionRecord>,
    nearest: NearestObserver?,
    room: String?,
    in site: PublishedSite
  ) -> MQTTMessage {
    MQTTMessage(
      names.topic(of: key, subject),
      text: JSONText.object { json in
        let record = standing.record
        json.names = site.names
        json.member("state", record.state.name)
        json.member("application", key.application)
        json.member("region", key.region)
        json.identity("subject", subject)
        json.member("room", ifPresent: room)
        if let enteredAt = record.enteredAt { json.member("enteredAt", enteredAt.rfc3339) }
        json.identity("observer", nearest?.observer ?? record.observer)
        if let nearest {
          json.openObject("nearest")
          json.identity("observer", nearest.observer)
          json.member("rssi", nearest.rssi, decimals: 1)
          json.member("lastHeard", nearest.lastHeard.rfc3339)
          json.closeObject()
        }
        json.member("time", record.time.rfc3339)
        if let event = standing.event { json.member("event", event.description) }
      }
    )
  }

  /// The location of a subject: its room, else `home` inside any region, `not_home` outside all, `None` if it is unknown.
  ///
  /// The first message is the location as a text, the second one has everything as JSON.
  func subject(
    _ subject: SubjectID,
    _ location: StateTable.Location,
    in site: PublishedSite
  ) -> [MQTTMessage] {
    let regions = location.regions.filter { site.regions.contains($0.key) }
    let zone = site.zone(of: location)
    let isUnmonitored = location.zone?.isUnmonitored == true
    let inside = regions.filter { $0.value.record.state == .inside }.keys.sorted()
    let room = site.room(of: location)
    let word: String
    // The zones of Home Assistant that the subject is in, by identifier or by name; nil if that is not known.
    let homeAssistantZones: [String]?
    if let room {
      (word, homeAssistantZones) = (room, ["zone.home", room])
    } else if !inside.isEmpty {
      (word, homeAssistantZones) = ("home", ["zone.home"])
    } else if !regions.isEmpty, regions.allSatisfy({ $0.value.record.state == .outside }) {
      (word, homeAssistantZones) = ("not_home", [])
    } else {
      (word, homeAssistantZones) = ("None", nil)
    }
    let document = JSONText.object { json in
      json.names = site.names
      json.member("location", word)
      json.identity("subject", subject)
      if let room, let zone {
        json.member("room", room)
        json.member("zone", zone.identifier)
        if let floor = zone.floor { json.member("level", floor) }
        json.member("zoneState", (isUnmonitored ? RegionState.unmonitored : .inside).name)
      } else {
        json.null("room")
        json.null("zone")
        json.null("zoneState")
      }
      json.strings("inside", inside.map { "\($0.application)/\($0.region)" })
      if let homeAssistantZones { json.strings("in_zones", homeAssistantZones) }
      json.member("time", location.time.rfc3339)
      if let event = location.event { json.member("event", event.description) }
    }
    return [
      MQTTMessage(names.location(of: subject), text: word),
      MQTTMessage(names.topic(of: subject), text: document),
    ]
  }

  /// The room that a subject was in last, and since when.
  func lastRoom(of subject: SubjectID, _ last: LastRoom, in site: PublishedSite) -> MQTTMessage {
    MQTTMessage(
      names.lastRoom(of: subject),
      text: JSONText.object { json in
        json.names = site.names
        json.member("room", site.names.room(ofZone: last.zone))
        json.member("zone", last.zone)
        json.member("since", last.since.rfc3339)
        json.identity("subject", subject)
      }
    )
  }

  /// A notification, which the broker does not retain: who subscribes later has missed it.
  func notification(
    _ notification: NotificationDetail,
    of event: Event,
    in site: PublishedSite
  ) -> MQTTMessage {
    let document = JSONText.object { json in
      json.names = site.names
      json.member("application", event.application)
      json.member("rule", notification.rule)
      json.member("on", notification.occasion.name)
      json.member("title", ifPresent: notification.title)
      json.member("text", notification.text)
      json.member("link", ifPresent: notification.link)
      json.member("picture", ifPresent: notification.picture)
      json.identity("subject", event.subject)
      json.member("time", event.time.rfc3339)
      json.member("event", event.id.description)
    }
    let topic = names.notification(of: notification.rule, application: event.application)
    return MQTTMessage(topic, text: document, isRetained: false)
  }

  /// The state of an observer.
  func observer(
    _ observer: ObserverID,
    _ standing: StateTable.Standing<PublishedState.ObserverRecord>,
    in site: PublishedSite
  ) -> MQTTMessage {
    MQTTMessage(
      names.topic(of: observer),
      text: JSONText.object { json in
        json.names = site.names
        json.member("up", standing.record.isUp)
        json.identity("observer", observer)
        json.member("room", ifPresent: site.names.room(of: observer))
        json.member("time", standing.record.time.rfc3339)
        if let event = standing.event { json.member("event", event.description) }
      }
    )
  }

  /// The distance of a beacon from the observer that is nearest to it; nil if there is none at a time.
  func distance(
    of beacon: BeaconID,
    _ nearest: RangedSighting?,
    at now: Timestamp,
    room: String?,
    in site: PublishedSite
  ) -> MQTTMessage {
    MQTTMessage(
      names.distance(of: .beacon(beacon)),
      Array(
        JSONText.object { json in
          json.names = site.names
          if let nearest {
            json.member("distance", nearest.distance, decimals: 2)
            json.member("deviation", nearest.deviation, decimals: 2)
            json.member("proximity", nearest.proximity.rawValue)
            json.identity("observer", nearest.observer)
          } else {
            json.null("distance")
          }
          json.identity("subject", .beacon(beacon))
          json.member("room", ifPresent: room)
          json.member("time", (nearest?.time ?? now).rfc3339)
        }.utf8
      ),
      isAcknowledged: false
    )
  }

  /// The observer that hears a beacon best; null if none hears it.
  func nearest(of beacon: BeaconID, _ nearest: NearestObserver?, in site: PublishedSite) -> MQTTMessage {
    MQTTMessage(
      names.nearest(of: .beacon(beacon)),
      Array(
        JSONText.object { json in
          json.names = site.names
          if let nearest {
            json.identity("observer", nearest.observer)
            json.member("room", ifPresent: site.names.room(of: nearest.observer))
            json.member("rssi", nearest.rssi, decimals: 1)
            json.member("lastHeard", nearest.lastHeard.rfc3339)
          } else {
            json.null("observer")
            json.null("rssi")
          }
          json.identity("subject", .beacon(beacon))
        }.utf8
      ),
      isAcknowledged: false
    )
  }

  /// The battery of a beacon as it reported it.
  func battery(
    of beacon: BeaconID,
    millivolts: UInt16,
    at time: Timestamp,
    in site: PublishedSite
  ) -> MQTTMessage {
    MQTTMessage(
      names.battery(of: .beacon(beacon)),
      text: JSONText.object { json in
        json.names = site.names
        json.member("millivolts", Int(millivolts))
        json.identity("subject", .beacon(beacon))
        json.member("time", time.rfc3339)
      }
    )
  }

  /// A fix, with the names by which Home Assistant reads a location.
  func fix(of subject: SubjectID, _ fix: FixDetail, at time: Timestamp, in site: PublishedSite) -> MQTTMessage
  {
    MQTTMessage(
      names.fix(of: subject),
      Array(
        JSONText.object { json in
          json.names = site.names
          json.identity("subject", subject)
          fix.write(to: &json)
          if fix.latitude != nil { json.member("gps_accuracy", fix.horizontalAccuracy, decimals: 2) }
          json.member("time", time.rfc3339)
        }.utf8
      ),
      isAcknowledged: false
    )
  }
}

/// The zone that a subject was in last, and the time at which it entered it.
struct LastRoom: Hashable, Sendable {
  let zone: String
  let since: Timestamp
}

/// The observer that hears a beacon best at some time.
package struct NearestObserver: Hashable, Sendable {
  package let observer: ObserverID
  /// The filtered level.
  ///
  /// - Units: dBm.
  package let rssi: Double
  package let lastHeard: Timestamp

  /// Names an observer.
  package init(observer: ObserverID, rssi: Double, lastHeard: Timestamp) {
    (self.observer, self.rssi, self.lastHeard) = (observer, rssi, lastHeard)
  }

  /// Returns whether a receiver of this value needs no other one: the observer is the same, the level differs by less than a
  /// step of 1 dB, and the beacon was heard within a minute.
  func readsAlike(_ other: NearestObserver) -> Bool {
    observer == other.observer && rssi.rounded() == other.rssi.rounded()
      && (TimeSpan.seconds(-60)..<TimeSpan.seconds(60)).contains(other.lastHeard - lastHeard)
  }
}
