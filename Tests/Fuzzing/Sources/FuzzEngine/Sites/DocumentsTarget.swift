import FuzzSupport
import PharosDocuments
import PharosModel
import PharosSite

/// The bodies with which regions, applications and ranging are registered over HTTP.
///
/// - Shape: 0 which of them, then its JSON.
final class DocumentsTarget: FuzzTarget {
  static let name = "documents"
  static let maximumLength = 1_024

  func run(_ input: RawSpan) {
    guard input.byteCount > 0 else { return }
    let body = input.extracting(1..<input.byteCount).array
    do {
      switch input[0] % 3 {
      case 0:
        let region = try RegionDocument.region(json: body, identifier: "r")
        let text = json { RegionDocument.write(region, to: &$0) }
        let again = try? RegionDocument.region(json: text, identifier: "r")
        demand(again == region, "a region comes back as it was: \(region) is \(String(describing: again))")
      case 1:
        let document = try ApplicationSettings(json: body, identifier: "a")
        let again = try? ApplicationSettings(json: json { document.write(to: &$0) }, identifier: "a")
        demand(again == document, "an application comes back as it was")
      default:
        let request = try RangingDocument.request(json: body)
        let again = try? RangingDocument.request(json: json { RangingDocument.write(request, to: &$0) })
        demand(again == request, "a request comes back as it was")
      }
    } catch {
      for problem in error.problems {
        demand(!problem.text(in: "x").contains("\n"), "a mistake is reported on one line")
      }
    }
  }

  private func json(_ write: (inout JSONText) -> Void) -> [UInt8] {
    var json = JSONText()
    json.openObject()
    write(&json)
    json.closeObject()
    return json.utf8
  }

  static var words: [[UInt8]] {
    [
      "\"id\":\"r\"", "\"uuid\":", "\"major\":", "\"minor\":", "\"mac\":", "\"key\":\"mac\"",
      "\"namespace\":", "\"instance\":",
      "\"subject\":\"beacon\"", "\"observers\":[", "\"enter\":{", "\"exit\":{", "\"samples\":",
      "\"within\":\"3s\"", "\"rssi\":-70",
      "\"distance\":\"2.5m\"", "\"dwell\":\"5s\"", "\"silence\":\"never\"", "\"floor\":", "\"ceiling\":",
      "\"falseExitsPerDay\":",
      "\"stillInterval\":", "\"maximumHold\":", "\"notifyOnEntry\":false", "\"purpose\":", "\"regionLimit\":",
      "\"whileInside\":true",
      "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0",
    ]
    .map { Array($0.utf8) }
  }

  static func seeds() throws -> [[UInt8]] {
    let regions = [
      #"{"uuid":"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0","major":1,"enter":{"samples":2,"within":"3s","rssi":-80},"exit":{"rssi":-90,"dwell":"5s","silence":"30s"}}"#,
      #"{"id":"r","subject":"beacon","observers":["hall"],"mac":"c0:de:00:00:00:01","exit":{"silence":"never","falseExitsPerDay":0.5}}"#,
      #"{"namespace":"00112233445566778899","instance":"0000000000ab","enter":{"distance":"2.5m"},"exit":{"distance":"4m"},"maximumHold":"1h"}"#,
    ]
    return regions.map { [0] + Array($0.utf8) }
      + [[1] + Array(#"{"id":"a","purpose":"to greet","regionLimit":30}"#.utf8)]
      + [[2] + Array(#"{"uuid":"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0","whileInside":true}"#.utf8)]
  }
}
