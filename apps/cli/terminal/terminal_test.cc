#include "cli/terminal/terminal.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

namespace dolium::cli {
namespace {

// A pipe whose content can be read once the writer is done.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe2(ends_, O_CLOEXEC | O_NONBLOCK), 0); }
  ~Pipe() {
    CloseReader();
    close(ends_[1]);
  }
  int writer() const { return ends_[1]; }
  void CloseReader() {
    if (ends_[0] >= 0) close(ends_[0]);
    ends_[0] = -1;
  }
  std::string Read() const {
    std::string text(1 << 16, '\0');
    const ssize_t count = read(ends_[0], text.data(), text.size());
    text.resize(count > 0 ? static_cast<size_t>(count) : 0);
    return text;
  }

 private:
  int ends_[2];
};

TEST(Terminal, KeepsResultsAndErrorsApart) {
  Pipe out;
  Pipe error;
  Terminal terminal(out.writer(), error.writer());
  terminal.Line("a result");
  terminal.Report(Corrupt("x.shard: too short"));
  ASSERT_TRUE(terminal.Flush());
  EXPECT_EQ(out.Read(), "a result\n");
  EXPECT_EQ(error.Read(), "dolium: x.shard: too short\n");
}

TEST(Terminal, ReportsErrorsAsObjectsWithJson) {
  Pipe out;
  Pipe error;
  Terminal terminal(out.writer(), error.writer());
  terminal.set_json(true);
  terminal.Report(NotFound("no entry"), {{"key", "7"}, {"message", "not this one"}});
  EXPECT_EQ(error.Read(),
            "{\"type\":\"error\",\"schema\":1,\"code\":\"not_found\",\"message\":\"no "
            "entry\",\"key\":\"7\"}\n");
}

TEST(Terminal, ShowsControlCharactersOfNames) {
  int master = -1;
  int slave = -1;
  ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
  {
    Terminal terminal(slave, slave);
    terminal.Line("a\x1b[2Jb\x7f\xc2\x9b\tc\u00e9");
    terminal.Report(Corrupt("x\ry"));
  }
  close(slave);
  std::string text;  // A terminal gives line by line.
  char part[256];
  for (ssize_t count; (count = read(master, part, sizeof part)) > 0;) {
    text.append(part, static_cast<size_t>(count));
  }
  close(master);
  EXPECT_EQ(text, "a\\x1b[2Jb\\x7f\\xc2\\x9b\tc\u00e9\r\ndolium: x\\x0dy\r\n");
}

TEST(Terminal, LeavesNamesToPipesAsTheyAre) {
  Pipe out;
  Pipe error;
  Terminal terminal(out.writer(), error.writer());
  terminal.Line("a\x1b[2J");
  ASSERT_TRUE(terminal.Flush());
  EXPECT_EQ(out.Read(), "a\x1b[2J\n");
}

TEST(Terminal, ShowsNoProgressInAFileUnlessAsked) {
  Pipe out;
  Pipe error;
  Terminal terminal(out.writer(), error.writer());
  EXPECT_FALSE(terminal.StartProgress("verify"));
  terminal.set_progress(Terminal::ProgressWhen::kNever);
  EXPECT_FALSE(terminal.StartProgress("verify"));
  terminal.set_progress(Terminal::ProgressWhen::kAlways);
  EXPECT_TRUE(terminal.StartProgress("verify"));
}

TEST(Terminal, NoticesThatItsReaderIsGone) {
  signal(SIGPIPE, SIG_IGN);
  Pipe out;
  Pipe error;
  Terminal terminal(out.writer(), error.writer());
  out.CloseReader();
  EXPECT_TRUE(terminal.ok());
  terminal.Line("a result");
  EXPECT_FALSE(terminal.Flush());
  EXPECT_FALSE(terminal.ok());
  EXPECT_TRUE(terminal.reader_gone());
}

}  // namespace
}  // namespace dolium::cli
