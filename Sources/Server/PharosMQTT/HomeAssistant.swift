import PharosDocuments
package import PharosModel

/// An entity of Home Assistant.
package enum MQTTEntity: Hashable, Sendable {
  /// A sensor about a subject.
  package enum Sensor: Hashable, Sendable, CaseIterable {
    /// The room of a subject.
    case room
    /// The room that a subject was in last, which stays when it leaves.
    case lastRoom
    /// The time at which a subject entered the room that it was in last.
    case lastRoomSince
    /// The distance of a subject from the nearest observer.
    case distance
    /// The observer that hears a subject best.
    case nearest
    /// The level at which that observer hears it.
    case rssi
    /// The floor of the zone that a subject is in.
    case zoneFloor
    /// The floor of the last fix of a subject, which takes the place of ``zoneFloor``.
    case floor
    /// The voltage of the battery of a beacon.
    case battery

    /// The last part of its identifier.
    var suffix: String {
      switch self {
      case .room: "room"
      case .lastRoom: "last_room"
      case .lastRoomSince: "last_room_since"
      case .distance: "distance"
      case .nearest: "nearest"
      case .rssi: "rssi"
      case .zoneFloor, .floor: "floor"
      case .battery: "battery"
      }
    }
  }

  /// A binary sensor: the connection of the server itself, whose device all others belong to.
  case server
  /// A device tracker: whether a subject is at home.
  case tracker(SubjectID)
  /// A device tracker: the coordinates of a subject.
  case position(SubjectID)
  /// A binary sensor: the presence of a subject in a region.
  case presence(SubjectID, RegionKey)
  /// A sensor about a subject.
  case sensor(Sensor, SubjectID)
  /// A binary sensor: the connectivity of an observer.
  case connectivity(ObserverID)

  /// The subject that it belongs to, which is a device of Home Assistant; none for the server.
  package var subject: SubjectID {
    switch self {
    case .server: .none
    case .tracker(let subject), .position(let subject), .presence(let subject, _), .sensor(_, let subject):
      subject
    case .connectivity(let observer): .observer(observer)
    }
  }

  /// The type of the entity, as discovery topics spell it.
  package var component: String {
    switch self {
    case .tracker, .position: "device_tracker"
    case .server, .presence, .connectivity: "binary_sensor"
    case .sensor: "sensor"
    }
  }

  /// The identifier, which is unique among the entities of a type of one server.
  package var object: String {
    let level = MQTTNames.level(subject)
    return switch self {
    case .server: "server"
    case .tracker: level
    case .position: "\(level)_position"
    case .presence(_, let key): "\(level)_\(MQTTNames.level(key.application))_\(MQTTNames.level(key.region))"
    case .sensor(let sensor, _): "\(level)_\(sensor.suffix)"
    case .connectivity: "\(level)_connectivity"
    }
  }
}

/// The documents by which Home Assistant discovers entities.
///
/// - Source: Home Assistant, integrations "MQTT" (MQTT discovery), "MQTT device tracker", "MQTT binary sensor" and "MQTT
///   sensor".
package struct HomeAssistantDiscovery: Sendable {
  let names: MQTTNames
  /// The version of Pharos, which devices show as their software.
  let version: String
  /// Indicates whether trackers are announced with a topic for their state, which Home Assistant reads until 2026.12.
  let hasTrackerStates: Bool
  /// The address of the dashboard, with a slash at its end, which devices link to; nil if there is none.
  let dashboard: String?

  /// Makes the documents of a server.
  package init(
    names: MQTTNames,
    version: String,
    hasTrackerStates: Bool = true,
    dashboard: String? = nil
  ) {
    self.names = names
    self.version = version
    self.hasTrackerStates = hasTrackerStates
    self.dashboard = dashboard
  }

  /// Returns the message that announces an entity; nil without discovery.
  ///
  /// - Parameters:
  ///   - entity: the entity.
  ///   - siteNames: the names that the site gives.
  /// - Returns: a retained message.
  package func message(announcing entity: MQTTEntity, by siteNames: SiteNames) -> MQTTMessage? {
    guard let topic = names.config(entity.component, entity.object) else { return nil }
    var json = JSONText()
    json.openObject()
    writeState(of: entity, to: &json)
    json.member("unique_id", "\(names.node)_\(entity.object)")
    writeAvailability(of: entity, to: &json)
    json.member("qos", 1)
    writeDevice(of: entity.subject, siteNames, to: &json)
    json.openObject("origin")
    json.member("name", "Pharos")
    json.member("sw_version", version)
    json.closeObject()
    json.closeObject()
    return MQTTMessage(topic, json.utf8)
  }

  private func writeState(of entity: MQTTEntity, to json: inout JSONText) {
    switch entity {
    case .server:
      json.member("name", "Connectivity")
      json.member("state_topic", names.availability)
      json.member("payload_on", "online")
      json.member("payload_off", "offline")
      json.member("device_class", "connectivity")
      json.member("entity_category", "diagnostic")
    case .tracker(let subject):
      // The main entity of a device has the name of the device.
      json.null("name")
      // Home Assistant's word for each zone of the house is `home`, also where it decides by `in_zones`; rooms have a sensor.
      if hasTrackerStates {
        json.member("state_topic", names.topic(of: subject))
        json.member(
          "value_template",
          "{{ 'None' if value_json.in_zones is not defined else 'home' if value_json.in_zones else 'not_home' }}"
        )
      }
      // Later versions take the state from the zones in `in_zones`.
      json.member("json_attributes_topic", names.topic(of: subject))
      json.member("source_type", "bluetooth_le")
    case .position(let subject):
      json.member("name", "Position")
      json.member("json_attributes_topic", names.fix(of: subject))
      json.member("source_type", "bluetooth_le")
    case .presence(let subject, let key):
      json.member("name", key.application == "default" ? key.region : "\(key.region) (\(key.application))")
      json.member("state_topic", names.topic(of: key, subject))
      json.member(
        "value_template",
        "{{ {'inside': 'ON', 'outside': 'OFF'}.get(value_json.state, 'None') }}"
      )
      json.member("json_attributes_topic", names.topic(of: key, subject))
      json.member("device_class", "presence")
    case .sensor(let sensor, let subject): write(sensor, of: subject, to: &json)
    case .connectivity(let observer):
      json.member("name", "Connectivity")
      json.member("state_topic", names.topic(of: observer))
      json.member("value_template", "{{ 'ON' if value_json.up else 'OFF' }}")
      json.member("json_attributes_topic", names.topic(of: observer))
      json.member("device_class", "connectivity")
      json.member("entity_category", "diagnostic")
    }
  }

  private func write(_ sensor: MQTTEntity.Sensor, of subject: SubjectID, to json: inout JSONText) {
    func value(_ name: String, _ topic: String, _ value: String) {
      json.member("name", name)
      json.member("state_topic", topic)
      json.member("value_template", "{{ \(value) }}")
      json.member("json_attributes_topic", topic)
    }
    func measures(_ deviceClass: String, _ unit: String) {
      json.member("device_class", deviceClass)
      json.member("state_class", "measurement")
      json.member("unit_of_measurement", unit)
    }
    switch sensor {
    case .room:
      value("Room", names.topic(of: subject), "value_json.room")
      json.member("icon", "mdi:map-marker")
    case .lastRoom:
      value("Last room", names.lastRoom(of: subject), "value_json.room")
      json.member("icon", "mdi:map-marker-outline")
    case .lastRoomSince:
      value("Last room since", names.lastRoom(of: subject), "value_json.since")
      json.member("device_class", "timestamp")
    case .distance:
      value("Distance", names.distance(of: subject), "value_json.distance")
      measures("distance", "m")
    case .nearest:
      value(
        "Nearest gateway",
        names.nearest(of: subject),
        "value_json.observerName | default(value_json.observer)"
      )
      json.member("icon", "mdi:access-point")
    case .rssi:
      value("RSSI", names.nearest(of: subject), "value_json.rssi")
      measures("signal_strength", "dBm")
      json.member("entity_category", "diagnostic")
    case .zoneFloor, .floor:
      let topic = sensor == .floor ? names.fix(of: subject) : names.topic(of: subject)
      value("Floor", topic, "value_json.floorName | default(value_json.level) | default('None')")
      json.member("icon", "mdi:layers")
    case .battery:
      value("Battery", names.battery(of: subject), "value_json.millivolts")
      measures("voltage", "mV")
      json.member("entity_category", "diagnostic")
    }
  }

  private func writeAvailability(of entity: MQTTEntity, to json: inout JSONText) {
    switch entity {
    // The server says itself that it is offline.
    case .server: return
    case .tracker(let subject):
      // `in_zones` cannot express that the location is not known.
      json.openArray("availability")
      json.openObject()
      json.member("topic", names.availability)
      json.closeObject()
      json.openObject()
      json.member("topic", names.topic(of: subject))
      json.member("value_template", "{{ 'online' if value_json.in_zones is defined else 'offline' }}")
      json.closeObject()
      json.closeArray()
      json.member("availability_mode", "all")
    case .position, .presence, .sensor, .connectivity:
      json.member("availability_topic", names.availability)
    }
  }

  private func writeDevice(of subject: SubjectID, _ names: SiteNames, to json: inout JSONText) {
    let node = self.names.node
    let (name, model, page): (String, String, String)
    switch subject {
    case .none: (name, model, page) = ("Pharos", "Server", "")
    case .beacon:
      (name, model, page) = (names.given(to: subject) ?? subject.description, "Beacon", "#/things/")
    case .observer:
      (name, model, page) = (names.given(to: subject) ?? subject.description, "Observer", "#/gateways/")
    }
    json.openObject("device")
    json.openArray("identifiers")
    json.element(subject == .none ? node : "\(node)_\(MQTTNames.level(subject))")
    json.closeArray()
    json.member("name", name)
    json.member("manufacturer", "Pharos")
    json.member("model", model)
    json.member("sw_version", version)
    if case .observer(let observer) = subject {
      json.member("suggested_area", ifPresent: names.room(of: observer))
    }
    if subject != .none { json.member("via_device", node) }
    if let dashboard {
      let identity = subject == .none ? "" : PercentCoding.encode(segment: subject.description)
      json.member("configuration_url", dashboard + page + identity)
    }
    json.closeObject()
  }
}
