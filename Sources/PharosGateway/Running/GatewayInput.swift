import PharosFiles
import PharosReports

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Where packets come from: a file, which always has the next bytes, or a pipe, which has some now and then.
struct GatewayInput: ~Copyable {
  /// How much is read from a pipe in one go: what a pipe of Linux holds.
  ///
  /// - Units: bytes.
  private static let pipeLength = 65_536
  /// How long to leave a pipe alone after having read from it.
  ///
  /// btmon writes twice for each packet. Reading at every write would be 400 times a second at 200 adverts; like this it is
  /// 20 times at most, for half of the delay that adverts have anyway, which their ages tell of. A pipe holds some seconds.
  static let pause = TimeSpan.milliseconds(50)

  /// The pipe's descriptor, or -1 for a file.
  let descriptor: Int32
  private var file: FileChunks?
  private let path: String
  private let isOwned: Bool
  private var buffer: [UInt8] = []

  /// Opens the input; `-` is standard input.
  ///
  /// - Throws: That it cannot be opened.
  init(path: String) throws(FileError) {
    var status = stat()
    let isStandard = path == "-"
    let known = isStandard ? fstat(STDIN_FILENO, &status) == 0 : stat(path, &status) == 0
    let kind = status.st_mode & S_IFMT
    let isPipe = known && (kind == S_IFIFO || kind == S_IFSOCK || kind == S_IFCHR)
    let opened = !isPipe ? -1 : isStandard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    if isPipe, opened < 0 { throw FileError(.system(.open, code: errno), path: path) }
    file = try GatewayInput.file(isPipe ? nil : path)
    descriptor = opened
    isOwned = isPipe && !isStandard
    self.path = path
    buffer = [UInt8](repeating: 0, count: isPipe ? GatewayInput.pipeLength : 0)
  }

  deinit {
    if isOwned, descriptor >= 0 { _ = close(descriptor) }
  }

  private static func file(_ path: String?) throws(FileError) -> FileChunks? {
    guard let path else { return nil }
    return try FileChunks(path: path)
  }

  /// Whether it is a file, which can be read at any time.
  var isFile: Bool { descriptor < 0 }

  /// The next bytes, none if a pipe has none yet; nil at the end.
  mutating func read() throws(FileError) -> ArraySlice<UInt8>? {
    guard isFile else { return try readPipe() }
    guard let chunk = try file?.next() else { return nil }
    return chunk[...]
  }

  private mutating func readPipe() throws(FileError) -> ArraySlice<UInt8>? {
    let descriptor = descriptor
    let count = buffer.withUnsafeMutableBytes { GatewayInput.read(into: $0, from: descriptor) }
    guard count < 0 else { return count > 0 ? buffer[..<count] : nil }
    guard errno == EINTR || errno == EAGAIN else { throw FileError(.system(.read, code: errno), path: path) }
    return []
  }

  private static func read(into bytes: UnsafeMutableRawBufferPointer, from descriptor: Int32) -> Int {
    #if canImport(Darwin)
    Darwin.read(descriptor, bytes.baseAddress, bytes.count)
    #elseif canImport(Musl)
    Musl.read(descriptor, bytes.baseAddress, bytes.count)
    #else
    Glibc.read(descriptor, bytes.baseAddress, bytes.count)
    #endif
  }
}
