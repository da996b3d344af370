// The flatbuffer tables of Arrow's messages, by field number, for flatbuffers' verifier.
//
// Only what exports need is here; other fields are neither verified nor read. Absent
// fields have the default that Arrow gives them.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>

namespace dolium::dvid::tables {

constexpr flatbuffers::voffset_t FieldOffset(unsigned number) {
  return static_cast<flatbuffers::voffset_t>(4 + 2 * number);
}

// One field of a table as an offset to T, verified as such.
template <typename T>
using Vector = flatbuffers::Vector<flatbuffers::Offset<T>>;

class Base : public flatbuffers::Table {
 protected:
  template <typename T>
  T Scalar(unsigned number, T absent) const {
    return GetField<T>(FieldOffset(number), absent);
  }
  template <typename T>
  const T* Pointer(unsigned number) const {
    return GetPointer<const T*>(FieldOffset(number));
  }
  template <typename T>
  bool VerifyScalar(const flatbuffers::Verifier& verifier, unsigned number) const {
    return VerifyField<T>(verifier, FieldOffset(number), sizeof(T));
  }
  template <typename T>
  bool VerifyTables(flatbuffers::Verifier& verifier, unsigned number) const {
    return VerifyOffset(verifier, FieldOffset(number)) &&
           verifier.VerifyVector(Pointer<Vector<T>>(number)) &&
           verifier.VerifyVectorOfTables(Pointer<Vector<T>>(number));
  }
  template <typename T>
  bool VerifyTable(flatbuffers::Verifier& verifier, unsigned number) const {
    return VerifyOffset(verifier, FieldOffset(number)) &&
           verifier.VerifyTable(Pointer<T>(number));
  }
  bool VerifyText(const flatbuffers::Verifier& verifier, unsigned number) const {
    return VerifyOffset(verifier, FieldOffset(number)) &&
           verifier.VerifyString(Pointer<flatbuffers::String>(number));
  }
  // A vector of structs, of which only the bytes are looked at.
  template <typename T>
  bool VerifyStructs(const flatbuffers::Verifier& verifier, unsigned number) const {
    return VerifyOffset(verifier, FieldOffset(number)) &&
           verifier.VerifyVector(Pointer<flatbuffers::Vector<const T*>>(number));
  }
};

class KeyValue : public Base {
 public:
  const flatbuffers::String* key() const { return Pointer<flatbuffers::String>(0); }
  const flatbuffers::String* value() const { return Pointer<flatbuffers::String>(1); }
  bool Verify(flatbuffers::Verifier& verifier) const {
    return VerifyTableStart(verifier) && VerifyText(verifier, 0) &&
           VerifyText(verifier, 1) && verifier.EndTable();
  }
};

// Of all types: Int has the bit width and whether it is signed, Union its mode.
class Type : public Base {
 public:
  int32_t bit_width() const { return Scalar<int32_t>(0, 0); }
  bool is_signed() const { return Scalar<uint8_t>(1, 0) != 0; }
  bool is_dense() const { return Scalar<int16_t>(0, 0) != 0; }
  bool VerifyUnion(flatbuffers::Verifier& verifier) const {
    return VerifyTableStart(verifier) && VerifyScalar<int16_t>(verifier, 0) &&
           verifier.EndTable();
  }
  bool VerifyInt(flatbuffers::Verifier& verifier) const {
    return VerifyTableStart(verifier) && VerifyScalar<int32_t>(verifier, 0) &&
           VerifyScalar<uint8_t>(verifier, 1) && verifier.EndTable();
  }
};

enum class TypeKind : uint8_t {
  kNone = 0,
  kNull = 1,
  kInt = 2,
  kFloatingPoint = 3,
  kBinary = 4,
  kUtf8 = 5,
  kBool = 6,
  kDecimal = 7,
  kDate = 8,
  kTime = 9,
  kTimestamp = 10,
  kInterval = 11,
  kList = 12,
  kStruct = 13,
  kUnion = 14,
  kFixedSizeBinary = 15,
  kFixedSizeList = 16,
  kMap = 17,
  kDuration = 18,
  kLargeBinary = 19,
  kLargeUtf8 = 20,
  kLargeList = 21,
  kRunEndEncoded = 22,
  kBinaryView = 23,
  kUtf8View = 24,
  kListView = 25,
  kLargeListView = 26,
};

class Field : public Base {
 public:
  const flatbuffers::String* name() const { return Pointer<flatbuffers::String>(0); }
  TypeKind kind() const { return static_cast<TypeKind>(Scalar<uint8_t>(2, 0)); }
  const Type* type() const { return Pointer<Type>(3); }
  bool has_dictionary() const { return CheckField(FieldOffset(4)); }
  const Vector<Field>* children() const { return Pointer<Vector<Field>>(5); }
  const Vector<KeyValue>* metadata() const { return Pointer<Vector<KeyValue>>(6); }
  bool Verify(flatbuffers::Verifier& verifier) const {
    return VerifyTableStart(verifier) && VerifyText(verifier, 0) &&
           VerifyScalar<uint8_t>(verifier, 2) && VerifyOffset(verifier, FieldOffset(3)) &&
           (kind() != TypeKind::kInt || type() == nullptr ||
            type()->VerifyInt(verifier)) &&
           (kind() != TypeKind::kUnion || type() == nullptr ||
            type()->VerifyUnion(verifier)) &&
           VerifyTables<Field>(verifier, 5) && VerifyTables<KeyValue>(verifier, 6) &&
           verifier.EndTable();
  }
};

class Schema : public Base {
 public:
  int16_t endianness() const { return Scalar<int16_t>(0, 0); }  // 1: big
  const Vector<Field>* fields() const { return Pointer<Vector<Field>>(1); }
  bool Verify(flatbuffers::Verifier& verifier) const {
    return VerifyTableStart(verifier) && VerifyScalar<int16_t>(verifier, 0) &&
           VerifyTables<Field>(verifier, 1) && verifier.EndTable();
  }
};

// A structure of Arrow's: numbers in a row, little-endian.
struct TwoLongs {
  int64_t first;
  int64_t second;
};
struct FileBlock {
  int64_t offset;
  int32_t metadata;
  int32_t padding;
  int64_t body;
};

class BodyCompression : public Base {
 public:
  int8_t codec() const { return Scalar<int8_t>(0, 0); }   // 0: LZ4 frame, 1: ZSTD
  int8_t method() const { return Scalar<int8_t>(1, 0); }  // 0: each buffer
  bool Verify(flatbuffers::Verifier& verifier) const {
    return VerifyTableStart(verifier) && VerifyScalar<int8_t>(verifier, 0) &&
           VerifyScalar<int8_t>(verifier, 1) && verifier.EndTable();
  }
};

class RecordBatch : public Base {
 public:
  int64_t length() const { return Scalar<int64_t>(0, 0); }
  // Of nodes: length and null count. Of buffers: offset and length.
  const flatbuffers::Vector<const TwoLongs*>* nodes() const {
    return Pointer<flatbuffers::Vector<const TwoLongs*>>(1);
  }
  const flatbuffers::Vector<const TwoLongs*>* buffers() const {
    return Pointer<flatbuffers::Vector<const TwoLongs*>>(2);
  }
  const BodyCompression* compression() const { return Pointer<BodyCompression>(3); }
  // How many buffers of values each column of views has.
  const flatbuffers::Vector<int64_t>* view_buffers() const {
    return Pointer<flatbuffers::Vector<int64_t>>(4);
  }
  bool Verify(flatbuffers::Verifier& verifier) const {
    return VerifyTableStart(verifier) && VerifyScalar<int64_t>(verifier, 0) &&
           VerifyStructs<TwoLongs>(verifier, 1) && VerifyStructs<TwoLongs>(verifier, 2) &&
           VerifyTable<BodyCompression>(verifier, 3) &&
           VerifyOffset(verifier, FieldOffset(4)) &&
           verifier.VerifyVector(view_buffers()) && verifier.EndTable();
  }
};

enum class HeaderKind : uint8_t { kSchema = 1, kDictionaryBatch = 2, kRecordBatch = 3 };

class Message : public Base {
 public:
  int16_t version() const { return Scalar<int16_t>(0, 0); }  // 3: V4, 4: V5
  HeaderKind kind() const { return static_cast<HeaderKind>(Scalar<uint8_t>(1, 0)); }
  // nullptr if the message is another.
  const Schema* schema() const {
    return kind() == HeaderKind::kSchema ? Pointer<Schema>(2) : nullptr;
  }
  const RecordBatch* record_batch() const {
    return kind() == HeaderKind::kRecordBatch ? Pointer<RecordBatch>(2) : nullptr;
  }
  int64_t body() const { return Scalar<int64_t>(3, 0); }
  bool Verify(flatbuffers::Verifier& verifier) const {
    if (!VerifyTableStart(verifier) || !VerifyScalar<int16_t>(verifier, 0) ||
        !VerifyScalar<uint8_t>(verifier, 1) || !VerifyOffset(verifier, FieldOffset(2)) ||
        !VerifyScalar<int64_t>(verifier, 3)) {
      return false;
    }
    return verifier.VerifyTable(schema()) && verifier.VerifyTable(record_batch()) &&
           verifier.EndTable();
  }
};

class Footer : public Base {
 public:
  const flatbuffers::Vector<const FileBlock*>* batches() const {
    return Pointer<flatbuffers::Vector<const FileBlock*>>(3);
  }
  bool Verify(flatbuffers::Verifier& verifier) const {
    return VerifyTableStart(verifier) && VerifyStructs<FileBlock>(verifier, 3) &&
           verifier.EndTable();
  }
};

}  // namespace dolium::dvid::tables
