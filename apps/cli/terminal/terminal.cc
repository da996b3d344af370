#include "cli/terminal/terminal.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "cli/terminal/hint_text.h"

namespace dolium::cli {
namespace {

constexpr size_t kBufferBytes = size_t{64} << 10;
constexpr auto kBarInterval = std::chrono::milliseconds(100);
constexpr auto kLineInterval = std::chrono::seconds(1);  // where a bar cannot be redrawn
constexpr size_t kDefaultColumns = 80;
constexpr std::string_view kClearLine = "\r\x1b[K";

// Returns 0 or an errno.
int WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd writable{.fd = fd, .events = POLLOUT, .revents = 0};
      poll(&writable, 1, /*timeout=*/-1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

size_t ColumnsOf(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return kDefaultColumns;
  return size_t{size.ws_col} - 1;  // The last column makes some terminals wrap.
}

// With what would control a terminal shown as \xNN: C0, DEL, and C1 in UTF-8.
std::string Escaped(std::string_view text) {
  std::string shown;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next =
        i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : uint8_t{0};
    if (byte == 0xc2 && next >= 0x80 && next <= 0x9f) {
      shown += fmt::format("\\x{:02x}\\x{:02x}", byte, next);
      ++i;
    } else if ((byte < 0x20 && byte != '\t') || byte == 0x7f) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += text[i];
    }
  }
  return shown;
}

}  // namespace

Terminal::Terminal(int out, int error)
    : out_(out),
      error_(error),
      out_is_terminal_(isatty(out) == 1),
      error_is_terminal_(isatty(error) == 1) {}

Terminal::~Terminal() {
  const std::scoped_lock lock(mutex_);
  ClearBar();
  FlushOut();
}

void Terminal::Line(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  if (lines_to_error_) {
    WriteError((error_is_terminal_ ? Escaped(text) : std::string(text)) + "\n");
    return;
  }
  if (out_is_terminal_) {
    AppendOut(Escaped(text));
  } else {
    AppendOut(text);
  }
  AppendOut("\n");
  if (out_is_terminal_) FlushOut();
}

void Terminal::JsonLine(std::string_view type, const Json& members) {
  Line(ToLine(TypedLine(type, members)));
}

void Terminal::Raw(BytesView bytes) {
  const std::scoped_lock lock(mutex_);
  AppendOut(AsText(bytes));
}

std::string Terminal::AsCalled(std::string text) const {
  if (is_for_.empty()) return text;
  // "pack create: ..." is "create: ..." for `shardpack`.
  const std::string group = is_for_.substr(is_for_.find(' ') + 1) + ' ';
  if (text.starts_with(group)) text.erase(0, group.size());
  for (size_t at = text.find(is_for_); at != std::string::npos;
       at = text.find(is_for_, at + program_.size())) {
    text.replace(at, is_for_.size(), program_);
  }
  return text;
}

void Terminal::Report(const Error& error, const Json& details) {
  std::string line;
  if (json_) {
    Json json = TypedLine(
        "error", {{"code", ErrorCodeName(error.code)},
                  {"message", AsCalled(WithHintText(error.message, error.hint))}});
    for (const auto& [name, value] : details.items()) {
      if (!json.contains(name)) json[name] = value;
    }
    line = ToLine(json) + "\n";
  } else {
    const std::string message = AsCalled(WithHintText(error.message, error.hint));
    line = fmt::format("{}: {}\n", program_,
                       error_is_terminal_ ? Escaped(message) : message);
  }
  const std::scoped_lock lock(mutex_);
  FlushOut();  // Keeps the order where both go to one place.
  WriteError(line);
}

ProgressFunction Terminal::StartProgress(std::string label) {
  EndProgress();
  const bool wanted = progress_when_ == ProgressWhen::kAlways ||
                      (progress_when_ == ProgressWhen::kAuto && error_is_terminal_);
  if (!wanted) return {};
  const std::scoped_lock lock(mutex_);
  meter_.emplace(std::move(label),
                 error_is_terminal_ ? ProgressMeter::Clock::duration(kBarInterval)
                                    : ProgressMeter::Clock::duration(kLineInterval),
                 ProgressMeter::Clock::now());
  return [this](const Progress& progress) { ShowProgress(progress); };
}

void Terminal::EndProgress() {
  const std::scoped_lock lock(mutex_);
  ClearBar();
  meter_.reset();
}

void Terminal::ShowProgress(const Progress& progress) {
  const std::scoped_lock lock(mutex_);
  if (!meter_) return;
  const size_t width = error_is_terminal_ ? ColumnsOf(error_) : kDefaultColumns * 2;
  const auto line = meter_->Update(progress, ProgressMeter::Clock::now(), width);
  if (!line) return;
  if (error_is_terminal_) {
    WriteAll(error_, fmt::format("{}{}", kClearLine, *line));
    bar_shown_ = true;
  } else {
    WriteAll(error_, *line + "\n");
  }
}

bool Terminal::ok() const {
  const std::scoped_lock lock(mutex_);
  return write_errno_ == 0;
}

bool Terminal::reader_gone() const {
  const std::scoped_lock lock(mutex_);
  return write_errno_ == EPIPE;
}

Result<void> Terminal::Flush() {
  const std::scoped_lock lock(mutex_);
  FlushOut();
  if (write_errno_ != 0) return SystemError(write_errno_, "write to standard output");
  return {};
}

void Terminal::AppendOut(std::string_view text) {
  if (buffer_.size() + text.size() > kBufferBytes) FlushOut();
  if (text.size() > kBufferBytes) {
    if (write_errno_ == 0) write_errno_ = WriteAll(out_, text);
    return;
  }
  buffer_ += text;
}

void Terminal::FlushOut() {
  if (buffer_.empty()) return;
  if (out_is_terminal_) ClearBar();
  if (write_errno_ == 0) write_errno_ = WriteAll(out_, buffer_);
  buffer_.clear();
}

void Terminal::WriteError(std::string_view text) {
  ClearBar();
  WriteAll(error_, text);
}

void Terminal::ClearBar() {
  if (!bar_shown_) return;
  WriteAll(error_, kClearLine);
  bar_shown_ = false;
}

}  // namespace dolium::cli
