import CSocketMeter
import SocketTraffic

/// The reference: a C loop around `recvmmsg` that only counts.
final class BareLoop: Receiver {
  let name: String
  let socket: MeterSocket
  private let asksSources: Int32
  private let lane: Lane
  private let stop = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
  private var running: Task<Spent, any Error>?

  /// Starts its thread.
  ///
  /// - Parameters:
  ///   - asksSources: whether it has the kernel write down who sent each datagram, as a server must.
  ///   - core: the core that it is kept on, or nil for any.
  /// - Throws: why there is no socket.
  init(asksSources: Bool = false, core: Int32?) throws {
    name = asksSources ? "bare C loop, with sources" : "bare C loop"
    self.asksSources = asksSources ? 1 : 0
    socket = try MeterSocket()
    lane = Lane(core: core)
    stop.initialize(to: 0)
  }

  deinit {
    socket.close()
    stop.deallocate()
  }

  func drain(_ datagrams: Int, isNewSecond: Bool) async throws -> Spent {
    let (descriptor, asksSources) = (socket.descriptor, asksSources)
    return try await lane.run {
      var tally = meter_tally()
      try MeterError.check(meter_receive(descriptor, Int64(datagrams), asksSources, &tally), "receive")
      return Spent(tally)
    }
  }

  func begin() async throws {
    meter_store_flag(stop, 0)
    let flag = Flag(place: stop)
    let (descriptor, asksSources, lane) = (socket.descriptor, asksSources, lane)
    running = Task {
      try await lane.run {
        var tally = meter_tally()
        try MeterError.check(meter_serve(descriptor, flag.place, asksSources, &tally), "receive")
        return Spent(tally)
      }
    }
  }

  func end() async throws -> Spent {
    meter_store_flag(stop, 1)
    return try await running?.value ?? Spent()
  }

  /// A flag that the loop's thread shares with this one; the C functions read and write it atomically.
  private struct Flag: @unchecked Sendable {
    let place: UnsafeMutablePointer<Int32>
  }
}

extension Spent {
  fileprivate init(_ tally: meter_tally) {
    self.init(
      datagrams: Int(tally.datagrams),
      thread: tally.thread_nanoseconds,
      wall: tally.wall_nanoseconds
    )
  }
}
