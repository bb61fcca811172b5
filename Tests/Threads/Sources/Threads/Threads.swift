import Testing

/// Runs the tests that are linked in, with the arguments of `swift test`.
@main
enum Threads {
  static func main() async {
    await Testing.__swiftPMEntryPoint() as Never
  }
}
