#include "tests/updates/update_case.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/strings.h"

namespace fairlead::updates {
namespace {

constexpr char kSent[] = "sent";

UpdateCase ReadCase(const std::filesystem::path& path) {
  UpdateCase one;
  one.file = path.string();
  const std::string stem = path.stem().string();
  for (std::string_view word : Split(stem, '-')) {
    one.name += StrCat(std::string(1, static_cast<char>(std::toupper(word[0]))), word.substr(1));
  }
  std::ifstream in(path);
  std::string* text = &one.comment;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("== ")) {
      text = &one.sections.emplace_back(line.substr(3), "").second;
    } else {
      StrAppend(text, line, "\n");
    }
  }
  return one;
}

}  // namespace

std::string UpdateCase::Section(const std::string& title) const {
  for (const auto& [its_title, text] : sections) {
    if (its_title == title) return text;
  }
  return "";
}

std::vector<UpdateCase> ReadCases(const std::string& folder) {
  std::vector<UpdateCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") cases.push_back(ReadCase(entry.path()));
  }
  std::sort(cases.begin(), cases.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return cases;
}

void Rewrite(const UpdateCase& one, const std::string& sent) {
  std::ofstream out(one.file);
  out << one.comment;
  for (const auto& [title, text] : one.sections) {
    if (title != kSent) out << "== " << title << "\n" << text;
  }
  out << "== " << kSent << "\n" << sent;
}

}  // namespace fairlead::updates
