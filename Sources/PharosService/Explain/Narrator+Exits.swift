import PharosEvents
import PharosReports

/// Exits: the rule, its numbers, and what fixed rules would have said.
extension Narrator {
  func adaptiveExit(_ decision: Decision, _ evidence: Evidence) -> Telling {
    Telling(
      [silence(evidence)] + learned(decision, evidence) + allowance(decision, evidence)
        + proof(decision, evidence) + companions(decision, evidence),
      compared: fixedRules(decision, lastHeard: evidence.lastHeard)
    )
  }

  func fixedExit(_ decision: Decision, _ evidence: Evidence) -> Telling {
    var said = [silence(evidence)]
    if case .fixed(let timeout)? = decision.rules?.silence {
      said.append(
        "The region's rule is a fixed time-out of \(Wording.span(timeout)); nothing learned counts."
      )
    }
    said += learned(decision, evidence) + proof(decision, evidence) + companions(decision, evidence)
    return Telling(said, compared: fixedRules(decision, lastHeard: evidence.lastHeard))
  }

  func levelExit(_ decision: Decision, _ evidence: Evidence) -> Telling {
    var said: [String] = []
    let threshold = evidence.threshold.map(Wording.threshold) ?? "the exit level"
    let meters = evidence.distance.map { ", its level at \(Wording.meters($0))," } ?? ""
    let dwell = evidence.window.map { " for \(Wording.span($0))" } ?? ""
    said.append(
      "Still heard, but too weak: the filtered level stayed below \(threshold)\(meters)\(dwell), the dwell."
    )
    if let level = evidence.level {
      let margin = evidence.margin.map { ", a margin of \(Wording.decimal($0, places: 1)) dB" } ?? ""
      said.append("It stood at \(Wording.level(level, deviation: evidence.levelDeviation))\(margin).")
    }
    if let gap = evidence.gap, gap > .seconds(1) { said.append("Last heard \(Wording.span(gap)) before.") }
    said += proof(decision, evidence) + companions(decision, evidence)
    return Telling(said, compared: fixedRules(decision, lastHeard: evidence.lastHeard))
  }

  private func silence(_ evidence: Evidence) -> String {
    let gap = evidence.gap.map { " for \(Wording.span($0))" } ?? ""
    guard let lastHeard = evidence.lastHeard else { return "Silent\(gap)." }
    let level = evidence.level.map { " at \(Wording.level($0, deviation: evidence.levelDeviation))" } ?? ""
    return "Silent\(gap) (last heard \(Wording.clock(lastHeard))\(level))."
  }

  /// What the track knows of its beacon and of its own hearing.
  func learned(_ decision: Decision, _ evidence: Evidence) -> [String] {
    guard let interval = evidence.interval else {
      return ["Too little was heard to know how often it advertises."]
    }
    let observer = decision.observer.map(name) ?? "its observer"
    var text = "It advertises every \(Wording.span(interval))"
    if let share = evidence.receptionShare {
      text += " and \(observer) receives \(Wording.percent(share)) of its adverts"
      if let run = evidence.lossRun, run > 0 {
        text += ", losing \(Wording.decimal(run, places: 1)) in a row on average when it loses any"
      }
    }
    return [text + "."]
  }
}
