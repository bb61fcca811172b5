import PharosDocuments
import PharosModel
import PharosWire
import Testing

/// What a batch holds, one line a report: what tests compare, and what a failure prints.
extension ReportBatch {
  var lines: [String] { reports.map(line(of:)) }

  private func line(of report: Report) -> String {
    let who = observers[Int(report.observer)]
    let when =
      switch report.timing {
      case .received: "received"
      case .age(let age): "age \(age.nanoseconds)"
      case .sent(let time): "sent \(time.nanoseconds)"
      }
    return "\(who) \(text(of: report.body)) \(when)"
  }

  private func text(of body: ReportBody) -> String {
    switch body {
    case .advert(let advert): text(of: advert)
    case .rangedBeacon(let ranged):
      "ranged \(ranged.beacon) \(level(ranged.rssi)) \(ranged.accuracy.map { "\($0.value)" } ?? "-")"
        + (ranged.measuredPower.map { " power \($0)" } ?? "")
    case .scanState(let state): "scan \(state)"
    case .wifiScan(let range):
      "wifi "
        + accessPoints[Int(range.lowerBound)..<Int(range.upperBound)]
        .map { "\($0.bssid) \(level($0.rssi)) \($0.frequency) \($0.lastHeard.nanoseconds)" }
        .joined(separator: ", ")
    case .motion(let range):
      "motion "
        + motionSamples[Int(range.lowerBound)..<Int(range.upperBound)]
        .map { "\($0.kind) \($0.age.nanoseconds) \($0.x) \($0.y) \($0.z)" }
        .joined(separator: ", ")
    case .outsideFix(let fix):
      "fix \(fix.latitude) \(fix.longitude) \(fix.horizontalAccuracy.value) \(fix.speed.map { "\($0)" } ?? "-")"
        + " \(fix.source)\(fix.altitude.map { " up \($0.value)" } ?? "")\(fix.attitude.map { " \(text(of: $0))" } ?? "")"
        + (fix.verticalAccuracy.map { " ±\($0.value)" } ?? "") + (fix.course.map { " to \($0)" } ?? "")
        + (fix.courseAccuracy.map { " ±\($0)°" } ?? "") + (fix.speedAccuracy.map { " ±\($0)m/s" } ?? "")
        + (fix.information.isEmpty ? "" : " by \(fix.information.rawValue)")
    case .relativePose(let pose):
      "pose \(pose.session) \(pose.interval.nanoseconds) \(pose.x) \(pose.y) \(pose.z) \(pose.rotation.map { text(of: $0) } ?? "-")"
        + " \(pose.quality)"
    case .visualStatus(let status):
      "visual \(status.state) \(status.reasons.rawValue) \(status.scan) \(status.backgroundScan)"
    case .displayOn: "display on"
    case .heartbeat(let beat):
      "heartbeat \(beat.advertsHeard.map { "\($0)" } ?? "-") \(beat.scanDuty.map { "\($0)" } ?? "-")"
        + " \(beat.dropped)"
    case .transmission(let head): "head \(head.bootID) \(head.sequence) \(head.uptime.nanoseconds)"
    }
  }

  private func text(of rotation: Rotation) -> String {
    "[\(rotation.w) \(rotation.x) \(rotation.y) \(rotation.z)]"
  }

  private func text(of advert: Advert) -> String {
    let payload = payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)]
    var parts = ["advert"]
    parts.append(advert.address.map { "\($0)/\($0.kind)" } ?? "anonymous")
    parts.append(level(advert.rssi))
    parts.append("\(advert.pdu)")
    if advert.channel != 0 { parts.append("ch\(advert.channel)") }
    if advert.advertisingSet != 255 { parts.append("sid\(advert.advertisingSet)") }
    parts.append("[\(Hex.text(payload))]")
    return parts.joined(separator: " ")
  }

  private func level(_ rssi: RSSI?) -> String { rssi.map { "\($0.dBm)" } ?? "-" }
}

/// The receive time of all datagrams in these tests: 2025-01-01.
let receiveTime = Timestamp(seconds: 1_735_689_600)

/// The reports of a datagram as lines, or the reason why it was refused.
func decoded(_ datagram: [UInt8]) -> Result<[String], DatagramRefusal> {
  var decoder = DatagramDecoder()
  var batch = ReportBatch()
  return decoder.decode(datagram.span.bytes, received: receiveTime, into: &batch).map { _ in batch.lines }
}

/// The same for text.
func decoded(_ text: String) -> Result<[String], DatagramRefusal> { decoded(Array(text.utf8)) }

/// The reports of a datagram as lines, nil if it was refused, and what was skipped.
func read(_ datagram: [UInt8]) -> (lines: [String]?, notes: DecodingNotes) {
  var decoder = DatagramDecoder()
  var batch = ReportBatch()
  switch decoder.decode(datagram.span.bytes, received: receiveTime, into: &batch) {
  case .success: return (batch.lines, decoder.notes)
  case .failure: return (nil, decoder.notes)
  }
}
