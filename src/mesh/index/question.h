#ifndef FAIRLEAD_MESH_INDEX_QUESTION_H_
#define FAIRLEAD_MESH_INDEX_QUESTION_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/hash/hash.h"
#include "base/interned.h"
#include "config/kind.h"
#include "model/settings.h"

// Questions of a mesh, and how their answers are kept. A question is one row: a struct in the file of its
// domain (*_questions.h), and its name in the list at the end of that file. All else follows, see
// question_table.h.
//
//   struct ServiceEndpoints {
//     // The answer. The parameters behind the first are the key: a config::Kind or a model::SettingsPart,
//     // then up to two Interned. The first is a ProxyScope where the question is about a client.
//     static model::ServiceEndpointsPtr Answer(const MeshSnapshot& mesh, const Interned& host,
//                                              const Interned& ns);
//     // The question whose answer decides about this one. A change of that answer stands for a change of
//     // this one, and whoever takes these reads over notes that question instead.
//     static Asked<Endpoints> Wider(const Interned& host, const Interned& ns);
//   };
//
// A question about the snapshot has a Wider or a Difference, else it does not compile:
//   static void Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit);
// visits each key whose answer differs, once, and costs what differs; difference.h has the usual ones. Nearly
// everything is made from a row that says kConcernsAll: its change concerns everybody, and its readers are
// not kept. A question about a client may have a Wider, with the client as first parameter if that decides.
namespace fairlead::mesh {

struct MeshSnapshot;
struct ProxyScope;

// Where questions are asked: a snapshot, and a client in it, which is null where a value is nobody's in
// particular.
struct World {
  const MeshSnapshot& snapshot;
  const ProxyScope* client = nullptr;
  bool shadow = false;  // every reuse is checked by making the value anew (see View::Use)
};

// What of a question's subject is meant: a kind or a part of the settings, and names.
struct Key {
  uint8_t sub = 0;  // a config::Kind or a model::SettingsPart
  Interned a = {}, b = {};

  Key() = default;
  Key(Interned first, Interned second = {})  // NOLINT: implicit
      : a(std::move(first)), b(std::move(second)) {}
  Key(const std::pair<Interned, Interned>& names) : a(names.first), b(names.second) {}  // NOLINT: implicit
  Key(config::Kind kind, Interned first = {}, Interned second = {})                     // NOLINT: implicit
      : sub(static_cast<uint8_t>(kind)), a(std::move(first)), b(std::move(second)) {}
  Key(model::SettingsPart part) : sub(static_cast<uint8_t>(part)) {}  // NOLINT: implicit

  config::Kind kind() const { return static_cast<config::Kind>(sub); }
  model::SettingsPart settings_part() const { return static_cast<model::SettingsPart>(sub); }
  friend bool operator==(const Key&, const Key&) = default;
  friend bool operator<(const Key& x, const Key& y) {
    return std::tie(x.sub, x.a, x.b) < std::tie(y.sub, y.a, y.b);
  }
};
// Told of a key whose answer differs.
using Visit = absl::FunctionRef<void(const Key&)>;

// A question's row with a key.
template <typename Row>
struct Asked {
  Key key;
  template <typename... Keys>
  Asked(Keys&&... keys) : key(std::forward<Keys>(keys)...) {}  // NOLINT: implicit by design
};

// The rows of a domain.
template <typename... Row>
struct Rows {};

// Which row it is: its number in the table.
enum class Part : uint8_t {};

template <typename Row, typename... All>
constexpr Part PartIn(Rows<All...>) {
  static_assert((std::is_same_v<Row, All> || ...), "the row is in no list of its domain");
  size_t part = 0;
  (void)((std::is_same_v<Row, All> || (++part, false)) || ...);
  return static_cast<Part>(part);
}

struct Question {
  Part part = {};
  Key key = {};
  friend bool operator==(const Question&, const Question&) = default;
  friend bool operator<(const Question& x, const Question& y) {
    return std::tie(x.part, x.key) < std::tie(y.part, y.key);
  }
  template <typename H>
  friend H AbslHashValue(H h, const Question& q) {
    return H::combine(std::move(h), q.part, q.key.sub, q.key.a, q.key.b);
  }
};

// An answer as it is kept: a part of the mesh, which is kept alive so that no other has its address; or a
// text; or a small value. Empty: there is none.
struct Answer {
  std::shared_ptr<const void> part;
  Interned text;
};

// How answers of a type are kept, compared, hashed and handed out. Parts are the same by their pointers, all
// else by value. A value without a hash of its own has the same one as all others of its type.
template <typename T>
struct Kept {
  static Answer Keep(const T& value) { return {std::make_shared<const T>(value), {}}; }
  static bool IsSame(const Answer& kept, const T& value) { return HandOut(kept) == value; }
  static uint64_t Hash(const T&) { return 0; }
  static const T& HandOut(const Answer& kept) { return *static_cast<const T*>(kept.part.get()); }
};
template <typename T>
struct Kept<std::shared_ptr<T>> {
  static Answer Keep(std::shared_ptr<T> part) { return {std::move(part), {}}; }
  static bool IsSame(const Answer& kept, const std::shared_ptr<T>& part) { return kept.part == part; }
  static uint64_t Hash(const std::shared_ptr<T>& part) { return absl::HashOf(part.get()); }
  static std::shared_ptr<T> HandOut(const Answer& kept) { return std::static_pointer_cast<T>(kept.part); }
};
template <typename T>
  requires std::convertible_to<const T&, std::string_view>
struct Kept<T> {
  static Answer Keep(const T& text) { return {nullptr, Interned(text)}; }
  static bool IsSame(const Answer& kept, const T& text) { return kept.text == text; }
  static uint64_t Hash(const T& text) { return absl::HashOf(std::string_view(text)); }
  using Out = std::conditional_t<std::is_same_v<T, Interned>, Interned, const std::string&>;
  static Out HandOut(const Answer& kept) {
    if constexpr (std::is_same_v<T, Interned>)
      return kept.text;
    else
      return kept.text.str();
  }
};
template <>
struct Kept<std::optional<std::string_view>> {  // the text behind a mark
  using T = std::optional<std::string_view>;
  static Answer Keep(const T& text) {
    return {nullptr, text ? Interned("=" + std::string(*text)) : Interned()};
  }
  static bool IsSame(const Answer& kept, const T& text) { return HandOut(kept) == text; }
  static uint64_t Hash(const T& text) { return absl::HashOf(text); }
  static T HandOut(const Answer& kept) {
    return kept.text.empty() ? T() : std::string_view(kept.text).substr(1);
  }
};
template <>
struct Kept<bool> {
  static Answer Keep(bool yes) { return {nullptr, yes ? Interned("yes") : Interned()}; }
  static bool IsSame(const Answer& kept, bool yes) { return HandOut(kept) == yes; }
  static uint64_t Hash(bool yes) { return yes; }
  static bool HandOut(const Answer& kept) { return !kept.text.empty(); }
};

// What follows from the type of a row's Answer.
template <typename Function>
struct SignatureOf;
template <typename Result, typename Of, typename... Keys>
struct SignatureOf<Result (*)(const Of&, Keys...)> {
  using Kept = mesh::Kept<std::remove_cvref_t<Result>>;
  static constexpr bool kOfClient = std::is_same_v<Of, ProxyScope>;
  static constexpr bool kOfKind = (std::is_same_v<Keys, config::Kind> || ...);
  static constexpr bool kOfSettingsPart = (std::is_same_v<Keys, model::SettingsPart> || ...);
  static constexpr int kNames = (0 + ... + std::is_same_v<std::remove_cvref_t<Keys>, Interned>);
};
template <typename Row>
using Signature = SignatureOf<decltype(&Row::Answer)>;

// Calls function(key...) with the key as the row's Answer takes it.
template <typename Row, typename Function>
decltype(auto) CallWithKey(const Key& key, Function&& function) {
  using S = Signature<Row>;
  const auto with_names = [&](const auto&... sub) -> decltype(auto) {
    if constexpr (S::kNames == 2) return function(sub..., key.a, key.b);
    if constexpr (S::kNames == 1) return function(sub..., key.a);
    if constexpr (S::kNames == 0) return function(sub...);
  };
  if constexpr (S::kOfKind) return with_names(key.kind());
  if constexpr (S::kOfSettingsPart) return with_names(key.settings_part());
  if constexpr (!S::kOfKind && !S::kOfSettingsPart) return with_names();
}

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_QUESTION_H_
