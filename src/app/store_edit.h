#ifndef FAIRLEAD_APP_STORE_EDIT_H_
#define FAIRLEAD_APP_STORE_EDIT_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fairlead::app {

// The way of a text through a person's editor (VISUAL, EDITOR, else vi), as often as it has mistakes.
struct EditRequest {
  std::string title;  // of the file: "ServiceEntry-shop-web"
  std::string text;
  // What is wrong with a text, line by line; "" for nothing.
  std::function<std::string(const std::string& text)> mistakes;
};
struct Edited {
  std::string text;
  std::string file;  // has the text, and is the caller's to remove
};
// Nothing where the text is left as it was. Cancelled where it is saved twice with the same mistakes, and
// Unavailable where there is no editor or it failed; both name the file, which stays.
absl::StatusOr<std::optional<Edited>> EditText(const EditRequest& request);

// A document for people: YAML of several lines where it is one of FlowText; else as it is.
std::string EditableText(const std::string& document);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_STORE_EDIT_H_
