/// One thing that is wrong with a scene.
package struct SceneMistake: Hashable, Sendable {
  /// Where it is, as in `transmitter "door": interval`; empty for the scene itself.
  package var place: String
  /// What is wrong, and what is expected instead.
  package var problem: String

  /// Makes a mistake.
  package init(_ place: String, _ problem: String) {
    self.place = place
    self.problem = problem
  }
}

extension SceneMistake: CustomStringConvertible {
  /// Place and problem in a line.
  package var description: String { "\(place): \(problem)" }
}

/// Why a scene cannot be played: all its mistakes at once.
package struct InvalidScene: Error, Hashable, Sendable {
  /// The scene's name.
  package var scene: String
  /// What is wrong with it, at least one thing.
  package var mistakes: [SceneMistake]

  /// Makes an error.
  package init(scene: String, mistakes: [SceneMistake]) {
    self.scene = scene
    self.mistakes = mistakes
  }
}

extension InvalidScene: CustomStringConvertible {
  /// A line for each mistake.
  package var description: String {
    mistakes.map { "scene \"\(scene)\": \($0)" }.joined(separator: "\n")
  }
}
