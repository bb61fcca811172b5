package import ArgumentParser
import CPharos
import Glibc
import PharosFiles
package import PharosModel
package import PharosSecurity

/// `pharos gateway`, which is also the whole of the program `pharos-gateway`.
package struct GatewayCommand: ParsableCommand {
  /// The name and the description of the command.
  package static let configuration = CommandConfiguration(
    commandName: "gateway",
    abstract:
      "Send the adverts that a Bluetooth radio receives to a server: from a capture, or live from a pipe.",
    discussion: """
      btmon -w /dev/fd/3 3>&1 >/dev/null | pharos gateway --from - --to pharos.example:50001
          sends what this machine's own radio hears, under the machine's name.
      pharos gateway --from hall.btsnoop --to 127.0.0.1:50001 --observer hall --pace 10
          sends a capture ten times as fast as it was made.

      While the server cannot be reached what is heard is kept, some two minutes of it, and \
      sent with its true age when the server is back. With a key from `pharos observer add` \
      the datagrams are signed. pharos-gateway is the same in a program of its own, small \
      enough for a Raspberry Pi.

      SIGTERM and Ctrl-C send what there is and end.
      """
  )

  @Option(
    help: ArgumentHelp("A capture: btsnoop, pcap or pcapng; - for standard input.", valueName: "file|-")
  )
  var from: String

  @Option(
    help: ArgumentHelp("Where to send.", valueName: "host:port"),
    transform: GatewayCommand.destination
  )
  var to: HostPort

  @Option(
    help: ArgumentHelp("Who heard it. (default: the file's name; for - the host's name)", valueName: "id")
  )
  var observer: String?

  @Option(
    help: ArgumentHelp(
      "The key that signs. Others on this machine can read it here; better are --key-file and PHAROS_KEY.",
      valueName: "key"
    )
  )
  var key: String?

  @Option(help: ArgumentHelp("A file that holds the key that signs.", valueName: "file"))
  var keyFile: String?

  @Option(
    help: ArgumentHelp(
      "A factor on the capture's speed, or max for as it comes. (default: 1; for - max)",
      valueName: "n|max"
    )
  )
  var pace: GatewayPace?

  @Option(
    help: ArgumentHelp(
      "A file for the number of the last start, for machines whose clock may go back. (default: the clock alone)",
      valueName: "file"
    )
  )
  var state: String?

  /// Creates a command without arguments.
  package init() {}

  /// Refuses what contradicts itself.
  package func validate() throws {
    if key != nil, keyFile != nil {
      throw ValidationError("--key and --key-file both give a key; give one of them.")
    }
    if let observer, ObserverID(observer) == nil {
      throw ValidationError(
        "--observer is \"\(observer)\"; expected a MAC, a UUID or a name of at most \(ObserverID.maximumName) bytes."
      )
    }
  }

  /// Sends until the input ends or a signal comes.
  package func run() throws {
    do {
      let options = try makeOptions()
      guard let stop = GatewayStop(heedsSignals: true) else {
        throw GatewayFailure("the system has no file descriptors left.")
      }
      let gateway = try GatewayRun(options, stop: stop, say: GatewayCommand.say)
      let signing = options.key.map { "signed with key \($0.fingerprint)" } ?? "not signed"
      GatewayCommand.say("sending to \(to) as \(options.observer), \(signing).")
      let report = gateway.run()
      for line in report.lines(input: from, destination: to) { GatewayCommand.say(line) }
      if !report.isSuccess { throw ExitCode.failure }
    } catch let error as ExitCode {
      throw error
    } catch {
      GatewayCommand.say("\(error)")
      throw ExitCode.failure
    }
  }

  private func makeOptions() throws -> GatewayOptions {
    guard
      let observer = observer.flatMap({ ObserverID($0) }) ?? .ofInput(from, hostName: GatewayCommand.hostName)
    else { throw GatewayFailure("the observer has no name: give one with --observer.") }
    let bootID =
      try state.map { try BootFile(path: $0).next() }
      ?? BootID.next(wall: Timestamp(nanoseconds: pharos_clock_wall()), last: nil)
    return GatewayOptions(
      input: from,
      destination: to,
      observer: observer,
      key: try KeySource(text: key, file: keyFile, environment: GatewayCommand.environmentKey)
        .key(say: GatewayCommand.say),
      pace: pace ?? (from == "-" ? .asItComes : .recorded(speed: 1)),
      bootID: bootID
    )
  }

  private static var environmentKey: String? { getenv("PHAROS_KEY").map { String(cString: $0) } }

  /// The name of this machine.
  private static var hostName: String? {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return nil }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Reads where to send; all addresses, and port 0, which asks a system for a free one, are nowhere.
  package static func destination(_ text: String) throws -> HostPort {
    guard let destination = HostPort(text), destination.isDestination else {
      throw ValidationError("\"\(text)\" is no HOST:PORT; an IPv6 address stands in brackets.")
    }
    return destination
  }

  /// Writes a line to standard error, which systemd keeps in its journal.
  private static func say(_ line: String) {
    let bytes = Array("pharos gateway: \(line)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }
}

extension GatewayPace: ExpressibleByArgument {
  /// Reads a factor or `max`.
  package init?(argument: String) { self.init(argument) }
}

/// The sources of a gateway's key: the command line, a file, or the environment, in this order.
package struct KeySource {
  var text: String?
  var file: String?
  var environment: String?

  package init(text: String? = nil, file: String? = nil, environment: String? = nil) {
    self.text = text
    self.file = file
    self.environment = environment
  }

  /// The longest file that is read: a key takes 84 bytes.
  ///
  /// - Units: bytes.
  private static let maximumFile = 4_096

  /// The key, or nil if none is given.
  ///
  /// - Throws: `GatewayFailure`, which names the place and never a part of the key.
  package func key(say: (String) -> Void) throws -> ObserverKey? {
    if let text { return try parse(text, from: "--key") }
    if let file { return try parse(read(file, say: say), from: file) }
    guard let environment, !environment.isEmpty else { return nil }
    return try parse(environment, from: "PHAROS_KEY")
  }

  private func parse(_ text: String, from place: String) throws -> ObserverKey {
    do {
      return try ObserverKey(text: text)
    } catch {
      throw GatewayFailure("\(place): \(error)")
    }
  }

  private func read(_ path: String, say: (String) -> Void) throws -> String {
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & 0o077 != 0, status.st_mode & S_IFMT == S_IFREG {
      say("others can read the key in \(path): chmod 600 \(path).")
    }
    return try FileChunks.word(in: path, limit: KeySource.maximumFile)
  }
}

/// An error that keeps a gateway from starting, in words for the operator.
struct GatewayFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
