#ifndef FAIRLEAD_MODEL_RAW_METADATA_H_
#define FAIRLEAD_MODEL_RAW_METADATA_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace google::protobuf {
class Struct;
}

namespace fairlead::model {

// A node's metadata as it came, encoded: a tree of it would take thirty times as much memory. Immutable.
class RawMetadata {
 public:
  explicit RawMetadata(const google::protobuf::Struct& metadata);

  // The text by a key; nothing where there is none. Lives as long as this object.
  std::optional<std::string_view> Text(std::string_view key) const;
  // The text by a key of the object by another key: of ANNOTATIONS, say.
  std::optional<std::string_view> Text(std::string_view object, std::string_view key) const;
  google::protobuf::Struct Parse() const;
  // An encoded google.protobuf.Struct.
  const std::string& bytes() const { return bytes_; }

 private:
  const std::string bytes_;
};

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_RAW_METADATA_H_
