import PharosModel
import PharosPresence

/// One way to tamper with evidence so that the decision no longer follows from it.
struct Forgery: Sendable {
  /// The field that is changed.
  let name: String
  /// The evidence changed, or nil where that field does not bear on the decision.
  let forge: @Sendable (Evidence) -> Evidence?

  /// A little more than what printing to three decimals loses.
  private static let moment = TimeSpan.milliseconds(20)

  static let all = samples + levels + silences + bases

  private static let samples = [
    Forgery("counted", of: [.samples]) { evidence in
      guard let samples = evidence.samples else { return false }
      evidence.counted = samples - 1
      return true
    },
    Forgery("samples", of: [.samples]) { evidence in
      guard let counted = evidence.counted else { return false }
      evidence.samples = counted + 1
      return true
    },
    Forgery("spread", of: [.samples]) { evidence in
      guard let window = evidence.window, evidence.samples ?? 0 > 1 else { return false }
      evidence.spread = window + moment
      return true
    },
    Forgery("window of samples", of: [.samples]) { evidence in
      guard let spread = evidence.spread, evidence.samples ?? 0 > 1 else { return false }
      evidence.window = spread - moment
      return true
    },
    Forgery("level of an enter", of: [.samples]) { evidence in
      guard let threshold = evidence.threshold else { return false }
      evidence.level = threshold - 0.1
      return true
    },
    Forgery("sampleLevel", of: [.samples]) { evidence in
      guard let threshold = evidence.threshold else { return false }
      evidence.sampleLevel = threshold - 0.1
      return true
    },
    Forgery("missing count", of: [.samples]) { evidence in
      evidence.counted = nil
      return true
    },
  ]

  private static let levels = [
    Forgery("level of an exit", of: [.level]) { evidence in
      guard let threshold = evidence.threshold else { return false }
      evidence.level = threshold + 0.1
      return true
    },
    Forgery("threshold of an exit", of: [.level]) { evidence in
      guard let level = evidence.level else { return false }
      evidence.threshold = level - 0.1
      return true
    },
    Forgery("belowFor", of: [.level]) { evidence in
      guard let window = evidence.window else { return false }
      evidence.belowFor = window - moment
      return true
    },
    Forgery("dwell", of: [.level]) { evidence in
      guard let belowFor = evidence.belowFor else { return false }
      evidence.window = belowFor + moment
      return true
    },
  ]

  private static let silences = [
    Forgery("gap", of: [.fixedSilence, .adaptiveSilence]) { evidence in
      guard let allowed = evidence.allowedGap else { return false }
      evidence.gap = allowed * (evidence.stretch ?? 1) - moment
      return true
    },
    Forgery("allowedGap", of: [.fixedSilence, .adaptiveSilence]) { evidence in
      guard let gap = evidence.gap else { return false }
      evidence.allowedGap = gap * (1 / (evidence.stretch ?? 1)) + moment
      return true
    },
    Forgery("stretch", of: [.fixedSilence, .adaptiveSilence]) { evidence in
      guard let gap = evidence.gap, let allowed = evidence.allowedGap, allowed > .zero else { return false }
      evidence.stretch = (gap + moment) / allowed
      return true
    },
    Forgery("missing gap", of: [.fixedSilence, .adaptiveSilence, .neverHeard]) { evidence in
      evidence.gap = nil
      return true
    },
    Forgery("patience", of: [.neverHeard]) { evidence in
      guard let gap = evidence.gap else { return false }
      evidence.window = gap + moment
      return true
    },
  ]

  /// What the allowed gap was computed from: a change matters where it moves the gap or the run that it is made of.
  private static let bases = [
    basis("misses") { $0.misses += 1 },
    basis("pace") { $0.pace = $0.pace * 2 },
    basis("opportunities") { $0.opportunities *= 1_000 },
    basis("runChance") { $0.runChance = max($0.runChance, 1e-6) * 1_000 },
    basis("budget") { $0.budget /= 1_000 },
    basis("continued") { $0.continued *= 3 },
    basis("ended") { $0.ended *= 3 },
    basis("floor") { $0.floor = $0.allowedGap + .seconds(1) },
    basis("ceiling") { $0.ceiling = $0.allowedGap - .milliseconds(100) },
    basis("tail") { basis in
      let from = (basis.tail?.from ?? basis.misses) * 3 + 9
      basis.tail = SilenceBasis.Tail(from: from, chance: 0.5, continuation: 0.9)
    },
    Forgery("missing basis", of: [.adaptiveSilence]) { evidence in
      guard evidence.silence != nil, evidence.interval != nil else { return false }
      evidence.silence = nil
      return true
    },
  ]

  private static func basis(
    _ name: String,
    _ change: @escaping @Sendable (inout SilenceBasis) -> Void
  ) -> Forgery {
    Forgery(name, of: [.adaptiveSilence]) { evidence in
      guard let before = evidence.silence else { return false }
      var basis = before
      change(&basis)
      let isMoved = (basis.allowedGap - before.allowedGap).seconds.magnitude > 0.01
      guard isMoved || basis.recomputedMisses != basis.misses else { return false }
      evidence.silence = basis
      return true
    }
  }

  private init(
    _ name: String,
    of rules: Set<Evidence.Rule>,
    _ change: @escaping @Sendable (inout Evidence) -> Bool
  ) {
    self.name = name
    forge = { evidence in
      guard rules.contains(evidence.rule) else { return nil }
      var forged = evidence
      return change(&forged) ? forged : nil
    }
  }
}
