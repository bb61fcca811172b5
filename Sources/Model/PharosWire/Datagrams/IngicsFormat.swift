public import PharosModel

/// Ingics gateways (iGS01S, iGS02E, iGS03): lines of text, one report each.
///
/// `$GPRP,<tag MAC>,<gateway MAC>,<dBm>,<AD bytes in hex>[,<Unix time>]`, and the same with `$RSPR` (scan
/// responses), `$LRAD` and `$LRSR` (coded PHY), `$1MAD` and `$1MSR` (extended adverts on 1M). `$HBRP` is a
/// heartbeat, `$GPSR` the gateway's own fix. Lines of other types are counted and skipped.
///
/// * Whole seconds are too coarse: the receive time stands. Gateways set to milliseconds give a time of their
///   own.
/// * A fix's accuracy is its HDOP times 5 m, the usual error of a receiver under an open sky; the unit of its
///   speed is not documented, so it is left out.
///
/// - Source: iGS01S user manual, page 3; iGS03M user manual, page 6; the heartbeat as gateways send it.
public enum IngicsFormat: DatagramFormat {
  /// The name in metrics, logs and site files.
  public static let name = "ingics"
  /// The first bytes, for operators.
  public static let beginning = "$"

  /// The error of a receiver at an HDOP of 1.
  ///
  /// - Units: metres; the user range error that receivers commonly assume, 68 %.
  static let metresPerHDOP = 5.0

  /// Returns whether the datagram begins with a `$`.
  public static func recognises(_ datagram: RawSpan) -> Bool {
    !datagram.isEmpty && datagram.byte(at: 0) == UInt8(ascii: "$")
  }

  /// Returns whether a line begins further on: gateways on serial servers begin in the middle of a line, or with noise.
  public static func recognisesWithin(_ datagram: RawSpan) -> Bool {
    nextStart(datagram, in: datagram.wholeRange) != nil
  }

  /// Appends one report for each line; what cannot be read, or is of another type, is skipped.
  ///
  /// Where bytes were lost or added, a line also begins behind what is no line.
  public static func decode(
    _ datagram: RawSpan,
    within context: MessageContext,
    into batch: inout ReportBatch,
    notes: inout DecodingNotes
  ) throws(DatagramRefusal) {
    let before = batch.count
    var lines = TextFields(0..<WireText.end(datagram))
    while let line = lines.nextLine(datagram) {
      var rest: Range<Int>? = line
      while let line = rest {
        let isRead = notes.attempt(&batch) { batch throws(DatagramRefusal) in
          try decode(line: line, of: datagram, received: context.received, into: &batch)
        }
        rest = isRead ? nil : nextStart(datagram, in: line.dropFirst()).map { $0..<line.upperBound }
      }
    }
    guard batch.count > before else { throw notes.firstReason ?? .nothingUnderstood }
  }

  /// The first place in a range at which a line of a known type begins.
  private static func nextStart(_ datagram: RawSpan, in range: Range<Int>) -> Int? {
    guard range.count > 5 else { return nil }
    return range.dropLast(5).first {
      datagram.byte(at: $0) == UInt8(ascii: "$") && datagram.byte(at: $0 + 5) == UInt8(ascii: ",")
        && IngicsLine(rawValue: datagram.u32(at: $0 + 1)) != nil
    }
  }

  private static func decode(
    line: Range<Int>,
    of datagram: RawSpan,
    received: Timestamp,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    var fields = TextFields(line)
    let name = try fields.next(datagram)
    guard name.count == 5, datagram.byte(at: name.lowerBound) == UInt8(ascii: "$") else { throw .badText }
    guard let type = IngicsLine(rawValue: datagram.u32(at: name.lowerBound + 1)) else {
      throw .nothingUnderstood
    }
    guard let tag = WireText.address(datagram, try fields.next(datagram)) else { throw .badIdentity }
    guard let gateway = WireText.address(datagram, try fields.next(datagram)) else { throw .badIdentity }
    guard let dBm = WireText.integer(datagram, try fields.next(datagram)), -128...127 ~= dBm else {
      throw .badField
    }
    let body: ReportBody
    switch type {
    case .heartbeat:
      _ = try fields.next(datagram)
      body = .heartbeat(Heartbeat())
    case .fix:
      body = .outsideFix(try fix(datagram, &fields))
    case .legacyAdvert, .scanResponse, .codedAdvert, .codedScanResponse, .extendedAdvert,
      .extendedScanResponse:
      let digits = try fields.next(datagram)
      guard let payload = WireText.withHex(datagram, digits, { batch.append(payload: $0) }) else {
        throw .badText
      }
      let level = WireLimits.level(Int(dBm))
      body = .advert(Advert(address: tag, rssi: level, pdu: type.pdu, payload: payload))
    }
    let timing = try timing(datagram, &fields)
    let observer = batch.index(of: .eui48(gateway.bits))
    batch.append(Report(observer: observer, received: received, timing: timing, body: body))
  }

  private static func timing(
    _ datagram: RawSpan,
    _ fields: inout TextFields
  ) throws(DatagramRefusal) -> ReportTiming {
    guard !fields.isAtEnd else { return .received }
    guard let timing = WireTime.timing(datagram, try fields.next(datagram)), fields.isAtEnd else {
      throw .badField
    }
    return timing
  }

  /// Reads `yymmdd,hhmmss.ss,latitude,longitude,speed,hdop`.
  private static func fix(
    _ datagram: RawSpan,
    _ fields: inout TextFields
  ) throws(DatagramRefusal) -> OutsideFix {
    _ = try fields.next(datagram)
    _ = try fields.next(datagram)
    let latitude = WireText.number(datagram, try fields.next(datagram))
    let longitude = WireText.number(datagram, try fields.next(datagram))
    _ = try fields.next(datagram)
    let dilution = WireText.number(datagram, try fields.next(datagram))
    guard let latitude, let longitude, let dilution else { throw .badField }
    guard let fix = WireLimits.fix(latitude, longitude, dilution * metresPerHDOP, -1, .gnss) else {
      throw .badField
    }
    return fix
  }
}

/// A kind of line of an Ingics gateway; the raw value is its four letters as a big-endian number.
enum IngicsLine: UInt32 {
  /// `GPRP`: a legacy advert of any kind.
  case legacyAdvert = 0x4750_5250
  /// `RSPR`: the answer to a scan request.
  case scanResponse = 0x5253_5052
  /// `LRAD`: an extended advert on the coded PHY.
  case codedAdvert = 0x4C52_4144
  /// `LRSR`: the answer to a scan request on the coded PHY.
  case codedScanResponse = 0x4C52_5352
  /// `1MAD`: an extended advert on the 1M PHY.
  case extendedAdvert = 0x314D_4144
  /// `1MSR`: the answer to an extended scan request on the 1M PHY.
  case extendedScanResponse = 0x314D_5352
  /// `HBRP`: the gateway lives.
  case heartbeat = 0x4842_5250
  /// `GPSR`: where the gateway is.
  case fix = 0x4750_5352

  /// The PDU that brought an advert of this line.
  var pdu: Advert.PDU {
    switch self {
    case .scanResponse: .scanResponse
    case .codedAdvert, .codedScanResponse, .extendedAdvert, .extendedScanResponse: .extended
    case .legacyAdvert, .heartbeat, .fix: .unknown
    }
  }
}
