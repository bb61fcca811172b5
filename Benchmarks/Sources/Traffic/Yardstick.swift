import CYardstick

/// The least that monitoring can cost on this machine: one loop in C on the same datagrams as the engine.
package struct Yardstick {
  private let state: OpaquePointer?

  /// Makes one for so many observers; its memory is kept until the process ends.
  package init(observers: Int) { state = yardstick_make(UInt32(observers)) }

  /// Hears datagrams.
  package func receive(_ wire: borrowing WireBatch) {
    wire.bytes.withUnsafeBufferPointer { bytes in
      wire.starts.withUnsafeBufferPointer { starts in
        wire.received.withUnsafeBufferPointer { received in
          yardstick_hear(
            state,
            bytes.baseAddress,
            starts.baseAddress,
            received.baseAddress,
            UInt32(received.count)
          )
        }
      }
    }
  }

  /// What an advert costs it at a site of a size, in nanoseconds: the median of five seconds of traffic.
  ///
  /// - Parameters:
  ///   - workload: the site's traffic.
  ///   - clock: the CPU time of the thread in nanoseconds.
  /// - Returns: nanoseconds.
  package static func nanosecondsPerAdvert(_ workload: Workload, clock: () -> Int64) -> Double {
    var workload = workload
    let yardstick = Yardstick(observers: workload.observers)
    var times: [Double] = []
    for second in 1...8 {
      var (accepted, adverts) = (Int64(0), 0)
      for batch in 0..<workload.batchesPerSecond {
        workload.fillWire(batch: batch, ofSecond: second)
        let start = clock()
        yardstick.receive(workload.wire)
        accepted += clock() - start
        adverts += workload.wire.adverts
      }
      // The first ones make the tracks and bring them into the caches.
      if second > 3 { times.append(Double(accepted) / Double(max(1, adverts))) }
    }
    return times.sorted()[times.count / 2]
  }
}
