import FuzzSupport
import PharosHTTP

/// A JSON body that is taken member by member.
final class BodiesTarget: FuzzTarget {
  static let name = "bodies"
  static let longest = 1_024

  func take(_ input: RawSpan) {
    do {
      var fields = try BodyFields(input.array, emptyIsObject: input.byteCount == 0)
      let name = fields.string("name", length: 1...64)
      fields.require("name", expected: "a name")
      let flag = fields.bool("flag")
      let numbers = fields.integers("sequences", count: 0...8)
      let choice = fields.choice("role", [("operator", true), ("application", false)])
      try fields.finish()
      demand(
        name.map { (1...64).contains($0.utf8.count) } ?? false,
        "a name has the length that was asked for"
      )
      demand((numbers?.count ?? 0) <= 8, "a list is no longer than was asked for")
      _ = (flag, choice)
    } catch {
      demand((400..<500).contains(error.status), "a wrong body is the client's mistake")
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
