import PharosDocuments

/// A search for beacons whose identity several tags send: one identity from two lasting addresses at the same time.
///
/// A tag that changes its address sends from one after the other. Two tags take turns, over and over.
package struct SharedIdentities: Sendable {
  /// What was heard of an identity.
  private struct Senders {
    var spans: [DeviceAddress: (first: Timestamp, last: Timestamp, count: Int)] = [:]
    var latest: DeviceAddress
    /// The number of times that another address than the one before sent it.
    var turns = 0
    /// Indicates whether only the times of the first and the last adverts are known.
    var isSummary = false
  }

  private var senders: [BeaconID: Senders] = [:]

  /// The maximum number of identities, and of addresses of one, that are looked at.
  private static let maximum = (identities: 100_000, addresses: 16)
  /// The fewest turns and the shortest common time that prove two senders: reports of one that come late make a few.
  private static let proof = (turns: 6, time: TimeSpan.seconds(20), adverts: 4)

  /// The shortest common time that proves two senders where nothing else is known: gateways that send once a minute hold adverts
  /// back for so long at most, each for a time of its own.
  private static let summaryProof = TimeSpan.minutes(3)

  /// Starts with nothing heard.
  package init() {}

  /// Records an advert of a beacon, whose identity does not contain the address.
  package mutating func record(_ beacon: BeaconID, from address: DeviceAddress, at time: Timestamp) {
    guard beacon.address == nil, !address.isPrivate else { return }
    guard var known = senders[beacon] else {
      guard senders.count < SharedIdentities.maximum.identities else { return }
      senders[beacon] = Senders(spans: [address: (time, time, 1)], latest: address)
      return
    }
    if known.latest != address {
      known.turns += 1
      known.latest = address
    }
    if let span = known.spans[address] {
      known.spans[address] = (min(span.first, time), max(span.last, time), span.count + 1)
    } else if known.spans.count < SharedIdentities.maximum.addresses {
      known.spans[address] = (time, time, 1)
    }
    senders[beacon] = known
  }

  /// Records that a beacon was heard from an address from one time to another, as a running server sums it up.
  package mutating func record(
    _ beacon: BeaconID,
    from address: DeviceAddress,
    between first: Timestamp,
    and last: Timestamp
  ) {
    for time in [first, last] { record(beacon, from: address, at: time) }
    senders[beacon]?.isSummary = true
    senders[beacon]?.spans[address]?.count = SharedIdentities.proof.adverts
  }

  /// The identities that several tags send, with the addresses of these.
  package var conflicts: [(beacon: BeaconID, addresses: [DeviceAddress])] {
    senders.compactMap { beacon, known in
      guard known.isSummary || known.turns >= SharedIdentities.proof.turns else { return nil }
      let common = known.isSummary ? SharedIdentities.summaryProof : SharedIdentities.proof.time
      let spans = known.spans.filter { $0.value.count >= SharedIdentities.proof.adverts }
      let together = spans.filter { address, span in
        spans.contains { other, rival in
          other != address
            && min(span.last, rival.last) - max(span.first, rival.first) >= common
        }
      }
      return together.isEmpty ? nil : (beacon, together.keys.sorted { $0.bits < $1.bits })
    }
    .sorted { $0.beacon < $1.beacon }
  }

  /// Returns a sentence, without its end, about each conflict.
  ///
  /// - Parameter isKeyed: indicates whether a site already keeps the tags of a beacon apart by their addresses.
  /// - Returns: the sentences, in the order of the beacons.
  package func remarks(except isKeyed: (BeaconID) -> Bool = { _ in false }) -> [String] {
    conflicts.filter { !isKeyed($0.beacon) }.map { beacon, addresses in
      "\(addresses.count) tags send one identity: \(beacon) comes from "
        + "\(addresses.prefix(4).map(\.description).joined(separator: ", "))"
        + "\(addresses.count > 4 ? " and others" : "") at the same time; give each its own minor, or set key: mac for it "
        + "in the site file"
    }
  }
}

extension Site {
  /// Returns whether the tags of a beacon are kept apart by their addresses.
  package func keepsApart(_ beacon: BeaconID) -> Bool {
    beacons.contains { $0.keyedByAddress && $0.constraint.matches(beacon) }
      || applications.flatMap(\.regions).contains {
        $0.keyedByAddress && $0.constraint?.matches(beacon) == true
      }
  }
}
