import Foundation
import PharosGateway
import PharosModel
import PharosSecurity
import PharosTestSupport

/// A UDP socket on the loopback interface that waits for datagrams.
final class Receiver: @unchecked Sendable {
  // Sendable: the descriptor is set once, and sockets take calls of any thread.
  let descriptor: Int32
  let port: UInt16

  /// Binds a port, any that is free for 0.
  init(port: UInt16 = 0) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    self.descriptor = descriptor
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let outcome = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(descriptor, pointer, size) == 0 ? getsockname(descriptor, pointer, &size) : -1
      }
    }
    guard outcome == 0 else { throw POSIXError(.EADDRINUSE) }
    self.port = UInt16(bigEndian: address.sin_port)
    // A test that waits in vain ends with a failure instead of never.
    var patience = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var room: Int32 = 4 << 20
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
  }

  deinit { close(descriptor) }

  /// The next datagram; nil if none comes for a minute.
  func next() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    return count > 0 ? Array(bytes[..<count]) : nil
  }

  /// Datagrams until so many adverts came, as they came.
  func datagrams(adverts: Int) throws -> [[UInt8]] {
    var found: [[UInt8]] = []
    var count = 0
    while count < adverts {
      guard let bytes = next() else { break }
      count += try DecodedDatagram(bytes).sightings.count
      found.append(bytes)
    }
    return found
  }
}

/// A gateway that runs on a thread of its own.
final class RunningGateway: Sendable {
  let stop: GatewayStop
  let lines: AsyncStream<String>
  private let report: AsyncStream<Result<GatewayReport, any Error>>

  init(
    _ input: String,
    to port: UInt16,
    key: ObserverKey? = nil,
    pace: GatewayPace = .asItComes,
    host: String = "127.0.0.1"
  ) throws {
    guard let stop = GatewayStop() else { throw POSIXError(.EMFILE) }
    self.stop = stop
    let options = GatewayOptions(
      input: input,
      destination: HostPort(host: host, port: port),
      observer: .name("gate"),
      key: key,
      pace: pace,
      bootID: 7
    )
    let (lines, continuation) = AsyncStream<String>.makeStream()
    self.lines = lines
    let (report, done) = AsyncStream<Result<GatewayReport, any Error>>.makeStream()
    self.report = report
    // A thread at once and no task: tests block the threads that tasks would run on.
    Thread.detachNewThread {
      done.yield(Result { try GatewayRun(options, stop: stop) { continuation.yield($0) }.run() })
      done.finish()
      continuation.finish()
    }
  }

  /// How it went, once it has ended.
  func end() async throws -> GatewayReport {
    for await result in report { return try result.get() }
    throw CancellationError()
  }
}

/// A named pipe, as a shell would make one.
final class NamedPipe: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "pharos-gateway-\(UUID().uuidString)"
    guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
  }

  deinit { unlink(path) }

  /// Opens the writing end, once the gateway has opened the other.
  func writer() throws -> FileHandle {
    let descriptor = open(path, O_WRONLY)
    guard descriptor >= 0 else { throw POSIXError(.EIO) }
    return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }
}

extension Timestamp {
  /// The wall clock's time, as a capture that is made now would have it.
  static var wall: Timestamp { .seconds(Date().timeIntervalSince1970) }

  private static func seconds(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: Int64(seconds * 1e6) * 1_000)
  }
}
