import PharosModel
import PharosSecurity
import PharosSimulation

/// The part of a plan that draws who reads what the server publishes, and in which formats and with which keys gateways send.
extension FaultPlan {
  mutating func addReaders() {
    var random = RandomStream(seed: seed, 10)
    kinds.formUnion(FaultKind.third.filter { _ in random.chance(0.25) })
    hasWebhook = kinds.contains(.receiver) || random.chance(0.2)
    hasBroker = kinds.contains(.broker) || random.chance(0.2)
    for index in stations.indices {
      let envelope = Int(random.next() % UInt64(Envelope.allCases.count))
      if stations[index].speaksJSON { stations[index].envelope = Envelope.allCases[envelope] }
      // Of two gateways with one identity and one key, the windows refuse what the one with the lower boot id sends.
      guard kinds.contains(.replay), !kinds.contains(.twin), stations[index].speaksPharos else {
        continue
      }
      stations[index].key = try? ObserverKey(
        id: UInt32(index + 1),
        secret: (0..<ObserverKey.secretLength).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      )
    }
  }
}
