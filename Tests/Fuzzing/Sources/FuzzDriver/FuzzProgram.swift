import CFuzzer
package import FuzzSupport
import Glibc

/// The command line of a program that holds fuzz targets.
///
/// ```
/// fuzz list                        the targets and their longest inputs
/// fuzz prepare FOLDER TARGET       writes FOLDER/seeds/TARGET/* and FOLDER/TARGET.dict
/// fuzz TARGET [libFuzzer's own]    fuzzes, or runs the inputs that are named
/// ```
package enum FuzzProgram {
  /// The target of this process; set once, before libFuzzer starts.
  nonisolated(unsafe) private static var target: (any FuzzTarget)?

  /// Does what the command line says, and exits.
  package static func run(_ targets: [any FuzzTarget.Type]) -> Never {
    let arguments = CommandLine.arguments
    guard arguments.count >= 2 else { fail("which target? (\(CommandLine.arguments[0]) list)") }
    switch arguments[1] {
    case "list":
      for target in targets { print("\(target.name)\t\(target.maximumLength)") }
      exit(0)
    case "prepare":
      guard arguments.count == 4 else { fail("prepare FOLDER TARGET") }
      prepare(find(arguments[3], targets), in: arguments[2])
      exit(0)
    case let option where option.hasPrefix("-"):
      // libFuzzer has started itself again, to make an input smaller.
      guard let name = getenv(variable) else { fail("which target? (\(arguments[0]) list)") }
      fuzz(find(String(cString: name), targets), CommandLine.unsafeArgv, CommandLine.argc)
    default:
      let target = find(arguments[1], targets)
      setenv(variable, target.name, 1)
      // libFuzzer expects the program's name first: it takes the place of the target's.
      let rest = CommandLine.unsafeArgv + 1
      rest[0] = CommandLine.unsafeArgv[0]
      fuzz(target, rest, CommandLine.argc - 1)
    }
  }

  /// Where the name of the target stands for the processes that libFuzzer starts.
  private static let variable = "PHAROS_FUZZ_TARGET"

  private static func find(_ name: String, _ targets: [any FuzzTarget.Type]) -> any FuzzTarget.Type {
    guard let target = targets.first(where: { $0.name == name }) else { fail("no target is called \(name)") }
    return target
  }

  private static func fail(_ reason: String) -> Never {
    _ = Array((reason + "\n").utf8).withUnsafeBytes { Glibc.write(2, $0.baseAddress, $0.count) }
    exit(64)
  }

  /// Hands the rest of the command line to libFuzzer.
  private static func fuzz(
    _ type: any FuzzTarget.Type,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
    _ count: Int32
  ) -> Never {
    target = type.init()
    var count = count
    var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = arguments
    exit(
      LLVMFuzzerRunDriver(&count, &list) { bytes, count in
        FuzzProgram.target?.run(UnsafeRawBufferPointer(start: bytes, count: count).bytes)
        return 0
      }
    )
  }

  private static func prepare(_ type: any FuzzTarget.Type, in folder: String) {
    let seeds: [[UInt8]]
    do {
      seeds = try type.seeds()
    } catch {
      fail("the seeds of \(type.name) cannot be made: \(error)")
    }
    mkdir("\(folder)/seeds", 0o755)
    mkdir("\(folder)/seeds/\(type.name)", 0o755)
    for (number, seed) in seeds.enumerated() {
      guard seed.count <= type.maximumLength else {
        fail("seed \(number) of \(type.name) has \(seed.count) bytes, more than \(type.maximumLength)")
      }
      write(seed, to: "\(folder)/seeds/\(type.name)/seed-\(number)")
    }
    var dictionary = ""
    for word in type.words {
      dictionary += "\"" + word.map { byte in "\\x" + hex(byte) }.joined() + "\"\n"
    }
    write(Array(dictionary.utf8), to: "\(folder)/\(type.name).dict")
  }

  private static func hex(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
  }

  private static func write(_ bytes: [UInt8], to path: String) {
    guard let file = fopen(path, "w") else { fail("\(path) cannot be written") }
    let count = fwrite(bytes, 1, bytes.count, file)
    guard fclose(file) == 0, count == bytes.count else { fail("\(path) cannot be written") }
  }
}
