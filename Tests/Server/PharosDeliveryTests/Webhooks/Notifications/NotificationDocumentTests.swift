import PharosDelivery
import PharosDocuments
import PharosModel
import Testing

@Suite("Notification rules as JSON")
struct NotificationDocumentTests {
  @Test(
    "a time is written as everywhere else, and what is answered may be sent back",
    arguments: [
      ("30s", "30s"), ("90m", "90m"), ("60m", "1h"), ("1.5h", "90m"), ("1d", "1d"), ("500ms", "500ms"),
    ]
  )
  func times(sent: String, answered: String) throws {
    let rule = try rule(atMostOncePer: sent)
    #expect(rule.atMostOncePer == TimeSpan(written: sent))
    var json = JSONText()
    json.openObject()
    rule.write(to: &json)
    json.closeObject()
    #expect(json.text.contains("\"atMostOncePer\":\"\(answered)\""))
    let again = try NotificationDocument.rule(json: Array(json.text.utf8), application: "shop", id: "hello")
    #expect(again == rule)
  }

  @Test(
    "a time without unit, without length or beyond a week is refused",
    arguments: ["30", "0s", "-1s", "8d", "x"]
  )
  func noTimes(sent: String) {
    #expect(throws: WebhookError.self) { try rule(atMostOncePer: sent) }
  }

  private func rule(atMostOncePer time: String) throws -> NotificationRule {
    let json = #"{"region": "door", "on": "enter", "text": "Welcome!", "atMostOncePer": "\#(time)"}"#
    return try NotificationDocument.rule(json: Array(json.utf8), application: "shop", id: "hello")
  }
}
