import PharosDocuments
package import PharosModel

/// Explanations of the length of a silence, and of what else an exit took.
extension Narrator {
  /// Explains the length of the silence that was allowed, and the margin.
  package func allowance(_ decision: Decision, _ evidence: Evidence) -> [String] {
    guard let allowed = evidence.allowedGap else { return [] }
    let basis = evidence.silence
    var text: String
    if allowed == decision.rules?.silenceFloor {
      text =
        "The silence allowed is \(Wording.span(allowed)), the shortest that the region takes for anything"
    } else if allowed >= basis?.ceiling ?? decision.rules?.silenceCeiling ?? .forever {
      text = "The silence allowed is \(Wording.span(allowed)), the ceiling: the longest that the region waits"
    } else if let basis, allowed == basis.floor {
      text =
        "The silence allowed is \(Wording.span(allowed)): its losses alone would allow less, but a person in the way "
        + "may hide it for so long"
    } else {
      let budget = decision.rules.map { Wording.trimmed(Wording.decimal($0.falseExitsPerDay, places: 3)) }
      let run = basis.map { ", some \($0.misses) adverts lost in a row," } ?? ""
      text =
        "While it is here, a silence beyond \(Wording.span(allowed))\(run) is expected less than "
        + "\(budget ?? "0.01") times a day, which is the budget for false exits"
    }
    if let stretch = evidence.stretch, stretch != 1 {
      let times = Wording.trimmed(Wording.decimal(stretch, places: 1))
      text += "; it is stretched \(times) times, as the observer scans in windows only"
    }
    if let margin = evidence.margin {
      text += "; margin \(Wording.span(.seconds(margin))) beyond one interval"
    }
    return [text + "."] + deafness(decision, evidence) + surroundings(basis)
  }

  /// Reports the part of the time since the last advert that counts for nothing.
  private func deafness(_ decision: Decision, _ evidence: Evidence) -> [String] {
    guard let deaf = evidence.deafFor else { return [] }
    let observer = decision.observer.map(name) ?? "the observer"
    return [
      "For \(Wording.span(deaf)) of that time \(observer) was deaf to others too, which does not count."
    ]
  }

  /// Explains the effect of the level before the silence.
  private func surroundings(_ basis: SilenceBasis?) -> [String] {
    switch basis?.surroundings {
    case .low:
      [
        "Before the silence its level had fallen below the usual, as it does when a person leaves: that shortens it."
      ]
    case .far:
      [
        "Before the silence its level had fallen far below the usual, as it does when a person leaves: that shortens "
          + "it much."
      ]
    case .usual, nil:
      []
    }
  }

  /// Explains the delay of an exit: the wait for a sign that the observer itself lives, or for its late reports.
  package func proof(_ decision: Decision, _ evidence: Evidence) -> [String] {
    let observer = decision.observer.map(name) ?? "the observer"
    if let waited = evidence.waitedForProof {
      return [
        "The exit waited \(Wording.span(waited)) for a sign that \(observer) itself lives, and got it: the "
          + "silence is the beacon's own."
      ]
    }
    let late = decision.decidedAt - decision.time
    guard late > .milliseconds(50) else { return [] }
    return ["Reported \(Wording.span(late)) after the deadline, since reports of \(observer) may be so late."]
  }

  /// Reports that another beacon or observer of the region was heard later, and was given up before.
  package func companions(_ decision: Decision, _ evidence: Evidence) -> [String] {
    guard let lastHeard = evidence.lastHeard, let row = decision.rows.first,
      let visit = rows[row]?.fixed.last?.visit(at: decision.time)
    else { return [] }
    guard visit.lastHeard > lastHeard, visit.lastHeard < decision.time else { return [] }
    let clock = Wording.clock(visit.lastHeard)
    switch decision.subject {
    case .observer:
      return [
        "Another beacon of the region was heard until \(clock) and was given up sooner: this was the last."
      ]
    case .beacon:
      return ["Another observer heard it until \(clock) and gave it up sooner: this was the last."]
    case .none:
      return []
    }
  }

  /// Reports when fixed rules would have decided the same, and how often they would have been wrong before.
  package func fixedRules(_ decision: Decision, lastHeard: Timestamp?) -> [String] {
    guard let row = decision.rows.first, let story = rows[row], let lastHeard else { return [] }
    let began = decision.transition?.enteredAt ?? .distantPast
    let clauses = story.fixed.reversed().map { rule in
      let subject = "a fixed \(Wording.span(rule.timeout)) rule"
      var clause: String
      if let left = rule.exit(after: lastHeard) {
        clause = "\(subject) would have said so \(Narrator.difference(left - decision.time))"
      } else {
        clause = "\(subject) had not said so by the end of the capture"
      }
      let mistakes = story.falseExits(of: rule).filter { began <= $0 && $0 < decision.time }
      if !mistakes.isEmpty {
        clause += ", but would have left falsely \(Wording.times(mistakes.count)) in this visit"
        clause += " (at \(Wording.clocks(mistakes)))"
      }
      return clause
    }
    let text = clauses.joined(separator: "; ")
    return [text.prefix(1).uppercased() + text.dropFirst() + "."]
  }

  private static func difference(_ span: TimeSpan) -> String {
    if abs(span.seconds) < 0.05 { return "at the same moment" }
    return "\(Wording.span(span)) \(span > .zero ? "later" : "earlier")"
  }
}
