import PharosReports

extension Simulation {
  /// Sends what an observer has heard since its last datagram, if anything.
  mutating func sendPending(observer index: Int, at time: TimeSpan) {
    guard !observers[index].pending.isEmpty else { return }
    let observer = scene.observers[index]
    var writer = DatagramWriter(observer: observer.id)
    switch observer.reporting {
    case .adverts: writeAdverts(observer: index, at: time, to: &writer)
    case .rangedBeacons: writeRangedBeacons(observer: index, at: time, to: &writer)
    }
    observers[index].pending.removeAll(keepingCapacity: true)
    send(writer, observer: index, at: time)
  }

  private func writeAdverts(observer index: Int, at time: TimeSpan, to writer: inout DatagramWriter) {
    for sighting in observers[index].pending {
      let transmitter = scene.transmitters[sighting.transmitter]
      let advert = Advert(
        address: transmitter.address,
        rssi: RSSI(dBm: sighting.level),
        pdu: transmitter.pdu,
        channel: sighting.channel,
        payload: 0..<0
      )
      writer.append(
        advert,
        payload: transmitter.payloads[sighting.payload],
        age: (time - sighting.time).counted(drift: scene.observers[index].clockDrift)
      )
    }
  }

  /// Writes one ranged beacon for each beacon heard, with the mean of its levels, in the order first heard.
  ///
  /// Distances have the precision of the datagram format, so that the decoded distance equals the written one.
  private func writeRangedBeacons(observer index: Int, at time: TimeSpan, to writer: inout DatagramWriter) {
    var heard: [(transmitter: Int, sum: Int, count: Int)] = []
    for sighting in observers[index].pending {
      if let known = heard.firstIndex(where: { $0.transmitter == sighting.transmitter }) {
        heard[known].sum += Int(sighting.level)
        heard[known].count += 1
      } else {
        heard.append((sighting.transmitter, Int(sighting.level), 1))
      }
    }
    for entry in heard {
      let transmitter = scene.transmitters[entry.transmitter]
      guard transmitter.beacon.kind == .proximity, let claimed = transmitter.measuredPower else { continue }
      let mean = Double(entry.sum) / Double(entry.count)
      let ranged = RangedBeacon(
        beacon: transmitter.beacon,
        rssi: RSSI(dBm: Int8(mean.rounded())),
        accuracy: Meters(Double(Float(Radio.ideal.distance(pathLoss: Double(claimed) - mean))))
      )
      writer.append(.rangedBeacon(ranged), age: .zero)
    }
  }

  /// Numbers the datagrams and puts them on their way, unless the observer has no network.
  mutating func send(_ writer: DatagramWriter, observer index: Int, at time: TimeSpan) {
    let observer = scene.observers[index]
    for reports in writer.batches {
      let state = observers[index]
      let head = Transmission(
        bootID: state.bootID,
        sequence: state.sequence,
        uptime: (time - state.bootedAt).counted(drift: observer.clockDrift)
      )
      observers[index].sequence &+= 1
      let arrivals = observer.network.arrivals(sentAt: time, random: &observers[index].random)
      guard !observer.has(.network, at: time) else { continue }
      for arrival in arrivals {
        let received = scene.start + arrival
        let datagram = SimulatedDatagram(
          received: received,
          sourceAddress: observer.sourceAddress,
          sourcePort: observer.sourcePort,
          observer: observer.id,
          head: head,
          reports: reports.received(at: received)
        )
        underway.add(datagram, at: arrival)
      }
    }
  }
}
