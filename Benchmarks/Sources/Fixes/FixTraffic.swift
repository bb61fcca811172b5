import PharosFixes
import PharosModel
import PharosSimulation
import PharosSpace
import PharosWire

/// The reports of some handsets on their ways through a simulated mall, recorded once and repeated under other names.
struct FixTraffic {
  /// How many ways there are; subjects share them.
  static let ways = 8
  /// How many networks each access point carries, each with an address of its own: a scan of a mall lists hundreds.
  static let networks = 10
  /// How often a handset sends.
  static let period = TimeSpan.milliseconds(500)

  /// Where they walk.
  let ground: LocatableVenue
  /// When they begin.
  let start: Timestamp
  /// For each way, for each period, what is sent at its end.
  let periods: [[ReportBatch]]

  /// Records so many seconds.
  init(seconds: Int) throws {
    let venue = SimulatedMall.venue(networks: FixTraffic.networks)
    let planner = JourneyPlanner(venue: venue, storey: SimulatedMall.storey)
    ground = LocatableVenue(venue: venue)
    start = Scene.defaultStart
    var periods: [[ReportBatch]] = []
    for way in 0..<FixTraffic.ways {
      let length = TimeSpan.seconds(Double(seconds))
      let journey = try planner.tour(seed: UInt64(way), on: SimulatedMall.floor(way % 3), lasting: length)
      let handset = Handset(
        id: .name("way \(way)"),
        journey: journey,
        period: FixTraffic.period,
        network: Network(delay: .zero, jitter: .zero)
      )
      let scene = IndoorScene(
        name: "way",
        duration: length,
        venue: venue,
        storey: SimulatedMall.storey,
        handsets: [handset]
      )
      var batches = [ReportBatch](repeating: ReportBatch(), count: seconds * 2)
      for item in try IndoorSimulation(scene, seed: UInt64(way)) {
        guard case .datagram(let datagram) = item else { continue }
        let place =
          Int((datagram.received - scene.start).milliseconds / FixTraffic.period.milliseconds + 0.5) - 1
        for report in datagram.reports.reports { batches[place].append(report, from: datagram.reports) }
      }
      periods.append(batches)
    }
    self.periods = periods
  }

  /// What a period of a subject holds, under its own name.
  func batch(of subject: Int, period: Int) -> ReportBatch {
    periods[subject % FixTraffic.ways][period].renamed(FixTraffic.name(of: subject))
  }

  /// Who a subject says it is.
  static func name(of subject: Int) -> ObserverID { .eui48(0x0200_0000_0000 | UInt64(subject)) }

  /// The sensings of a way, as stage one would hand them on.
  func sensings(of way: Int) -> [[Sensing]] {
    periods[way].map { batch in
      var found: [Sensing] = []
      let decoder = FrameDecoder()
      for report in batch.reports {
        guard case .age(let age) = report.timing else { continue }
        let body: Sensing.Body
        switch report.body {
        case .wifiScan(let range):
          body = .accessPoints(Array(batch.accessPoints[Int(range.lowerBound)..<Int(range.upperBound)]))
        case .motion(let range):
          body = .motion(Array(batch.motionSamples[Int(range.lowerBound)..<Int(range.upperBound)]))
        case .advert(let advert):
          let bytes = Array(batch.payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)])
          guard let beacon = decoder.frames(in: bytes.span.bytes).first?.beacon, let rssi = advert.rssi else {
            continue
          }
          body = .beacon(beacon, address: advert.address, rssi: rssi, accuracy: nil)
        default: continue
        }
        found.append(
          Sensing(
            observer: .name("way"),
            time: report.received - age,
            decidedAt: report.received,
            ordinal: UInt64(found.count),
            body: body
          )
        )
      }
      return found
    }
  }

  /// What a handset tells in a second, in the mean.
  var summary: String {
    let batches = periods.flatMap { $0 }
    let seconds = Double(batches.count) / 2
    let samples = batches.reduce(0) { $0 + $1.motionSamples.count }
    let points = batches.reduce(0) { $0 + $1.accessPoints.count }
    let reports = batches.reduce(0) { $0 + $1.reports.count }
    func rate(_ count: Int) -> String { "\((Double(count) / seconds).rounded())" }
    return "\(rate(samples)) motion samples, \(rate(points)) entries of scans, \(rate(reports)) reports"
  }
}

extension ReportBatch {
  /// The same reports from another observer.
  fileprivate func renamed(_ observer: ObserverID) -> ReportBatch {
    var batch = ReportBatch()
    for report in reports {
      var copy = report
      switch report.body {
      case .advert(var advert):
        advert.payload = batch.append(
          payload: payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)]
        )
        copy.body = .advert(advert)
      case .wifiScan(let range):
        let points = accessPoints[Int(range.lowerBound)..<Int(range.upperBound)]
        copy.body = .wifiScan(batch.append(accessPoints: points))
      case .motion(let range):
        let samples = motionSamples[Int(range.lowerBound)..<Int(range.upperBound)]
        copy.body = .motion(batch.append(motionSamples: samples))
      default: break
      }
      copy.observer = batch.index(of: observer)
      batch.append(copy)
    }
    return batch
  }
}
