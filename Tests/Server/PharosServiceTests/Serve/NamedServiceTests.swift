import PharosService
import ServiceLifecycle
import Synchronization
import Testing

@Suite("Services by name")
struct NamedServiceTests {
  /// What a service holds: records whether its description was read, and whether the service ran.
  private final class Burden: CustomStringConvertible, Sendable {
    private let asked = Atomic<Bool>(false)
    private let ran = Atomic<Bool>(false)

    var isAsked: Bool { asked.load(ordering: .relaxed) }
    var hasRun: Bool { ran.load(ordering: .relaxed) }

    var description: String {
      asked.store(true, ordering: .relaxed)
      return "a radio map"
    }

    func run() { ran.store(true, ordering: .relaxed) }
  }

  private struct Loaded: Service {
    let burden: Burden

    func run() async throws { burden.run() }
  }

  @Test("a group that is put together asks no service what it holds, and runs it")
  func isAskedForItsNameAlone() async throws {
    let burden = Burden()
    let service = NamedService(Loaded(burden: burden))
    #expect(service.description == "Loaded")
    _ = ServiceGroupConfiguration.ServiceConfiguration(service: service)
    #expect(!burden.isAsked)
    try await service.run()
    #expect(burden.hasRun)
  }

  @Test("a service that is not wrapped is asked, so that the test above can fail")
  func isAskedOtherwise() {
    let burden = Burden()
    _ = ServiceGroupConfiguration.ServiceConfiguration(service: Loaded(burden: burden))
    #expect(burden.isAsked)
  }
}
