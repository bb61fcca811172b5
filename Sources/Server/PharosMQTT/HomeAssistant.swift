import PharosDocuments
package import PharosModel

/// An entity of Home Assistant.
package enum MQTTEntity: Hashable, Sendable {
  /// A device tracker: the room of a subject, or whether it is at home.
  case tracker(SubjectID)
  /// A device tracker: the coordinates of a subject.
  case position(SubjectID)
  /// A binary sensor: the presence of a subject in a region.
  case presence(SubjectID, RegionKey)
  /// A sensor: the room of a subject.
  case room(SubjectID)
  /// A sensor: the distance of a subject from the nearest observer.
  case distance(SubjectID)
  /// A binary sensor: the connectivity of an observer.
  case connectivity(ObserverID)

  /// The subject that it belongs to, which is a device of Home Assistant.
  package var subject: SubjectID {
    switch self {
    case .tracker(let subject), .position(let subject), .presence(let subject, _), .room(let subject),
      .distance(let subject):
      subject
    case .connectivity(let observer): .observer(observer)
    }
  }

  /// The type of the entity, as discovery topics spell it.
  package var component: String {
    switch self {
    case .tracker, .position: "device_tracker"
    case .presence, .connectivity: "binary_sensor"
    case .room, .distance: "sensor"
    }
  }

  /// The identifier, which is unique among the entities of a type of one server.
  package var object: String {
    let level = MQTTNames.level(subject)
    return switch self {
    case .tracker: level
    case .position: "\(level)_position"
    case .presence(_, let key): "\(level)_\(MQTTNames.level(key.application))_\(MQTTNames.level(key.region))"
    case .room: "\(level)_room"
    case .distance: "\(level)_distance"
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

  /// Makes the documents of a server.
  package init(names: MQTTNames, version: String, hasTrackerStates: Bool = true) {
    self.names = names
    self.version = version
    self.hasTrackerStates = hasTrackerStates
  }

  /// Returns the message that announces an entity; nil without discovery.
  ///
  /// - Parameters:
  ///   - entity: the entity.
  ///   - site: the site.
  ///   - siteNames: the names that it gives.
  /// - Returns: a retained message.
  package func message(announcing entity: MQTTEntity, of site: Site, by siteNames: SiteNames) -> MQTTMessage?
  {
    guard let topic = names.config(entity.component, entity.object) else { return nil }
    var json = JSONText()
    json.openObject()
    writeState(of: entity, site, to: &json)
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

  private func writeState(of entity: MQTTEntity, _ site: Site, to json: inout JSONText) {
    switch entity {
    case .tracker(let subject):
      // The main entity of a device has the name of the device.
      json.null("name")
      // The state of a tracker is the text as it arrives: Home Assistant uses its template for a comparison only.
      if hasTrackerStates { json.member("state_topic", names.location(of: subject)) }
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
    case .room(let subject):
      json.member("name", "Room")
      json.member("state_topic", names.topic(of: subject))
      json.member("value_template", "{{ value_json.room }}")
      json.member("json_attributes_topic", names.topic(of: subject))
      json.member("icon", "mdi:map-marker")
    case .distance(let subject):
      json.member("name", "Distance")
      json.member("state_topic", names.distance(of: subject))
      json.member("value_template", "{{ value_json.distance }}")
      json.member("json_attributes_topic", names.distance(of: subject))
      json.member("device_class", "distance")
      json.member("state_class", "measurement")
      json.member("unit_of_measurement", "m")
    case .connectivity(let observer):
      json.member("name", "Connectivity")
      json.member("state_topic", names.topic(of: observer))
      json.member("value_template", "{{ 'ON' if value_json.up else 'OFF' }}")
      json.member("json_attributes_topic", names.topic(of: observer))
      json.member("device_class", "connectivity")
      json.member("entity_category", "diagnostic")
    }
  }

  private func writeAvailability(of entity: MQTTEntity, to json: inout JSONText) {
    guard case .tracker(let subject) = entity else {
      return json.member("availability_topic", names.availability)
    }
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
  }

  private func writeDevice(of subject: SubjectID, _ names: SiteNames, to json: inout JSONText) {
    json.openObject("device")
    json.openArray("identifiers")
    json.element("\(self.names.node)_\(MQTTNames.level(subject))")
    json.closeArray()
    json.member("name", names.given(to: subject) ?? subject.description)
    json.member("manufacturer", "Pharos")
    switch subject {
    case .beacon: json.member("model", "Beacon")
    case .observer, .none: json.member("model", "Observer")
    }
    json.member("sw_version", version)
    json.closeObject()
  }
}
