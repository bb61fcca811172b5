import PharosModel
import PharosTestSupport
import Testing

@Suite("Outputs of stage one")
struct StageOutputTests {
  @Test(
    "an output keeps the room of a usual batch, and gives back that of a storm",
    arguments: [1, 64, 5_000]
  )
  func room(count: Int) {
    var random = RandomEvents(seed: 3)
    let event = random.event()
    var output = StageOutput()
    output.events.reserveCapacity(count)
    for _ in 0..<count { output.events.append(event) }
    let room = output.events.capacity
    output.removeAll()
    #expect(output.isEmpty)
    #expect(output.events.capacity == (count <= 64 ? room : 0))
  }
}
