import Foundation
import PharosModel
import Testing

@Suite("RadioMath")
struct RadioMathTests {
  @Test("logarithms agree with the C library's to 14 digits")
  func logarithms() {
    for step in -300...300 {
      for factor in [1.0, 1.37, 1.4142135623730951, 1.5, 1.999, 7.77] {
        let number = pow(2, Double(step)) * factor
        #expect(abs(RadioMath.naturalLog(number) - log(number)) <= 1e-14 * max(1, abs(log(number))))
        #expect(abs(RadioMath.decadicLog(number) - log10(number)) <= 1e-14 * max(1, abs(log10(number))))
      }
    }
  }

  @Test("powers agree with the C library's to 13 digits")
  func powers() {
    for step in -2_000...2_000 {
      let number = Double(step) * 0.0937
      #expect(abs(RadioMath.exponential(number) / exp(number) - 1) < 1e-13)
      #expect(abs(RadioMath.powerOfTen(number / 10) / pow(10, number / 10) - 1) < 1e-12)
    }
    #expect(RadioMath.exponential(0) == 1)
  }

  @Test("a number to a power agrees with the C library's", arguments: [0.89, 1, 1.003, 2.5, 10])
  func numberToPower(base: Double) {
    for exponent in [-3.2, 0, 0.5, 1, 6.9476, 7.7095, 10] {
      #expect(abs(RadioMath.power(base, exponent) / pow(base, exponent) - 1) < 1e-13)
    }
    #expect(RadioMath.power(0, 2) < 1e-300)
  }

  @Test("logarithms and powers to base 2 are those of the C library to the last digits")
  func binary() {
    for step in -1_200...1_200 {
      let value = pow(10, Double(step) / 100)
      #expect(abs(RadioMath.binaryLog(value) - log2(value)) < 1e-13)
      let exponent = Double(step) * 0.0553
      #expect(abs(RadioMath.powerOfTwo(exponent) / pow(2, exponent) - 1) < 1e-13)
      let decades = Double(step) / 60
      #expect(abs(RadioMath.powerOfTwo(decades * RadioMath.binaryLogOfTen) / pow(10, decades) - 1) < 1e-13)
    }
    #expect(RadioMath.binaryLog(1) == 0)
    #expect(RadioMath.binaryLog(8) == 3)
    #expect(RadioMath.binaryLog(0) == -.infinity)
    #expect(RadioMath.powerOfTwo(2_000) == .infinity)
    #expect(RadioMath.powerOfTwo(-2_000) == 0)
  }

  @Test(
    "a number without a logarithm gives minus infinity",
    arguments: [0.0, -1, .nan, .infinity, -.infinity]
  )
  func noLogarithm(number: Double) {
    #expect(RadioMath.naturalLog(number) == -.infinity)
  }

  @Test("powers are held within the range of numbers", arguments: [1e9, -1e9, .infinity, -.infinity])
  func heldPowers(number: Double) {
    let power = RadioMath.exponential(number)
    #expect(power.isFinite)
    #expect(power > 0)
  }

  @Test("decibels have a bottom", arguments: [(100.0, 20.0), (1, 0), (0.01, -20), (0, -60), (-1, -60)])
  func decibels(ratio: Double, decibels: Double) {
    #expect(abs(RadioMath.decibels(ratio) - decibels) < 1e-12)
  }
}
