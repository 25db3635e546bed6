#include "xds/request.h"

#include "xds/wire.h"

namespace fairlead::xds {
namespace {

bool DecodeStatus(std::string_view bytes, Request* request) {  // google.rpc.Status
  FieldReader reader(bytes);
  request->rejected = true;
  while (reader.Next()) {
    if (reader.number() == 1) request->error_code = static_cast<int>(reader.varint());
    if (reader.number() == 2) request->error_message = reader.bytes();
  }
  return reader.ok();
}

bool DecodeVersionEntry(std::string_view bytes, Request* request) {  // map<string, string>
  FieldReader reader(bytes);
  std::pair<std::string_view, std::string_view> entry;
  while (reader.Next()) {
    if (reader.number() == 1) entry.first = reader.bytes();
    if (reader.number() == 2) entry.second = reader.bytes();
  }
  request->initial_versions.push_back(entry);
  return reader.ok();
}

std::string_view DecodeLocator(std::string_view bytes) {  // ResourceLocator.name
  FieldReader reader(bytes);
  std::string_view name;
  while (reader.Next()) {
    if (reader.number() == 1) name = reader.bytes();
  }
  return name;
}

bool TakeNode(std::string_view bytes, Request* request) {
  request->has_node = true;
  request->node = bytes;
  return true;
}

bool TakeStateOfTheWorldField(const FieldReader& field, Request* request) {
  switch (field.number()) {
    case 1:
      request->version = field.bytes();
      break;
    case 2:
      return TakeNode(field.bytes(), request);
    case 3:
      request->subscribe.push_back(field.bytes());
      break;
    case 4:
      request->type_url = field.bytes();
      break;
    case 5:
      request->nonce = field.bytes();
      break;
    case 6:
      return DecodeStatus(field.bytes(), request);
    case 7:
      request->subscribe.push_back(DecodeLocator(field.bytes()));
      break;
    default:
      break;
  }
  return true;
}

bool TakeDeltaField(const FieldReader& field, Request* request) {
  switch (field.number()) {
    case 1:
      return TakeNode(field.bytes(), request);
    case 2:
      request->type_url = field.bytes();
      break;
    case 3:
      request->subscribe.push_back(field.bytes());
      break;
    case 4:
      request->unsubscribe.push_back(field.bytes());
      break;
    case 5:
      return DecodeVersionEntry(field.bytes(), request);
    case 6:
      request->nonce = field.bytes();
      break;
    case 7:
      return DecodeStatus(field.bytes(), request);
    case 8:
      request->subscribe.push_back(DecodeLocator(field.bytes()));
      break;
    case 9:
      request->unsubscribe.push_back(DecodeLocator(field.bytes()));
      break;
    default:
      break;
  }
  return true;
}

}  // namespace

absl::StatusOr<Request> DecodeRequest(Framing framing, std::string_view bytes) {
  Request request;
  FieldReader reader(bytes);
  bool ok = true;
  while (ok && reader.Next()) {
    ok = framing == Framing::kDelta ? TakeDeltaField(reader, &request)
                                    : TakeStateOfTheWorldField(reader, &request);
  }
  if (!ok || !reader.ok()) return absl::InvalidArgumentError("the request is no discovery request");
  return request;
}

}  // namespace fairlead::xds
