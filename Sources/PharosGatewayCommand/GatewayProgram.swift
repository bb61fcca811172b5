import ArgumentParser
import PharosGateway

/// `pharos-gateway`: `pharos gateway` without the rest of pharos.
@main
enum GatewayProgram {
  static func main() { GatewayCommand.main() }
}
