import CCrypto
import PharosDocuments
import PharosModel
import PharosSecurity
import Testing

@Suite("P-256 and AES-128-GCM")
struct P256Tests {
  /// - Source: NIST CAVS 14.1, ECC CDH primitive, P-256, count 0.
  @Test("two keys agree on the secret of the vector")
  func agreement() throws {
    let number = try #require(
      Hex.bytes("7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534")
    )
    let x = "700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287"
    let y = "db71e509e3fd9b060ddb20ba5c51dcc5948d46fbf640dfe0441782cab85fa4ac"
    let point = try #require(Hex.bytes("04" + x + y))
    let key = try #require(P256Key(number: number))
    let secret = try #require(key.sharedSecret(with: point))
    #expect(Hex.text(secret) == "46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b")
    let other = P256Key()
    #expect(other.sharedSecret(with: key.point) == key.sharedSecret(with: other.point))
  }

  @Test("no number outside the curve's order is a key, and no point off the curve has a secret")
  func bounds() throws {
    let order = try #require(Hex.bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"))
    var below = order
    below[31] -= 1
    #expect(P256Key(number: order) == nil)
    #expect(P256Key(number: below) != nil)
    #expect(P256Key(number: Array(repeating: 0, count: 32)) == nil)
    #expect(P256Key(number: [1]) == nil)
    var point = P256Key().point
    point[64] ^= 1
    #expect(P256Key().sharedSecret(with: point) == nil)
    #expect(P256Key().sharedSecret(with: []) == nil)
    let key = P256Key()
    var dumped = "\(key)"
    dump(key, to: &dumped)
    #expect(!dumped.contains("\(key.number[0]), \(key.number[1]), \(key.number[2])"), "the number is hidden")
  }

  @Test("libcrypto accepts each signature, and none of another message")
  func signatures() {
    let key = P256Key()
    // Numbers with zeros in front come about once in 128 signatures.
    for number in 0..<300 {
      let message = Array("message \(number)".utf8)
      let signature = key.signature(of: message)
      #expect(signature.count == 64)
      #expect(Self.isValid(signature, of: message, by: key.point), "\(number)")
      #expect(!Self.isValid(signature, of: message + [0], by: key.point), "\(number)")
    }
  }

  /// - Source: McGrew and Viega, The Galois/Counter Mode of Operation, test cases 1 and 2.
  @Test("sealing gives the vectors of GCM")
  func sealing() {
    let zeros = [UInt8](repeating: 0, count: 16)
    let nonce = [UInt8](repeating: 0, count: 12)
    let empty = AES128GCM.seal([], key: zeros, nonce: nonce)
    #expect(Hex.text(empty) == "58e2fccefa7e3061367f1d57a4e7455a")
    let block = AES128GCM.seal(zeros, key: zeros, nonce: nonce)
    #expect(Hex.text(block) == "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf")
  }

  /// - Source: RFC 5869, A.1, cut to 32 bytes.
  @Test("a derived key is that of the vector")
  func derivation() throws {
    let key = HMACSHA256.derivedKey(
      from: Array(repeating: 0x0B, count: 22),
      salt: Array(0...12),
      info: Array(0xF0...0xF9),
      length: 32
    )
    #expect(Hex.text(key) == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf")
  }

  /// Checks a signature by libcrypto's own reading of signatures.
  private static func isValid(_ signature: [UInt8], of message: [UInt8], by point: [UInt8]) -> Bool {
    func integer(_ digits: ArraySlice<UInt8>) -> [UInt8] {
      let plain = Array(digits.drop { $0 == 0 })
      let positive = (plain.first ?? 0x80) >= 0x80 ? [0] + plain : plain
      return [0x02, UInt8(positive.count)] + positive
    }
    let numbers = integer(signature.prefix(32)) + integer(signature.suffix(32))
    let der = [0x30, UInt8(numbers.count)] + numbers
    let head = Hex.bytes("3059301306072a8648ce3d020106082a8648ce3d030107034200") ?? []
    return (head + point).withUnsafeBufferPointer { buffer in
      var next = buffer.baseAddress
      guard let key = d2i_PUBKEY(nil, &next, buffer.count), let context = EVP_MD_CTX_new() else {
        return false
      }
      defer {
        EVP_PKEY_free(key)
        EVP_MD_CTX_free(context)
      }
      guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else { return false }
      return EVP_DigestVerify(context, der, der.count, message, message.count) == 1
    }
  }
}
