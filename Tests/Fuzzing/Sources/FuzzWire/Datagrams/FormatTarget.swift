import FuzzSupport
import PharosModel
import PharosWire

/// Datagrams of one format, by an observer that the context names where they name none.
final class FormatTarget<Format: DatagramFormat>: FuzzTarget {
  static var name: String { Format.name }
  static var maximumLength: Int { 1_024 }

  private var check = DatagramCheck()

  func run(_ input: RawSpan) {
    _ = check.decode(input, as: Format.self, of: .name("hall"))
    check.forget()
  }

  static func seeds() throws -> [[UInt8]] { Samples.vectors(of: Format.self) }
}

/// The targets of all formats, in the order of the list: those that put something right or check more than all do, and a
/// ``FormatTarget`` for each other one.
let formatTargets: [any FuzzTarget.Type] = WireFormat.list.map { layout in
  let own: [any FuzzTarget.Type] = [
    RaddecTarget.self, PharosDatagramsTarget.self, JSONDatagramsTarget.self, MinewTarget.self,
    MinewConnectTarget.self,
    MQTTTarget.self,
  ]
  return own.first { $0.name == layout.name } ?? target(of: layout)
}

private func target<Format: DatagramFormat>(of layout: Format.Type) -> any FuzzTarget.Type {
  FormatTarget<Format>.self
}
