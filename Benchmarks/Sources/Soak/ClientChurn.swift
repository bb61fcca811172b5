import Foundation
import NIOPosix
import ServedProcess
import Synchronization

/// Clients that come and go: streams that are read, streams that are not, some that vanish, and pages.
final class ClientChurn: Sendable {
  struct Counts: Sendable {
    var streams = 0
    var pages = 0
    var failedPages = 0
  }

  /// How often a stream is opened, and how long one may last: some 30 are open at a time.
  private static let opening = Duration.seconds(1)
  private static let lives = 1...60
  /// One stream in so many reads nothing for as long as it lives.
  private static let deaf = 10
  /// How often a page is asked for.
  private static let asking = Duration.milliseconds(500)
  /// What is asked for, in turn.
  private static let paths = [
    "/metrics", "/v1/status", "/v1/observers", "/v1/events?limit=100", "/v1/tracks?limit=100",
    "/v1/applications/soak/states?limit=100", "/", "/v1/heard?limit=100",
  ]

  private let port: UInt16
  private let group: MultiThreadedEventLoopGroup
  private let counts = Mutex(Counts())

  init(port: UInt16, group: MultiThreadedEventLoopGroup) {
    self.port = port
    self.group = group
  }

  /// What they have done so far.
  var now: Counts { counts.withLock { $0 } }

  /// Lets them come until the task is cancelled, then waits until the last has gone.
  func run() async {
    await withDiscardingTaskGroup { tasks in
      tasks.addTask { await self.ask() }
      var number = 0
      while !Task.isCancelled {
        number += 1
        let this = number
        tasks.addTask { await self.stream(this) }
        try? await Task.sleep(for: ClientChurn.opening)
      }
    }
  }

  private func stream(_ number: Int) async {
    guard
      let stream = try? await EventStream(
        port: port,
        group: group,
        reads: !number.isMultiple(of: ClientChurn.deaf)
      )
    else { return counts.withLock { $0.failedPages += 1 } }
    counts.withLock { $0.streams += 1 }
    let life = ClientChurn.lives.lowerBound + number * 7 % ClientChurn.lives.count
    try? await Task.sleep(for: .seconds(life))
    stream.close()
    await stream.closed()
    counts.withLock { $0.streams -= 1 }
  }

  private func ask() async {
    let call = HTTPCall(port: port, group: group)
    var turn = 0
    while !Task.isCancelled {
      let path = ClientChurn.paths[turn % ClientChurn.paths.count]
      turn += 1
      let answer = try? await call.get(path)
      counts.withLock { counts in
        counts.pages += 1
        if answer?.status != 200 { counts.failedPages += 1 }
      }
      try? await Task.sleep(for: ClientChurn.asking)
    }
  }
}
