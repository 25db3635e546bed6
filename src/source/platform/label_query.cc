#include "source/platform/label_query.h"

#include <algorithm>

#include "base/strings.h"

namespace fairlead::source {
namespace {

constexpr size_t kMostParts = 64;

}  // namespace

absl::StatusOr<LabelQuery> LabelQuery::Parse(std::string_view text) {
  LabelQuery query;
  if (Trim(text).empty()) return query;
  for (std::string_view piece : Split(text, ',')) {
    piece = Trim(piece);
    Part part{Test::kThere, std::string(piece), ""};
    if (const size_t at = piece.find("!="); at != std::string_view::npos) {
      part = {Test::kNotEqual, std::string(Trim(piece.substr(0, at))),
              std::string(Trim(piece.substr(at + 2)))};
    } else if (const size_t equals = piece.find('='); equals != std::string_view::npos) {
      const size_t value = piece.find_first_not_of('=', equals);
      part = {Test::kEqual, std::string(Trim(piece.substr(0, equals))),
              value == std::string_view::npos ? "" : std::string(Trim(piece.substr(value)))};
    } else if (piece.starts_with('!')) {
      part = {Test::kNotThere, std::string(Trim(piece.substr(1))), ""};
    }
    if (part.key.empty() || part.key.find_first_of(" !=()") != std::string::npos)
      return absl::InvalidArgumentError(
          ToAbsl(StrCat("\"", piece, "\" is no KEY=VALUE, KEY!=VALUE, KEY or !KEY")));
    if (query.parts_.size() == kMostParts)
      return absl::InvalidArgumentError(ToAbsl(StrCat("more than ", kMostParts, " parts")));
    query.parts_.push_back(std::move(part));
  }
  return query;
}

bool LabelQuery::Matches(const LabelMap& labels) const {
  return std::all_of(parts_.begin(), parts_.end(), [&labels](const Part& part) {
    const auto it = labels.find(part.key);
    const bool there = it != labels.end();
    switch (part.test) {
      case Test::kEqual:
        return there && it->second == part.value;
      case Test::kNotEqual:
        return !there || it->second != part.value;
      case Test::kThere:
        return there;
      case Test::kNotThere:
        return !there;
    }
    return false;
  });
}

}  // namespace fairlead::source
