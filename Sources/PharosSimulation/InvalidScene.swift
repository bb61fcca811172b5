/// One thing that is wrong with a scene.
public struct SceneMistake: Hashable, Sendable {
  /// Where it is, as in `transmitter "door": interval`; empty for the scene itself.
  public var place: String
  /// What is wrong, and what is expected instead.
  public var problem: String

  /// Makes a mistake.
  public init(_ place: String, _ problem: String) {
    self.place = place
    self.problem = problem
  }
}

extension SceneMistake: CustomStringConvertible {
  /// Place and problem in a line.
  public var description: String { "\(place): \(problem)" }
}

/// Why a scene cannot be played: all its mistakes at once.
public struct InvalidScene: Error, Hashable, Sendable {
  /// The scene's name.
  public var scene: String
  /// What is wrong with it, at least one thing.
  public var mistakes: [SceneMistake]

  /// Makes an error.
  public init(scene: String, mistakes: [SceneMistake]) {
    self.scene = scene
    self.mistakes = mistakes
  }
}

extension InvalidScene: CustomStringConvertible {
  /// A line for each mistake.
  public var description: String {
    mistakes.map { "scene \"\(scene)\": \($0)" }.joined(separator: "\n")
  }
}
