package import ServiceLifecycle

/// A service that describes itself by the name of its type.
///
/// A group has each of its services describe itself when it is put together. For a structure that is by reflection all that it
/// holds: with a surveyed venue, half a minute of numbers that nobody reads before the server listens.
package struct NamedService: Service, CustomStringConvertible {
  private let service: any Service

  package init(_ service: any Service) { self.service = service }

  package var description: String { "\(type(of: service))" }

  package func run() async throws { try await service.run() }
}
