// SPDX-License-Identifier: Apache-2.0
// The writer of Chrome's trace format ("Trace Event Format", JSON object form).
#include "pending_file.hpp"

#include <hal/error.hpp>
#include <hal/log.hpp>
#include <hal/trace.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace hal::trace {
namespace {

/// Bytes of the valid UTF-8 character at the start of `text`, which is not empty; 0: there is none.
std::size_t character_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // Excludes overlong forms, surrogates and what lies beyond U+10FFFF.
  const unsigned lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < lowest || byte(1) > highest) return 0;
  for (std::size_t at = 2; at < length; ++at) {
    if ((byte(at) & 0xC0U) != 0x80U) return 0;
  }
  return length;
}

/// Appends `text` as a JSON string; bytes that are no UTF-8 become U+FFFD.
void append_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const char first = text.front();
    if (length == 0) {
      out += "\\ufffd";
    } else if (first == '"' || first == '\\') {
      out += '\\';
      out += first;
    } else if (static_cast<unsigned char>(first) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(first));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

/// A row of the viewer: a stream, or a thread that calls.
struct Row {
  int process = 0;
  std::uint64_t id = 0;
  auto operator<=>(const Row&) const = default;
};

constexpr int calls_process = 1;

bool on_calling_thread(Kind kind) noexcept {
  return kind == Kind::synchronize || kind == Kind::allocate || kind == Kind::release;
}

std::string row_name(const Span& span, std::uint64_t id) {
  if (!on_calling_thread(span.kind)) return fmt::format("stream {}", id);
  return id == static_cast<std::uint64_t>(::getpid()) ? "main thread"
                                                      : fmt::format("thread {}", id);
}

/// "process_name" or "thread_name": what the viewer shows beside a row.
void append_label(std::string& out, std::string_view what, Row row, std::string_view label) {
  fmt::format_to(std::back_inserter(out),
                 R"({{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{"name":)", what, row.process,
                 row.id);
  append_string(out, label);
  out += "}}";
}

void append_arguments(std::string& out, const Span& span) {
  const auto to = std::back_inserter(out);
  out += R"("args":{"device":)";
  append_string(out, span.device);
  if (span.stream != 0) fmt::format_to(to, R"(,"stream":{})", span.stream);
  if (span.sequence != 0) fmt::format_to(to, R"(,"sequence":{})", span.sequence);
  if (span.bytes != 0) fmt::format_to(to, R"(,"bytes":{})", span.bytes);
  if (!span.file.empty()) {
    out += R"(,"source":)";
    append_string(out, fmt::format("{}:{}", span.file, span.line));
  }
  out += '}';
}

void append_event(std::string& out, const Span& span, Row row) {
  const std::uint64_t length_ns = span.end_ns > span.begin_ns ? span.end_ns - span.begin_ns : 0;
  out += R"({"name":)";
  append_string(out, span.name.empty() ? name(span.kind) : span.name);
  fmt::format_to(std::back_inserter(out),
                 R"(,"cat":"{}","ph":"X","ts":{}.{:03},"dur":{}.{:03},"pid":{},"tid":{},)",
                 name(span.kind), span.begin_ns / 1000, span.begin_ns % 1000, length_ns / 1000,
                 length_ns % 1000, row.process, row.id);
  append_arguments(out, span);
  out += '}';
}

constexpr std::string_view separator = ",\n";

}  // namespace

struct ChromeTraceWriter::Impl {
  explicit Impl(const std::string& path) : file(path, "trace::ChromeTraceWriter") {
    text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
    append_label(text, "process_name", {calls_process, 0}, "calls");
    file.append(text);
    subscription = subscribe([this](const Span& span) { write(span); });
  }

  void write(const Span& span) {
    const std::lock_guard lock(mutex);
    text.clear();
    const Row row = row_of(span);
    text += separator;
    append_event(text, span, row);
    file.append(text);
  }

  /// The span's row; labels it and its process in `text` the first time.
  Row row_of(const Span& span) {
    const bool call = on_calling_thread(span.kind);
    const Row row{call ? calls_process : process_of(span.device),
                  call ? static_cast<std::uint64_t>(::gettid()) : span.stream};
    if (rows.insert(row).second) {
      text += separator;
      append_label(text, "thread_name", row, row_name(span, row.id));
    }
    return row;
  }

  int process_of(std::string_view device) {
    if (const auto known = processes.find(device); known != processes.end()) return known->second;
    const int process = calls_process + 1 + static_cast<int>(processes.size());
    processes.emplace(device, process);
    text += separator;
    append_label(text, "process_name", {process, 0}, device);
    return process;
  }

  void finish() {
    subscription = {};
    file.append("\n]}\n");
    file.commit();
  }

  std::mutex mutex;
  spi::PendingFile file;
  std::string text;  ///< what is being written
  std::map<std::string, int, std::less<>> processes;
  std::set<Row> rows;
  Subscription subscription;
};

ChromeTraceWriter::ChromeTraceWriter(const std::string& path)
    : impl_(std::make_unique<Impl>(path)) {}

ChromeTraceWriter::~ChromeTraceWriter() {
  try {
    close();
  } catch (const std::exception& exception) {
    log::write(log::Level::error, exception.what());
  }
}

void ChromeTraceWriter::close() {
  if (impl_ == nullptr) return;
  if (impl_->file.in_forked_child()) {
    // The file is the parent's, and threads that do not exist here may hold the subscription: leave
    // both alone, unreleased.
    [[maybe_unused]] auto* left = impl_.release();
    return;
  }
  const std::unique_ptr<Impl> ended = std::move(impl_);
  ended->finish();
}

}  // namespace hal::trace
