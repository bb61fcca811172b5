import PharosModel
import PharosTestSupport

/// Reports of every kind with values that the Pharos datagram holds exactly.
struct RandomReports {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func batch(of count: Int) -> ReportBatch {
    var batch = ReportBatch()
    let observers: [ObserverID] = [
      .eui48(word() >> 16), .eui64(word()), .uuid(UUID128(high: word(), low: word())), .name("h\u{E4}ll"),
    ]
    for index in 0..<count {
      let observer = batch.index(of: observers[index == 0 ? 0 : number(0...3)])
      let timing = ReportTiming.age(.milliseconds(Int64(number(0...Int(UInt32.max)))))
      let body = body(in: &batch)
      batch.append(Report(observer: observer, received: receiveTime, timing: timing, body: body))
    }
    return batch
  }

  private mutating func body(in batch: inout ReportBatch) -> ReportBody {
    switch number(0...10) {
    case 0, 1: return .advert(advert(in: &batch))
    case 2:
      let accuracy = Bool.random(using: &random) ? Meters(Double(single())) : nil
      let power = Bool.random(using: &random) ? Int8(number(-127...(-1))) : nil
      return .rangedBeacon(
        RangedBeacon(beacon: beacon(), rssi: level(), accuracy: accuracy, measuredPower: power)
      )
    case 3: return .scanState(ScanState(rawValue: UInt8(number(0...2))) ?? .off)
    case 4:
      let points = (0..<number(0...12)).map { _ in
        AccessPoint(
          bssid: DeviceAddress(bits: word(), kind: .unknown),
          rssi: level(),
          frequency: UInt16(number(0...65_535)),
          lastHeard: .milliseconds(Int64(number(0...100_000)))
        )
      }
      return .wifiScan(batch.append(accessPoints: points))
    case 5:
      let samples = (0..<number(0...12)).map { _ in
        MotionSample(
          kind: MotionSample.Kind(rawValue: UInt8(number(0...5))) ?? .step,
          age: .microseconds(Int64(number(0...1_000_000))),
          x: single(),
          y: -single(),
          z: 0
        )
      }
      return .motion(batch.append(motionSamples: samples))
    case 6:
      return .outsideFix(fix())
    case 8:
      return .relativePose(
        RelativePose(
          session: UInt32(number(0...Int(UInt32.max))),
          interval: .microseconds(Int64(number(1...1_000_000))),
          x: single(),
          y: -single(),
          z: single(),
          rotation: Bool.random(using: &random) ? rotation() : nil,
          quality: RelativePose.Quality(rawValue: UInt8(number(0...2))) ?? .lost
        )
      )
    case 9:
      return .visualStatus(
        VisualStatus(
          state: PositioningState(rawValue: UInt8(number(0...2))) ?? .notPositioning,
          reasons: PositioningReasons(rawValue: UInt16(number(0...31))),
          scan: ScanStatus(rawValue: UInt8(number(0...2))) ?? .stopped,
          backgroundScan: ScanStatus(rawValue: UInt8(number(0...2))) ?? .stopped
        )
      )
    case 7: return .displayOn
    default:
      return .heartbeat(
        Heartbeat(
          advertsHeard: Bool.random(using: &random) ? UInt32(number(0...1_000)) : nil,
          scanDuty: Bool.random(using: &random) ? Float(number(0...4)) / 4 : nil,
          dropped: UInt32(number(0...9))
        )
      )
    }
  }

  private mutating func advert(in batch: inout ReportBatch) -> Advert {
    let kinds: [DeviceAddress.Kind?] = [.public, .random, .unknown, nil]
    let kind = kinds[number(0...3)]
    let length = number(0...9) == 0 ? number(32...1_200) : number(0...31)
    let payload = (0..<length).map { _ in UInt8(number(0...255)) }
    return Advert(
      address: kind.map { DeviceAddress(bits: word(), kind: $0) },
      rssi: level(),
      pdu: Advert.PDU(rawValue: UInt8(number(0...6))) ?? .unknown,
      channel: [0, 37, 38, 39][number(0...3)],
      advertisingSet: UInt8(number(0...255)),
      payload: batch.append(payload: payload)
    )
  }

  private mutating func beacon() -> BeaconID {
    let id: BeaconID
    switch number(0...2) {
    case 0:
      let uuid = UUID128(high: word(), low: word())
      id = .proximity(uuid, major: UInt16(number(0...65_535)), minor: UInt16(number(0...65_535)))
    case 1:
      id = .eddystone(EddystoneNamespace(high: word(), low: UInt16(number(0...65_535))), instance: word())
    default: return .address(DeviceAddress(bits: word(), kind: .unknown))
    }
    return Bool.random(using: &random) ? id.keyed(by: DeviceAddress(bits: word(), kind: .unknown)) : id
  }

  /// A turn by one of three angles whose sine and cosine are exact.
  private mutating func fix() -> OutsideFix {
    var fix = OutsideFix(
      latitude: Double.random(in: -90...90, using: &random),
      longitude: Double.random(in: -180...180, using: &random),
      horizontalAccuracy: Meters(Double(single())),
      speed: Bool.random(using: &random) ? single() : nil,
      source: Bool.random(using: &random) ? .gnss : .vps,
      altitude: Bool.random(using: &random) ? Meters(Double(-single())) : nil,
      attitude: Bool.random(using: &random) ? rotation() : nil
    )
    if Bool.random(using: &random) { fix.verticalAccuracy = Meters(Double(number(0...65_534)) / 100) }
    if Bool.random(using: &random) { fix.course = Float(number(0...36_000)) / 100 }
    if Bool.random(using: &random) { fix.courseAccuracy = Float(number(0...18_000)) / 100 }
    if Bool.random(using: &random) { fix.speedAccuracy = Float(number(0...65_534)) / 100 }
    if Bool.random(using: &random) { fix.information = .simulatedBySoftware }
    return fix
  }

  private mutating func rotation() -> Rotation {
    [Rotation.identity, Rotation(w: 0, x: 0, y: -1, z: 0), Rotation(w: 0.5, x: 0.5, y: -0.5, z: 0.5)][
      number(0...2)
    ]
  }

  private mutating func level() -> RSSI? { RSSI(reported: Int8(number(-127...20))) }
  private mutating func word() -> UInt64 { random.next() }
  private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
  private mutating func single() -> Float { Float(number(0...100_000)) / 128 }
}
