import Foundation

/// A row of the table: what is measured, how far it should come, and by which figure it is judged.
struct Target {
  /// Which way is better.
  enum Aim {
    case atLeast(Double)
    case atMost(Double)
  }

  /// What a figure depends on besides us, so that two runs can be compared.
  enum Kind {
    /// On nothing: counts, bytes and ratios.
    case plain
    /// On how quick the machine is: time for a piece of work.
    case time
    /// On how quick the machine is: work in a piece of time.
    case rate
    /// On how others leave the machine alone: the slowest of many.
    case tail
  }

  /// Its name in the JSON, the same from version to version.
  var name: String
  /// What it says in the table.
  var title: String
  /// Who measures it.
  var source: Source
  /// Which of that program's figures it is.
  var figure: String
  /// The unit as it is printed.
  var unit: String
  /// By what the figure is divided for printing.
  var scale = 1.0
  /// How far it should come.
  var aim: Aim
  /// What it depends on.
  var kind: Kind

  /// The figure that is wanted.
  var goal: Double {
    switch aim {
    case .atLeast(let value), .atMost(let value): value
    }
  }

  /// Whether a figure is good enough.
  func isMet(by value: Double) -> Bool {
    switch aim {
    case .atLeast(let minimum): value >= minimum
    case .atMost(let maximum): value <= maximum
    }
  }

  /// How a figure stands to the goal: 1 is just met, more is better.
  func ratio(of value: Double) -> Double? {
    switch aim {
    case .atLeast(let minimum): return value / minimum
    case .atMost(let maximum): return maximum > Target.noAllocation && value > 0 ? maximum / value : nil
    }
  }

  /// Fewer than one in ten thousand adverts: what tables cost that still grow, and no advert by itself.
  static let noAllocation = 0.000_1
}
