// SPDX-License-Identifier: BSD-3-Clause
#include "base/json.hpp"

#include <charconv>
#include <cstddef>

#include "base/error.hpp"

namespace op2 {
namespace {

constexpr int most_json_depth = 64;

[[noreturn]] void refuse_json() {
  throw UsageError("it is cut short, or no file of this kind");
}

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  Json whole() {
    Json found = value(0);
    if (at_ != text_.size()) refuse_json();
    return found;
  }

 private:
  [[nodiscard]] char peek() const {
    if (at_ >= text_.size()) refuse_json();
    return text_[at_];
  }

  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }

  Json value(int depth) {
    if (depth > most_json_depth) refuse_json();
    Json found;
    const std::size_t begin = at_;
    if (peek() == '"') {
      found.string = string();
    } else if (take('{')) {
      for (bool more = !take('}'); more; more = !take('}')) {
        if (!found.members.empty() && !take(',')) refuse_json();
        std::string name = string();
        if (!take(':')) refuse_json();
        found.members.emplace_back(std::move(name), value(depth + 1));
      }
    } else if (take('[')) {
      for (bool more = !take(']'); more; more = !take(']')) {
        if (!found.items.empty() && !take(',')) refuse_json();
        found.items.push_back(value(depth + 1));
      }
    } else {
      while (at_ < text_.size() && std::string_view(",]}").find(text_[at_]) == text_.npos) ++at_;
      if (at_ == begin) refuse_json();
    }
    found.text = text_.substr(begin, at_ - begin);
    return found;
  }

  std::string string() {
    if (!take('"')) refuse_json();
    std::string out;
    while (!take('"')) {
      char next = text_[at_++];
      if (next == '\\') {
        next = peek();
        ++at_;
        if (next == 'u') {
          add_utf8(out, code());
          continue;
        }
        constexpr std::string_view names = "bfnrt";
        constexpr std::string_view characters = "\b\f\n\r\t";
        const std::size_t which = names.find(next);
        if (which != names.npos) next = characters[which];
      }
      out += next;
    }
    return out;
  }

  unsigned code() {
    constexpr std::size_t n_digits = 4;
    constexpr int base = 16;
    unsigned found = 0;
    const std::string_view digits = text_.substr(at_, n_digits);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), found, base);
    if (error != std::errc() || end != digits.data() + n_digits) refuse_json();
    at_ += n_digits;
    return found;
  }

  /// A pair of surrogates becomes two characters: names are compared with each other only.
  static void add_utf8(std::string& out, unsigned code) {
    constexpr unsigned one_byte = 0x80;
    constexpr unsigned two_bytes = 0x800;
    constexpr unsigned low = 0x3F;
    if (code < one_byte) {
      out += static_cast<char>(code);
    } else if (code < two_bytes) {
      out += static_cast<char>(0xC0 | code >> 6);
      out += static_cast<char>(one_byte | (code & low));
    } else {
      out += static_cast<char>(0xE0 | code >> 12);
      out += static_cast<char>(one_byte | (code >> 6 & low));
      out += static_cast<char>(one_byte | (code & low));
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

const Json& Json::at(std::string_view name) const {
  for (const auto& [known, value] : members) {
    if (known == name) return value;
  }
  refuse_json();
}

double Json::number() const {
  double found = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
  if (error == std::errc() && end == text.data() + text.size()) return found;
  refuse_json();
}

std::string without_blanks(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char one = text[i];
    if (in_string && one == '\\' && i + 1 < text.size()) {
      out += one;
      out += text[++i];
      continue;
    }
    if (one == '"') in_string = !in_string;
    const bool is_blank = one == ' ' || one == '\n' || one == '\t' || one == '\r';
    if (in_string || !is_blank) out += one;
  }
  return out;
}

Json read_json(std::string_view compact) {
  return JsonReader(compact).whole();
}

}  // namespace op2
