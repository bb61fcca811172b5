import PharosReports

/// How the datagrams of one handset or one observer leave it and reach the server.
struct IndoorSender: Sendable {
  /// The UDP port that all of them send from.
  private static let port: UInt16 = 50_001

  private let observer: ObserverID
  private let sourceAddress: String
  private let network: Network
  private var sequence: UInt32 = 0

  init(observer: ObserverID, sourceAddress: String, network: Network = Network()) {
    self.observer = observer
    self.sourceAddress = sourceAddress
    self.network = network
  }

  /// What arrives of the reports that are sent at a time of a scene.
  mutating func send(
    _ writer: DatagramWriter,
    at time: TimeSpan,
    of scene: IndoorScene,
    _ random: inout RandomStream
  ) -> [SimulatedDatagram] {
    var sent: [SimulatedDatagram] = []
    var last = TimeSpan.zero
    for reports in writer.batches {
      let head = Transmission(bootID: 1, sequence: sequence, uptime: time.counted(drift: 0))
      sequence &+= 1
      for arrival in network.arrivals(sentAt: time, random: &random) {
        // What is sent together queues up together; only a detour lets one overtake another.
        last = network.reordering > 0 ? arrival : max(last, arrival)
        let received = scene.start + last
        sent.append(
          SimulatedDatagram(
            received: received,
            sourceAddress: sourceAddress,
            sourcePort: IndoorSender.port,
            observer: observer,
            head: head,
            reports: reports.received(at: received)
          )
        )
      }
    }
    return sent
  }
}
