import FuzzSupport
import PharosDocuments
import PharosModel

/// Values as they lie in recordings, checkpoints and the journal.
///
/// - Shape: 0 which type, then its fields.
final class FieldsTarget: FuzzTarget {
  static let name = "fields"
  static let maximumLength = 2_048

  func run(_ input: RawSpan) {
    guard input.byteCount > 0 else { return }
    let bytes = input.array
    switch bytes[0] % 8 {
    case 0: check(Site.self, bytes)
    case 1: check(RegionChange.self, bytes)
    case 2: check(PublishedState.self, bytes)
    case 3: check(Application.self, bytes)
    case 4: check(BeaconID.self, bytes)
    case 5: check(SubjectID.self, bytes)
    case 6: check(RegionNode.self, bytes)
    default: check(ObserverEntry.self, bytes)
    }
  }

  /// Compares bytes, not values: of two that are no number neither is the other.
  private func check<Value: FieldCodable>(_: Value.Type, _ bytes: [UInt8]) {
    var reader = FieldReader(bytes[1...])
    let value: Value
    do {
      value = try Value(from: &reader)
    } catch {
      demand(error.offset <= bytes.count, "an error lies within the bytes")
      _ = error.description
      return
    }
    demand(reader.offset <= bytes.count - 1, "a value is read from what is there")
    let first = Self.bytes(of: value)
    var again = FieldReader(first[...])
    do {
      let copy = try Value(from: &again)
      try again.finish()
      demand(Self.bytes(of: copy) == first, "a value comes back as it was written")
    } catch {
      demand(false, "what is written can be read: \(error)")
    }
  }

  private static func bytes(of value: some FieldCodable) -> [UInt8] {
    var writer = FieldWriter()
    value.write(to: &writer)
    return writer.bytes
  }

  static func seeds() throws -> [[UInt8]] {
    let site = SampleSite.site
    let region = site.applications[0].regions[1]
    let uuid = SampleSite.uuid
    let beacon = BeaconID.proximity(uuid, major: 1, minor: 2).keyed(
      by: DeviceAddress(bits: 9, kind: .unknown)
    )
    let observer = SampleSite.gateways[0]
    let constraint = BeaconConstraint.proximity(uuid, major: 1)
    var committed = PublishedState()
    let start = Timestamp(seconds: 1_700_000_000)
    committed.zones = [.init(beacon: beacon, zone: "zone0", time: start, decidedAt: start)]
    committed.observers = [.init(observer: observer, isUp: true, time: start, decidedAt: start)]
    let changes: [RegionChange] = [
      .startMonitoring(application: "depot", region, assuming: .unknown),
      .stopMonitoring(application: "depot", identifier: "any"),
      .setRotation(
        application: "depot",
        [RegionNode(region: region, children: [RegionNode(region: region)])]
      ),
      .startRanging(application: "depot", RangingRequest(constraint: constraint)),
      .stopRanging(application: "depot", constraint),
      .requestState(application: "depot", identifier: "any", subject: .beacon(beacon)),
      .acceptObserver(observer),
      .dismissObserver(observer),
      .setRegionLimit(application: "depot", 3),
      .declare(site),
    ]
    var seeds: [[UInt8]] = changes.map { [1] + bytes(of: $0) }
    seeds.append([0] + bytes(of: site))
    seeds.append([2] + bytes(of: committed))
    seeds.append([3] + bytes(of: site.applications[0]))
    seeds.append([4] + bytes(of: beacon))
    seeds.append([5] + bytes(of: SubjectID.observer(observer)))
    seeds.append([6] + bytes(of: RegionNode(region: region)))
    for entry in site.observers { seeds.append([7] + bytes(of: entry)) }
    return seeds
  }
}
