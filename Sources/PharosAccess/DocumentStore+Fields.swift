import PharosJournal
import PharosReports

extension DocumentStore {
  /// Reads all documents of a kind.
  func decoded<Value: FieldCodable>(kind: String) throws(AccessError) -> [(key: String, value: Value)] {
    let kept: [(key: String, document: [UInt8])]
    do throws(JournalError) { kept = try documents(kind: kind) } catch { throw .store(error) }
    var values: [(key: String, value: Value)] = []
    for (key, document) in kept {
      do throws(FieldError) {
        var reader = FieldReader(document[...])
        let value = try Value(from: &reader)
        try reader.finish()
        values.append((key, value))
      } catch {
        throw .damaged(kind: kind, key: key, error)
      }
    }
    return values
  }

  /// Keeps a value.
  func keep<Value: FieldCodable>(_ value: Value, kind: String, key: String) throws(AccessError) {
    var writer = FieldWriter()
    value.write(to: &writer)
    do throws(JournalError) { try put(writer.bytes, kind: kind, key: key) } catch { throw .store(error) }
  }

  /// Forgets a value.
  func forget(kind: String, key: String) throws(AccessError) {
    do throws(JournalError) { _ = try delete(kind: kind, key: key) } catch { throw .store(error) }
  }
}
