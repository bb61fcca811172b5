import Foundation
import PharosModel
import PharosMQTT
import Testing

/// The keys that Home Assistant's documentation lists for each type of entity.
///
/// - Source: home-assistant/home-assistant.io, `source/_integrations/device_tracker.mqtt.markdown`,
///   `binary_sensor.mqtt.markdown`, `sensor.mqtt.markdown` and `mqtt.markdown` ("Discovery payload": device and origin).
enum DiscoverySchema {
  static let common: Set<String> = [
    "availability", "availability_mode", "availability_template", "availability_topic", "device",
    "enabled_by_default",
    "encoding", "entity_category", "entity_picture", "icon", "json_attributes_template",
    "json_attributes_topic", "name",
    "object_id", "default_entity_id", "origin", "payload_available", "payload_not_available", "platform",
    "qos",
    "unique_id", "value_template",
  ]
  static let allowed: [String: Set<String>] = [
    "device_tracker": common.union([
      "payload_home", "payload_not_home", "payload_reset", "source_type", "state_topic",
    ]),
    "binary_sensor": common.union([
      "device_class", "expire_after", "force_update", "off_delay", "payload_off", "payload_on", "state_topic",
    ]),
    "sensor": common.union([
      "device_class", "expire_after", "force_update", "last_reset_value_template", "options", "state_class",
      "state_topic", "suggested_display_precision", "unit_of_measurement",
    ]),
  ]
  static let required: [String: Set<String>] = [
    "device_tracker": ["json_attributes_topic"], "binary_sensor": ["state_topic"], "sensor": ["state_topic"],
  ]
  static let device: Set<String> = [
    "configuration_url", "connections", "hw_version", "identifiers", "manufacturer", "model", "model_id",
    "name",
    "serial_number", "suggested_area", "sw_version", "via_device",
  ]
  static let origin: Set<String> = ["name", "sw_version", "support_url"]
  /// Values of keys that are one of a list.
  static let values: [String: Set<String>] = [
    "source_type": ["gps", "router", "bluetooth", "bluetooth_le"],
    "state_class": ["measurement", "measurement_angle", "total", "total_increasing"],
    "entity_category": ["config", "diagnostic"],
    "device_class": [
      "presence", "connectivity", "distance", "timestamp", "signal_strength", "voltage",
    ],
    "unit_of_measurement": ["m", "dBm", "mV"],
  ]
}

@Suite("Home Assistant's discovery")
struct DiscoveryTests {
  static let entities: [MQTTEntity] = [
    .tracker(.beacon(Samples.cat)),
    .position(.beacon(Samples.cat)),
    .presence(.beacon(Samples.cat), RegionKey(application: "default", region: "house")),
    .presence(.beacon(Samples.cat), RegionKey(application: "shop", region: "Garden")),
    .sensor(.room, .beacon(Samples.cat)),
    .sensor(.distance, .beacon(Samples.keys)),
    .connectivity(Samples.gateway),
    .server,
    .sensor(.lastRoom, .beacon(Samples.cat)),
    .sensor(.lastRoomSince, .beacon(Samples.cat)),
    .sensor(.nearest, .beacon(Samples.cat)),
    .sensor(.rssi, .beacon(Samples.cat)),
    .sensor(.floor, .beacon(Samples.cat)),
    .sensor(.battery, .beacon(Samples.cat)),
  ]

  private func message(_ entity: MQTTEntity, dashboard: String? = nil) throws -> MQTTMessage {
    let discovery = HomeAssistantDiscovery(names: Samples.names, version: "1.2.3", dashboard: dashboard)
    return try #require(discovery.message(announcing: entity, by: SiteNames(Samples.site)))
  }

  private func object(_ entity: MQTTEntity, dashboard: String? = nil) throws -> [String: Any] {
    let payload = try message(entity, dashboard: dashboard).payload
    let object = try JSONSerialization.jsonObject(with: Data(payload))
    return try #require(object as? [String: Any])
  }

  @Test("each document has the keys that Home Assistant documents, and no other one", arguments: entities)
  func keys(entity: MQTTEntity) throws {
    let object = try object(entity)
    let allowed = try #require(DiscoverySchema.allowed[entity.component])
    #expect(Set(object.keys).subtracting(allowed) == [])
    #expect(DiscoverySchema.required[entity.component]?.subtracting(object.keys) == [])
    for (key, values) in DiscoverySchema.values {
      if let value = object[key] as? String { #expect(values.contains(value), "\(key): \(value)") }
    }
    // Only entities with a unique id belong to a device, and a device has identifiers or connections.
    #expect(object["unique_id"] is String)
    let device = try #require(object["device"] as? [String: Any])
    #expect(Set(device.keys).subtracting(DiscoverySchema.device) == [])
    #expect((device["identifiers"] as? [String])?.isEmpty == false)
    let origin = try #require(object["origin"] as? [String: Any])
    #expect(Set(origin.keys).subtracting(DiscoverySchema.origin) == [])
    #expect(origin["name"] as? String == "Pharos")
    let topics = (object["availability"] as? [[String: Any]])?.compactMap { $0["topic"] as? String }
    let isServer = entity == .server
    // The server is offline rather than unavailable.
    #expect((topics?.first ?? object["availability_topic"] as? String) == (isServer ? nil : "pharos/status"))
    #expect(!isServer || object["state_topic"] as? String == "pharos/status")
    #expect(object["availability"] == nil || object["availability_topic"] == nil)
    #expect([0, 1, 2].contains(try #require(object["qos"] as? Int)))
  }

  @Test("a discovery topic is prefix, component, node, object and config, and retained", arguments: entities)
  func topics(entity: MQTTEntity) throws {
    let message = try message(entity)
    let levels = message.topic.split(separator: "/", omittingEmptySubsequences: false)
    #expect(levels.count == 5)
    #expect(levels.first == "homeassistant" && levels.last == "config")
    #expect(String(levels[1]) == entity.component)
    for level in levels[2...3] {
      #expect(level.wholeMatch(of: /[a-zA-Z0-9_-]+/) != nil)
    }
    #expect(message.isRetained && message.isAcknowledged)
  }

  @Test("the entities of a subject belong to one device, and no two have one id")
  func devices() throws {
    let objects = try Self.entities.map { try object($0) }
    let ids = objects.compactMap { $0["unique_id"] as? String }
    #expect(Set(ids).count == Self.entities.count)
    let devices = try objects.map { object in
      try #require((object["device"] as? [String: Any])?["identifiers"] as? [String])
    }
    #expect(Set(devices.prefix(5) + devices.suffix(6)).count == 1)
    #expect(Set(devices).count == 4)
    let names = objects.compactMap { ($0["device"] as? [String: Any])?["name"] as? String }
    #expect(names.first == "Minka")
    #expect(names[5] == "mac:c0:de:00:00:00:01")
    #expect(names[6] == "kitchen gateway")
    #expect(names[7] == "Pharos")
  }

  @Test(
    "every device is reached through that of the server, links to its page, and a gateway suggests its room"
  )
  func links() throws {
    let server = try #require(try object(.server)["device"] as? [String: Any])
    let node = try #require((server["identifiers"] as? [String])?.first)
    for entity in Self.entities {
      let device = try #require(try object(entity)["device"] as? [String: Any])
      #expect(device["via_device"] as? String == (entity == .server ? nil : node))
      #expect(device["configuration_url"] == nil)
      var isGateway = false
      if case .observer = entity.subject { isGateway = true }
      #expect(device["suggested_area"] as? String == (isGateway ? "Kitchen" : nil))
      let linked = try #require(
        try object(entity, dashboard: "https://home:8080/")["device"] as? [String: Any]
      )
      let address = try #require((linked["configuration_url"] as? String).flatMap { URL(string: $0) })
      #expect(address.scheme == "https" && address.host() == "home" && address.port == 8080)
      let page = address.fragment(percentEncoded: false)
      switch entity.subject {
      case .none: #expect(page == nil)
      case .beacon(let beacon): #expect(page == "/things/\(beacon)")
      case .observer(let observer): #expect(page == "/gateways/\(observer)")
      }
    }
  }

  @Test("a document as it is published")
  func document() throws {
    let expected = """
      {"name":"house","state_topic":"pharos/region/default/house/e2c56db5-dffb-48d2-b060-d0f5a71096e0_1_7",\
      "value_template":"{{ {'inside': 'ON', 'outside': 'OFF'}.get(value_json.state, 'None') }}",\
      "json_attributes_topic":"pharos/region/default/house/e2c56db5-dffb-48d2-b060-d0f5a71096e0_1_7",\
      "device_class":"presence","unique_id":"pharos_e2c56db5-dffb-48d2-b060-d0f5a71096e0_1_7_default_house",\
      "availability_topic":"pharos/status","qos":1,"device":{"identifiers":\
      ["pharos_e2c56db5-dffb-48d2-b060-d0f5a71096e0_1_7"],"name":"Minka","manufacturer":"Pharos","model":"Beacon",\
      "sw_version":"1.2.3","via_device":"pharos"},"origin":{"name":"Pharos","sw_version":"1.2.3"}}
      """
    #expect(String(decoding: try message(Self.entities[2]).payload, as: UTF8.self) == expected)
  }

  @Test("a tracker is home or not home in the words of Home Assistant, by a topic or by its attributes alone")
  func trackers() throws {
    let cat = "e2c56db5-dffb-48d2-b060-d0f5a71096e0_1_7"
    for hasTrackerStates in [true, false] {
      let discovery = HomeAssistantDiscovery(
        names: Samples.names,
        version: "1",
        hasTrackerStates: hasTrackerStates
      )
      let message = try #require(
        discovery.message(announcing: Self.entities[0], by: SiteNames(Samples.site))
      )
      let object = try #require(JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any])
      #expect(object["state_topic"] as? String == (hasTrackerStates ? "pharos/subject/\(cat)" : nil))
      // The names of rooms are not among what the template gives: home, not_home and None are the words by default.
      let template =
        "{{ 'None' if value_json.in_zones is not defined else 'home' if value_json.in_zones else 'not_home' }}"
      #expect(object["value_template"] as? String == (hasTrackerStates ? template : nil))
      #expect(object["payload_home"] == nil && object["payload_not_home"] == nil)
      #expect(object["json_attributes_topic"] as? String == "pharos/subject/\(cat)")
    }
  }

  @Test("nothing is announced without a discovery prefix")
  func none() {
    let names = MQTTNames(prefix: "pharos", discovery: nil, stream: "pharos")
    let discovery = HomeAssistantDiscovery(names: names, version: "1")
    #expect(discovery.message(announcing: Self.entities[0], by: SiteNames(Samples.site)) == nil)
    #expect(!names.ownFilters.contains { $0.hasSuffix("/config") })
    #expect(names.birth == nil)
  }
}
