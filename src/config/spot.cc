#include "config/spot.h"

#include "base/strings.h"
#include "config/field_path.h"
#include "config/read/proto_reader.h"

namespace fairlead::config {
namespace {

// "jwksUri" is "jwks_uri" as protobuf calls it, which is read too.
std::string OriginalName(std::string_view json_name) {
  std::string name;
  for (char c : json_name) {
    if (c >= 'A' && c <= 'Z') {
      name += '_';
      name += static_cast<char>(c - 'A' + 'a');
    } else {
      name += c;
    }
  }
  return name;
}

Node FindField(Node mapping, std::string_view name) {
  const Node found = mapping.Find(name);
  return found ? found : mapping.Find(OriginalName(name));
}

}  // namespace

Spot::Place Spot::Resolve() const {
  if (parent_ == nullptr) return {subject_->document, subject_->document.line()};
  Place place = parent_->Resolve();
  place.found = is_index_ ? place.found.At(index_) : FindField(place.found, name_);
  if (place.found) place.line = place.found.line();
  return place;
}

std::string Spot::Path() const {
  if (parent_ == nullptr) return "";
  std::string path = parent_->Path();
  if (is_index_) {
    AppendIndex(path, index_);
  } else {
    AppendKey(path, name_);
  }
  return path;
}

void Spot::Error(std::string_view code, std::string message) const {
  if (subject_->report.IsFull()) return subject_->report.Error(code, 0, "", "");
  std::string path = Path();
  if (subject_->known != nullptr && subject_->known->contains(path)) return;
  if (subject_->wrong != nullptr) subject_->wrong->insert(path);
  subject_->report.Error(code, Resolve().line, std::move(path), std::move(message));
}

bool Spot::Read(google::protobuf::Message* message) const {
  Report inner(subject_->report.file());
  const bool good = ReadProto(Written(), FieldPath(), inner, message, UnknownFields::kWarning);
  for (const Diagnostic& one : inner.Take()) {
    std::string path = StrCat(Path(), one.path.empty() || one.path[0] == '[' ? "" : ".", one.path);
    if (one.severity == Severity::kError) {
      subject_->report.Error(one.code, one.line, std::move(path), one.message);
    } else {
      subject_->report.Warning(one.code, one.line, std::move(path), one.message);
    }
  }
  return good;
}

void Spot::Warn(std::string_view code, std::string message) const {
  subject_->report.Warning(code, Resolve().line, Path(), std::move(message));
}

}  // namespace fairlead::config
