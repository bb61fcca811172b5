import SocketTraffic

/// What receives datagrams and is measured: the bare loop, NIO's channel, or the server.
protocol Receiver: AnyObject {
  /// What the table calls it.
  var name: String { get }
  /// Its socket.
  var socket: MeterSocket { get }

  /// Takes what its socket holds and does with it what it is there for.
  ///
  /// - Parameters:
  ///   - datagrams: how many the socket holds.
  ///   - isNewSecond: whether they begin a second of the site's traffic.
  /// - Returns: what it cost.
  /// - Throws: why it could not.
  func drain(_ datagrams: Int, isNewSecond: Bool) async throws -> Spent
  /// Begins to receive while a sender sends.
  func begin() async throws
  /// Takes what the socket holds and stops receiving.
  func end() async throws -> Spent
}

/// What taking datagrams cost.
struct Spent: Sendable {
  /// How many there were.
  var datagrams = 0
  /// CPU time of the receiving thread, user and system.
  ///
  /// - Units: nanoseconds.
  var thread: Int64 = 0
  /// From the first datagram to the last one.
  ///
  /// - Units: nanoseconds.
  var wall: Int64 = 0
  /// CPU time of the busiest of several receiving threads.
  ///
  /// - Units: nanoseconds.
  var busiest: Int64 = 0
  /// CPU time of all other threads of the process: merger and subscribers, as no other thread works meanwhile.
  ///
  /// - Units: nanoseconds.
  var others: Int64 = 0

  static func += (sum: inout Spent, part: Spent) {
    sum.datagrams += part.datagrams
    sum.thread += part.thread
    sum.wall += part.wall
    sum.busiest += part.busiest
    sum.others += part.others
  }
}
