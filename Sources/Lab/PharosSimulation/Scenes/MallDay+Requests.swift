import PharosDocuments
package import PharosModel

extension MallDay {
  /// A request that an application makes in the course of the day, as it would over HTTP.
  package struct Request: Hashable, Sendable {
    /// The time since the day began.
    package var time: TimeSpan
    /// The method.
    package var method: String
    /// The path, with the query.
    package var path: String
    /// The JSON of the body, or nil if there is none.
    package var body: String?
  }

  /// Returns what the applications ask for, in the order of time.
  ///
  /// Two rules are made first: the caption of the exhibit for those who stop right before it, and a reminder of the story hour in
  /// the toy shop. In the café the visitor asks to see where the friend is, and finds them on the same floor once they agree;
  /// the friend ends that again. Then the visitor asks for the way to the toy shop, and the waiter for the way to the visitor.
  ///
  /// - Parameter start: the time at which the day begins.
  /// - Returns: the requests.
  package static func requests(startingAt start: Timestamp) -> [Request] {
    rules(startingAt: start) + friends(until: start + leaving) + ways
  }

  private static func rules(startingAt start: Timestamp) -> [Request] {
    let commentary = """
      {"on": "proximity", "beacon": "\(exhibit)", "proximity": "immediate", "onlyIfStillInsideAfter": "5s", \
      "atMostOncePer": "5m", "title": "{title}", "text": "{description}"}
      """
    let begins = start + leaving + .seconds(140)
    let reminder = """
      {"on": "deadline", "subject": "\(visitor)", "title": "Leave now for {place}", \
      "text": "The story hour begins in {minutes} min, and the walk takes {walk} min.", \
      "appointment": {"place": "Toy Chest", "time": "\(begins.rfc3339)", "margin": "2m"}}
      """
    let path = "/v1/applications/mall/notifications/"
    return [
      Request(time: .zero, method: "PUT", path: path + "commentary", body: commentary),
      Request(time: .zero, method: "PUT", path: path + "story-hour", body: reminder),
    ]
  }

  private static func friends(until end: Timestamp) -> [Request] {
    let share = "/v1/subjects/\(friend)/shares/\(visitor)"
    let accepted = #"{"state": "accepted", "until": "\#((end + .seconds(600)).rfc3339)"}"#
    let look = "/v1/subjects/\(visitor)/friends?floor=\(SimulatedMall.building)/1"
    return [
      Request(time: seated + .seconds(10), method: "PUT", path: share, body: #"{"state": "asked"}"#),
      Request(time: seated + .seconds(15), method: "PUT", path: share, body: accepted),
      Request(time: seated + .seconds(20), method: "GET", path: look),
      Request(time: leaving - .seconds(25), method: "DELETE", path: share),
      Request(time: leaving - .seconds(22), method: "GET", path: look),
    ]
  }

  private static var ways: [Request] {
    [
      Request(
        time: leaving - .seconds(20),
        method: "PUT",
        path: "/v1/subjects/\(visitor)/guidance",
        body: #"{"destination": "Toy Chest"}"#
      ),
      Request(
        time: leaving + .seconds(30),
        method: "PUT",
        path: "/v1/subjects/\(waiter)/guidance",
        body: #"{"destination": {"subject": "\#(visitor)"}}"#
      ),
    ]
  }
}
