import Foundation
import PharosModel

/// Reads the evidence of an event back from its JSON, with nothing else at hand: what a subscriber can do.
enum EvidenceReader {
  /// What was wrong with the JSON.
  enum Failure: Error {
    case noEvidence
    case unknown(String)
  }

  /// The evidence of one line of CloudEvents JSON.
  static func read(_ line: String) throws -> Evidence {
    let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    guard let data = event?["data"] as? [String: Any], let json = data["evidence"] as? [String: Any],
      let name = json["rule"] as? String
    else { throw Failure.noEvidence }
    guard let rule = Evidence.Rule(rawValue: name) else { throw Failure.unknown(name) }
    var evidence = Evidence(rule: rule)
    evidence.samples = json["samples"] as? Int
    evidence.counted = json["counted"] as? Int
    evidence.window = span(json["window"])
    evidence.spread = span(json["spread"])
    evidence.gap = span(json["gap"])
    evidence.allowedGap = span(json["allowedGap"])
    evidence.stretch = number(json["stretch"])
    evidence.interval = span(json["interval"])
    evidence.level = number(json["level"])
    evidence.sampleLevel = number(json["sampleLevel"])
    evidence.threshold = number(json["threshold"])
    evidence.belowFor = span(json["belowFor"])
    if let basis = json["silence"] as? [String: Any] { evidence.silence = try silence(basis) }
    return evidence
  }

  private static func silence(_ json: [String: Any]) throws -> SilenceBasis {
    guard let pace = span(json["pace"]), let floor = span(json["floor"]), let ceiling = span(json["ceiling"]),
      let opportunities = number(json["opportunities"]), let runChance = number(json["runChance"]),
      let budget = number(json["budget"]), let continued = number(json["continued"]),
      let ended = number(json["ended"]), let misses = json["misses"] as? Int,
      let name = json["surroundings"] as? String, let surroundings = LevelClass(rawValue: name)
    else { throw Failure.unknown("\(json)") }
    var basis = SilenceBasis(
      pace: pace,
      surroundings: surroundings,
      opportunities: opportunities,
      runChance: runChance,
      budget: budget,
      continued: continued,
      ended: ended,
      floor: floor,
      ceiling: ceiling
    )
    basis.misses = misses
    if let from = json["longFrom"] as? Int, let chance = number(json["longChance"]),
      let continuation = number(json["longContinuation"])
    {
      basis.tail = SilenceBasis.Tail(from: from, chance: chance, continuation: continuation)
    }
    return basis
  }

  private static func number(_ value: Any?) -> Double? { (value as? NSNumber)?.doubleValue }

  private static func span(_ value: Any?) -> TimeSpan? { number(value).map { .seconds($0) } }
}
