import PharosReports

/// The records about where an observer is and how it moves.
extension PharosFormat {
  static func decodeMotionSamples(
    _ datagram: RawSpan,
    _ body: inout ByteCursor,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Range<UInt32> {
    guard body.remaining.isMultiple(of: PharosDatagramLayout.motionSampleLength) else {
      throw .lengthMismatch
    }
    let start = UInt32(batch.motionSamples.count)
    while body.remaining > 0 {
      let code = try body.u8(datagram)
      let age = TimeSpan.microseconds(Int64(try body.u32(datagram)))
      let (x, y, z) = (try body.f32(datagram), try body.f32(datagram), try body.f32(datagram))
      // A sensor that this version does not know is passed over.
      guard let kind = MotionSample.Kind(rawValue: code) else { continue }
      guard x.isFinite, y.isFinite, z.isFinite else { throw .badField }
      let sample = MotionSample(kind: kind, age: age, x: x, y: y, z: z)
      _ = batch.append(motionSamples: CollectionOfOne(sample))
    }
    return start..<UInt32(batch.motionSamples.count)
  }

  static func decodeOutsideFix(
    _ datagram: RawSpan,
    _ body: inout ByteCursor
  ) throws(DatagramRefusal) -> OutsideFix {
    guard let source = OutsideFix.Source(rawValue: try body.u8(datagram)) else { throw .badField }
    let latitude = try body.f64(datagram)
    let longitude = try body.f64(datagram)
    let accuracy = try body.f32(datagram)
    let speed = try body.f32(datagram)
    guard let fix = WireLimits.fix(latitude, longitude, Double(accuracy), speed, source) else {
      throw .badField
    }
    return fix
  }
}

extension WireLimits {
  /// A fix, or nil if it lies nowhere on Earth or its accuracy is no length; a speed below 0 is none.
  static func fix(
    _ latitude: Double,
    _ longitude: Double,
    _ accuracy: Double,
    _ speed: Float,
    _ source: OutsideFix.Source
  ) -> OutsideFix? {
    guard -90...90 ~= latitude, -180...180 ~= longitude, accuracy >= 0, accuracy.isFinite else { return nil }
    return OutsideFix(
      latitude: latitude,
      longitude: longitude,
      horizontalAccuracy: Meters(accuracy),
      speed: speed.isFinite && speed >= 0 ? speed : nil,
      source: source
    )
  }
}
