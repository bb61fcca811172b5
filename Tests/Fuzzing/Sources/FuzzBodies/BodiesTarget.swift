import FuzzSupport
import PharosDocuments
import PharosHTTP
import PharosModel

/// A JSON body whose members are declared.
final class BodiesTarget: FuzzTarget {
  static let name = "bodies"
  static let maximumLength = 1_024

  private enum Role: String, CaseIterable {
    case `operator`
    case application
  }

  func run(_ input: RawSpan) {
    do {
      let known = ["name", "flag", "sequences", "role"]
      let (name, numbers) = try BodyDocument.read(
        input.array,
        name: "body",
        known: known
      ) { fields in
        let numbers = fields.values("sequences", of: "numbers", .integer(in: 0...8 as ClosedRange<Int64>))
        _ = (fields.value("flag", .flag), fields.value("role", .word(Role.allCases)))
        return fields.required("name", .text(length: 1...64)).map { ($0, numbers) }
      }
      demand((1...64).contains(name.utf8.count), "a name has the length that was asked for")
      demand(numbers.allSatisfy { (0...8).contains($0) }, "a number is within its bounds")
    } catch {
      let status = Problem(error)?.status ?? 500
      demand((400..<500).contains(status), "a wrong body is the client's mistake")
    }
  }

  static var words: [[UInt8]] {
    [
      "\"name\":", "\"flag\":true", "\"sequences\":[", "\"role\":\"operator\"", "null", "\\u0000",
    ]
    .map { Array($0.utf8) }
  }

  static func seeds() throws -> [[UInt8]] {
    [
      #"{"name":"a","flag":false,"sequences":[1,2],"role":"application"}"#,
      #"{"nme":1}"#,
    ]
    .map { Array($0.utf8) }
  }
}
