import CSocketMeter
import Histogram
import Pharos
import SocketTraffic
import Synchronization

/// The time at which each probe was sent, for its subscribers.
///
/// Written by the sender before it sends and read behind the kernel, rings and queues that the datagram and its event have
/// passed.
final class SendTimes: Sendable {
  /// How many probes there may be: fewer than the observers that a server keeps.
  static let capacity = 16_000

  private let times: Mutex<[Int64]> = Mutex(Array(repeating: 0, count: capacity))

  /// Notes that a probe is sent now.
  func stamp(_ number: Int) {
    times.withLock { times in times[number] = meter_now() }
  }

  /// How long ago a probe was sent, in nanoseconds.
  func age(of number: Int) -> Int64 {
    let now = meter_now()
    return times.withLock { now - $0[number] }
  }
}

/// The events of one subscriber: counts the probes of a level and keeps how long each took.
final class Stopwatch: Sendable {
  private struct State {
    var histogram = Stopwatch.empty
    var level = 0..<0
  }

  private let sent: SendTimes
  private let state: Mutex<State> = Mutex(State())

  init(_ sent: SendTimes) { self.sent = sent }

  /// Nanoseconds with three digits.
  private static var empty: Histogram<UInt64> { Histogram(numberOfSignificantValueDigits: .three) }

  /// Starts again, for probes with these numbers.
  func begin(_ level: Range<Int>) {
    state.withLock { $0 = State(level: level) }
  }

  /// Takes an event, which the subscriber has just been handed.
  func record(_ event: Event) {
    guard event.kind == .regionEnter, let number = ProbeTraffic.number(of: event.subject) else { return }
    let age = sent.age(of: number)
    state.withLock { state in
      guard state.level.contains(number) else { return }
      state.histogram.record(UInt64(max(0, age)))
    }
  }

  /// How many probes of the level have arrived.
  var count: Int { state.withLock { Int($0.histogram.totalCount) } }

  /// How long they took.
  var percentiles: LatencyReport.Percentiles {
    state.withLock { state in
      func milliseconds(_ percentile: Double) -> Double {
        Double(state.histogram.valueAtPercentile(percentile)) / 1e6
      }
      return LatencyReport.Percentiles(
        count: Int(state.histogram.totalCount),
        p50: milliseconds(50),
        p90: milliseconds(90),
        p99: milliseconds(99),
        p999: milliseconds(99.9),
        maximum: Double(state.histogram.maxRecorded) / 1e6
      )
    }
  }
}
