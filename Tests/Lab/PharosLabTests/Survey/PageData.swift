import Foundation
import Testing

/// The block of data in a page of pictures, as its script reads it.
struct PageData {
  private let pictures: [[String: Any]]

  /// Reads a page, which must refer to no other file.
  init(_ bytes: [UInt8]) throws {
    let page = String(decoding: bytes, as: UTF8.self)
    try #require(!page.contains("src=") && !page.contains("href=\"/") && !page.contains("\nimport "))
    let rest = try #require(page.split(separator: #"<script type="application/json" id="data">"#).last)
    let block = try #require(rest.split(separator: "</script>").first)
    let data = try JSONSerialization.jsonObject(with: Data(block.utf8)) as? [String: Any]
    pictures = try #require(data?["pictures"] as? [[String: Any]])
    let floors = try #require(data?["floors"] as? [Any])
    for picture in pictures { try #require(floors.indices.contains(picture["floor"] as? Int ?? -1)) }
  }

  /// The titles of the pictures.
  var titles: [String] { pictures.compactMap { $0["title"] as? String } }

  /// The figures below the title of a picture.
  func figures(_ picture: Int) -> String { pictures[picture]["figures"] as? String ?? "" }

  private func layers(_ picture: Int) -> [[String: Any]] {
    pictures[picture]["layers"] as? [[String: Any]] ?? []
  }

  /// The names of a picture's layers that have one.
  func legend(_ picture: Int) -> [String] {
    layers(picture).compactMap { $0["name"] as? String }.filter { !$0.isEmpty }
  }

  /// The values of the layer of a name.
  func values(_ picture: Int, _ name: String) -> [[Double]] {
    layers(picture).first { $0["name"] as? String == name }?["values"] as? [[Double]] ?? []
  }
}
