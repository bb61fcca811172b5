import FuzzSupport
import PharosDelivery
import PharosDocuments
import PharosModel

/// The body that makes a webhook, and its secret and address.
final class WebhooksTarget: FuzzTarget {
  static let name = "webhooks"
  static let maximumLength = 1_024

  func run(_ input: RawSpan) {
    do {
      let document = try WebhookDocument(json: input.array, boundTo: nil, ownPorts: [8_080])
      demand(
        WebhookTarget.problem(with: document.url, ownPorts: [8_080]) == nil,
        "a webhook's address is a good one"
      )
      demand(
        document.summary.utf8.count <= WebhookDocument.maximumSummary,
        "a summary is no longer than it may be"
      )
      if let secret = document.secret {
        demand(WebhookSecret(secret.revealed) == secret, "a secret reads back")
      }
    } catch {
      guard case .invalid(let problems) = error else {
        return demand(false, "an invalid body is reported as invalid")
      }
      demand(!problems.isEmpty, "a refused body has a problem")
      _ = error.description
    }
  }

  static var words: [[UInt8]] {
    [
      "\"url\":\"https://", "\"summary\":", "\"application\":", "\"filter\":{",
      "\"kinds\":[\"region.enter\"]", "\"regions\":[",
      "\"subjects\":[", "\"observers\":[", "\"secret\":\"whsec_", "\"concurrency\":", "\"enabled\":false",
      "\"rotateSecret\":true",
      "@", "[::1]:8080", "0x7f.1", "localhost", "169.254.169.254", "#",
    ]
    .map { Array($0.utf8) }
  }

  static func seeds() throws -> [[UInt8]] {
    [
      #"{"url":"https://example.org/hooks/pharos","summary":"x","application":"a","concurrency":2,"enabled":true}"#,
      #"{"url":"http://10.0.0.1:9000/","filter":{"kinds":["pharos.region.enter"],"regions":["r"],"subjects":["ac:23:3f:a0:00:01"],"observers":["hall"]}}"#,
      #"{"url":"http://[::1]:81/","secret":"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=","rotateSecret":true}"#,
    ]
    .map { Array($0.utf8) }
  }
}

/// The body that makes a notification rule.
final class NotificationsTarget: FuzzTarget {
  static let name = "notifications"
  static let maximumLength = 1_024

  func run(_ input: RawSpan) {
    do {
      let rule = try NotificationDocument.rule(json: input.array, application: "a", id: "n")
      let subject = SubjectID.observer(.name("x"))
      let occasion = NotificationText.Occasion(subject: subject, region: "r", time: .distantPast)
      _ = NotificationText.filled(rule.text, occasion, NotificationSite())
      var json = JSONText()
      json.openObject()
      rule.write(to: &json)
      json.closeObject()
      let again = try NotificationDocument.rule(json: json.utf8, application: "a", id: "n")
      demand(again == rule, "a rule that is sent back makes the same rule: \(json.text)")
    } catch {
      guard case .invalid(let problems) = error else {
        return demand(false, "an invalid body is reported as invalid")
      }
      demand(!problems.isEmpty, "a refused body has a problem")
      demand(!problems.contains { $0.message.isEmpty }, "a problem has words")
    }
  }

  static var words: [[UInt8]] {
    [
      "\"region\":\"r\"", "\"on\":\"enter\"", "\"on\":\"exit\"", "\"text\":\"", "{name}", "{subject}",
      "{region}",
      "\"atMostOncePer\":\"1h\"", "\"onlyIfStillInsideAfter\":\"30s\"", "\"quietHours\":{",
      "\"from\":\"22:30\"",
      "\"to\":\"07:00\"", "\"timeZone\":\"Europe/Berlin\"",
    ]
    .map { Array($0.utf8) }
  }

  static func seeds() throws -> [[UInt8]] {
    [
      #"{"region":"r","on":"enter","text":"Welcome, {name}!","atMostOncePer":"1h","onlyIfStillInsideAfter":"30s"}"#,
      #"{"region":"r","on":"exit","text":"Bye","quietHours":{"from":"22:30","to":"07:00","timeZone":"Europe/Berlin"}}"#,
    ]
    .map { Array($0.utf8) }
  }
}
