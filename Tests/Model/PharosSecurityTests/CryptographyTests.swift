import PharosDocuments
import PharosModel
import PharosSecurity
import PharosTestSupport
import Testing

@Suite("HMAC-SHA256")
struct HMACTests {
  /// The test vectors of RFC 4231, section 4, for SHA-256: key, data and code; the fifth is cut to 128 bits there as our tags
  /// are.
  static let vectors: [(key: [UInt8], data: [UInt8], code: String)] = [
    (
      Array(repeating: 0x0B, count: 20), Array("Hi There".utf8),
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      Array(repeating: 0xAA, count: 20), Array(repeating: 0xDD, count: 50),
      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
    ),
    (
      Array(1...25), Array(repeating: 0xCD, count: 50),
      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
    ),
    (
      Array(repeating: 0x0C, count: 20), Array("Test With Truncation".utf8),
      "a3b6167473100ee06e0c796c2955552b"
    ),
    (
      Array(repeating: 0xAA, count: 131),
      Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
    (
      Array(repeating: 0xAA, count: 131),
      Array(
        ("This is a test using a larger than block-size key and a larger than block-size data. "
          + "The key needs to be hashed before being used by the HMAC algorithm.").utf8
      ),
      "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
    ),
  ]

  @Test("gives the codes of RFC 4231", arguments: vectors.indices)
  func vector(index: Int) {
    let vector = Self.vectors[index]
    let hmac = HMACSHA256(key: vector.key)
    // Twice, since the prepared states are used again for every message.
    for _ in 0..<2 {
      let code = Hex.text(hmac.code(of: vector.data.span.bytes).array)
      #expect(code.prefix(vector.code.count) == vector.code)
    }
  }

  /// RFC 2104, word for word.
  private func reference(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    var block = key.count > 64 ? SHA256.hash(key) : key
    block += Array(repeating: 0, count: 64 - block.count)
    let inner = SHA256.hash(block.map { $0 ^ 0x36 } + message)
    return SHA256.hash(block.map { $0 ^ 0x5C } + inner)
  }

  @Test("equals its definition for keys and messages of any length", arguments: 0..<3)
  func definition(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let key = generator.bytes(Int.random(in: 0...150, using: &generator))
      let message = generator.bytes(Int.random(in: 0...1_500, using: &generator))
      #expect(HMACSHA256(key: key).code(of: message.span.bytes).array == reference(key, message))
    }
  }
}

@Suite("SHA-256")
struct SHA256Tests {
  @Test(
    "gives the hashes of FIPS 180-4's examples",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ]
  )
  func example(text: String, hash: String) { #expect(Hex.text(SHA256.hash(Array(text.utf8))) == hash) }

  @Test("pieces give the hash of the whole, and a copy continues independently")
  func pieces() {
    let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    for cut in stride(from: 0, through: 1_000, by: 37) {
      var hash = SHA256()
      let (first, second) = (Array(bytes[..<cut]), Array(bytes[cut...]))
      hash.update(first.span.bytes)
      let copy = hash
      hash.update(second.span.bytes)
      #expect(hash.finalize().array == SHA256.hash(bytes))
      #expect(copy.finalize().array == SHA256.hash(first))
    }
  }
}

@Suite("AES-128")
struct AES128Tests {
  @Test("encrypts the example of FIPS 197, appendix C.1")
  func example() {
    let cipher = AES128(key: (0x0001_0203_0405_0607, 0x0809_0A0B_0C0D_0E0F))
    let block = cipher.encrypt((0x0011_2233_4455_6677, 0x8899_AABB_CCDD_EEFF))
    #expect(block == (0x69C4_E0D8_6A7B_0430, 0xD8CD_B780_70B4_C55A))
  }
}

extension SeededGenerator {
  /// Returns random bytes.
  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
  }
}
