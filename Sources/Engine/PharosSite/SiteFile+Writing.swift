package import PharosDocuments
import PharosModel

extension SiteFile {
  /// Writes a configuration as a site file that gives the same configuration when it is read.
  ///
  /// Keys at their defaults are left out, and so are comments, which no configuration holds.
  ///
  /// - Parameter configuration: the configuration; its warnings are not written.
  /// - Returns: the YAML.
  /// - Throws: the mistakes that a reader would find: not everything that is registered over HTTP can be declared.
  package static func text(of configuration: SiteConfiguration) throws(DocumentError) -> String {
    let path = "site.yaml"
    let text: String
    do {
      text = try YAMLText.text(of: tree(of: configuration))
    } catch {
      throw DocumentError(path: path, problems: [DocumentProblem(place: .line(1), message: "\(error)")])
    }
    var read = try parse(text == "{}\n" ? "" : text, path: path)
    (read.warnings, read.lines) = (configuration.warnings, configuration.lines)
    guard read == configuration else {
      let message = "the configuration holds something that no site file can declare"
      throw DocumentError(path: path, problems: [DocumentProblem(place: .line(1), message: message)])
    }
    return text
  }

  /// The keys and values of a configuration that are not at their defaults.
  static func tree(of configuration: SiteConfiguration) -> JSONValue {
    let site = configuration.site
    let usual = SiteConfiguration()
    var root = Members()
    root.add("stream", .string(site.stream), unless: .string(usual.site.stream))
    root.add("listen", listen(configuration))
    root.add("publish", publish(configuration))
    root.add(
      "tls",
      configuration.tls.map { tls in
        .written { json in
          json.member("certificate", tls.certificate)
          json.member("key", tls.key)
        }
      }
    )
    root.add("data", configuration.data.map { .string($0) })
    root.add(
      "journal",
      configuration.retention == usual.retention
        ? nil
        : .object([
          JSONValue.Member(
            name: "retention",
            value: .written {
              DocumentField.write(Retention.properties, of: configuration.retention, to: &$0)
            }
          )
        ])
    )
    root.add("ingest", configuration.policy == usual.policy ? nil : policy(configuration.policy))
    root.add("applications", site.applications, { application($0, configuration.access) })
    root.add("observers", site.observers) { observer($0, configuration.access) }
    root.add("beacons", site.beacons) { beacon($0, configuration.access) }
    root.add("zones", site.zones, zone)
    root.add("venues", VenueEntries.written(site.venues, configuration.visitors)) { $0 }
    root.add("positioning", positioning(site.positioning))
    root.add("visits", site.visits.map(visits))
    root.add("iBeaconCompanies", site.iBeaconCompanies) { .integer(Int64($0)) }
    root.add(
      "pathLossExponent",
      .number(site.pathLossExponent),
      unless: .number(Site.defaultPathLossExponent)
    )
    return .object(root.members)
  }

  private static func publish(_ configuration: SiteConfiguration) -> JSONValue? {
    var publish = Members()
    publish.add("mqtt", configuration.mqttOutput.map(tree))
    publish.add(
      "mail",
      configuration.mail.map { relay in
        .written { DocumentField.write(MailRelay.properties, of: relay, to: &$0) }
      }
    )
    return publish.members.isEmpty ? nil : .object(publish.members)
  }

  private static func listen(_ configuration: SiteConfiguration) -> JSONValue? {
    var listen = Members()
    if configuration.listen != SiteConfiguration.defaultListen || !configuration.listenerPolicies.isEmpty {
      listen.members.append(
        .init(
          name: "udp",
          value: .array(
            configuration.listen.map { address in
              guard let own = configuration.listenerPolicies[address] else { return .string("\(address)") }
              return .written { json in
                json.member("address", "\(address)")
                json.member("policy", own.rawValue)
              }
            }
          )
        )
      )
    }
    listen.add("mqtt", configuration.mqttInput.map(tree))
    listen.add("http", configuration.http.map { .string("\($0)") })
    listen.add(
      "meraki",
      configuration.meraki.map { posts in
        .written { DocumentField.write(MerakiPosts.properties, of: posts, to: &$0) }
      }
    )
    listen.add("allowedOrigins", configuration.allowedOrigins) { .string($0) }
    listen.add("allowedHosts", configuration.allowedHosts) { .string($0) }
    return listen.members.isEmpty ? nil : .object(listen.members)
  }

  private static func policy(_ policy: IngestPolicy) -> JSONValue {
    .written { $0.member("policy", policy.rawValue) }
  }

  private static func application(_ application: Application, _ access: SiteAccess) -> JSONValue {
    var entry = Members()
    entry.add("id", .string(application.identifier))
    entry.add("purpose", access.purposes[application.identifier].map { .string($0) })
    if let accuracy = access.accuracies[application.identifier] {
      entry.add(.written { DocumentField.write(AccuracyPolicy.properties, of: accuracy, to: &$0) })
    }
    let usual = Application(identifier: application.identifier)
    if application.regionLimit != usual.regionLimit {
      entry.add("regionLimit", .integer(Int64(application.regionLimit)))
    }
    entry.add("regions", application.regions, region)
    entry.add("ranging", application.ranging) { request in
      .written { RangingDocument.write(request, to: &$0) }.without(
        .written { $0.member("whileInside", false) }
      )
    }
    entry.add("rotation", application.rotation, node)
    return .object(entry.members)
  }

  private static func region(_ region: Region) -> JSONValue {
    var usual = Region(identifier: region.identifier, constraint: .unread)
    usual.condition = region.condition
    if let geofence = region.geofence { usual.condition = .geofence(Geofence(shape: geofence.shape)) }
    let defaults = JSONValue.written { RegionDocument.write(usual, to: &$0) }
    return .written { RegionDocument.write(region, to: &$0) }
      .without(defaults, except: ["id"] + DocumentFields.identityKeys + GeofenceDocument.shapeKeys)
  }

  private static func node(_ node: RegionNode) -> JSONValue {
    var entry = Members()
    entry.add("region", region(node.region))
    entry.add("children", node.children, self.node)
    return .object(entry.members)
  }

  private static func observer(_ observer: ObserverEntry, _ access: SiteAccess) -> JSONValue {
    let usual = ObserverEntry(id: observer.id)
    var entry = Members()
    entry.add("id", .string("\(observer.id)"))
    entry.add(
      .written { DocumentField.write(ObserverEntry.properties, of: observer, to: &$0) }
        .without(.written { DocumentField.write(ObserverEntry.properties, of: usual, to: &$0) })
    )
    if access.personObservers.contains(observer.id) { entry.add("person", .bool(true)) }
    return .object(entry.members)
  }

  private static func beacon(_ beacon: BeaconEntry, _ access: SiteAccess) -> JSONValue {
    var entry = Members()
    entry.add(constraint(beacon.constraint, keyedByAddress: beacon.keyedByAddress))
    entry.add(.written { DocumentField.write(BeaconEntry.properties, of: beacon, to: &$0) })
    if access.personBeacons.contains(beacon.constraint) { entry.add("person", .bool(true)) }
    if let words = beacon.identityKey?.words {
      entry.add("irk", .string(Hex.text(words.high, bytes: 8) + Hex.text(words.low, bytes: 8)))
    }
    return .object(entry.members)
  }

  private static func zone(_ zone: Zone) -> JSONValue {
    var entry = Members()
    entry.add("id", .string(zone.identifier))
    entry.add(.written { DocumentField.write(Zone.properties, of: zone, to: &$0) })
    entry.add("observers", zone.observers) { .string("\($0)") }
    entry.add("adjacent", zone.adjacent) { .string($0) }
    entry.add("beacons", zone.beacons) { constraint($0) }
    entry.add("occupancy", zone.occupancy) { threshold in
      .written {
        $0.member("above", threshold.above)
        $0.member("below", threshold.below)
      }
    }
    entry.add(.written { FingerprintDocument.write(zone.fingerprint, to: &$0) })
    return .object(entry.members)
  }

  private static func visits(_ settings: VisitSettings) -> JSONValue {
    let usual = JSONValue.written {
      DocumentField.write(VisitSettings.properties, of: VisitSettings(minimum: settings.minimum), to: &$0)
    }
    var entry = Members()
    entry.add("minimum", .string(settings.minimum.written))
    entry.add(
      .written { DocumentField.write(VisitSettings.properties, of: settings, to: &$0) }.without(usual)
    )
    return .object(entry.members)
  }

  private static func positioning(_ settings: PositioningSettings) -> JSONValue? {
    let usual = JSONValue.written {
      DocumentField.write(PositioningSettings.properties, of: PositioningSettings(), to: &$0)
    }
    var entry = Members()
    entry.add(
      .written { DocumentField.write(PositioningSettings.properties, of: settings, to: &$0) }.without(usual)
    )
    entry.add("tags", settings.tags) { constraint($0) }
    return entry.members.isEmpty ? nil : .object(entry.members)
  }

  private static func constraint(_ constraint: BeaconConstraint, keyedByAddress: Bool = false) -> JSONValue {
    .written { RegionDocument.write(constraint, keyedByAddress: keyedByAddress, to: &$0) }
  }
}

/// The members of a mapping, added one after the other.
private struct Members {
  var members: [JSONValue.Member] = []

  /// Adds a member, unless there is none or it is at its default.
  mutating func add(_ name: String, _ value: JSONValue?, unless usual: JSONValue? = nil) {
    if let value, value != usual { members.append(JSONValue.Member(name: name, value: value)) }
  }

  /// Adds a list, unless it is empty.
  mutating func add<Element>(_ name: String, _ elements: [Element], _ value: (Element) -> JSONValue) {
    if !elements.isEmpty { add(name, .array(elements.map(value))) }
  }

  /// Adds the members of another mapping.
  mutating func add(_ value: JSONValue) {
    if case .object(let more) = value { members += more }
  }
}

extension JSONValue {
  /// The object whose members `write` writes.
  static func written(_ write: (inout JSONText) -> Void) -> JSONValue {
    var json = JSONText()
    json.openObject()
    write(&json)
    json.closeObject()
    do throws(JSONError) {
      return try JSONValue(parsing: json.utf8)
    } catch {
      preconditionFailure("JSONText wrote what is no JSON: \(error)")
    }
  }

  /// Returns an object without the members that another one has alike, within its members as well.
  fileprivate func without(_ defaults: JSONValue, except kept: [String] = []) -> JSONValue {
    guard case .object(let members) = self, case .object(let usual) = defaults else { return self }
    return .object(
      members.compactMap { member in
        guard !kept.contains(member.name) else { return member }
        guard let other = usual.first(where: { $0.name == member.name })?.value else { return member }
        guard member.value != other else { return nil }
        return Member(name: member.name, value: member.value.without(other))
      }
    )
  }
}
