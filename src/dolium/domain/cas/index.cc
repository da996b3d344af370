#include "dolium/domain/cas/index.h"

#include <fcntl.h>
#include <lmdb.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/domain/cas/files.h"

namespace dolium::cas {
namespace {

// Addresses, not bytes on disk: enough for about 10^9 chunks.
constexpr size_t kMapSize = size_t{64} << 30;
constexpr unsigned kReaders = 1024;
// A cache line for each reader, and a few for the header.
constexpr off_t kLocksSize = off_t{kReaders + 16} * 64;

using Identity = std::pair<dev_t, ino_t>;

// LMDB must not be opened twice by one process: its locks would be lost.
struct Opened {
  std::mutex mutex;
  std::map<Identity, std::weak_ptr<Index>> all;
};
Opened& OpenedIndexes() {
  static Opened* const opened = new Opened;
  return *opened;
}

MDB_val ValueOf(const void* data, size_t size) { return {size, const_cast<void*>(data)}; }

template <size_t kCount>
struct Row {
  std::byte bytes[4 * kCount];

  explicit Row(std::array<uint32_t, kCount> numbers) {
    for (size_t i = 0; i < kCount; ++i) StoreLE(bytes + 4 * i, numbers[i]);
  }
  MDB_val value() const { return ValueOf(bytes, sizeof bytes); }
};

// The number of the next shard is kept beside the names, under a hash that no shard has.
int NextNumber(MDB_txn* transaction, unsigned numbers, uint32_t& number) {
  const xet::Hash zero;
  MDB_val key = ValueOf(zero.bytes.data(), xet::Hash::kSize);
  MDB_val value;
  number = 1;
  int status = mdb_get(transaction, numbers, &key, &value);
  if (status == MDB_SUCCESS && value.mv_size == 4) {
    number = LoadLE<uint32_t>(static_cast<const std::byte*>(value.mv_data));
  } else if (status != MDB_NOTFOUND) {
    return status == MDB_SUCCESS ? MDB_CORRUPTED : status;
  }
  const Row<1> next({number + 1});
  value = next.value();
  return mdb_put(transaction, numbers, &key, &value, 0);
}

struct KeyedRow {
  uint64_t key;
  uint32_t block;
  uint32_t chunk;
};

// All rows that a shard gives, in order of their keys: the tree is then walked once.
struct ShardRows {
  std::vector<KeyedRow> chunks;
  std::vector<KeyedRow> files;
};

Result<ShardRows> RowsOf(const xet::ShardView& shard) {
  ShardRows rows;
  const auto record_of = [](BytesView section, BytesView block) {
    return static_cast<uint32_t>(static_cast<uint64_t>(block.data() - section.data()) /
                                 xet::kRecordSize);
  };
  xet::FileCursor files = shard.files();
  while (true) {
    DOLIUM_TRY(const auto file, files.Next());
    if (!file) break;
    rows.files.push_back(
        {file->hash().truncated(), record_of(shard.file_section(), file->bytes()), 0});
  }
  xet::XorbCursor xorbs = shard.xorbs();
  while (true) {
    DOLIUM_TRY(const auto xorb, xorbs.Next());
    if (!xorb) break;
    const uint32_t block = record_of(shard.xorb_section(), xorb->bytes());
    for (size_t i = 0; i < xorb->size(); ++i) {
      rows.chunks.push_back(
          {xorb->chunk_hash(i).truncated(), block, static_cast<uint32_t>(i)});
    }
  }
  const auto by_key = [](const KeyedRow& a, const KeyedRow& b) { return a.key < b.key; };
  std::stable_sort(rows.files.begin(), rows.files.end(), by_key);
  std::stable_sort(rows.chunks.begin(), rows.chunks.end(), by_key);
  return rows;
}

int PutRows(MDB_txn* transaction, unsigned table, const std::vector<KeyedRow>& rows,
            uint32_t number, bool has_chunk) {
  for (const KeyedRow& row : rows) {
    MDB_val key = ValueOf(&row.key, sizeof row.key);
    const Row<3> with_chunk({number, row.block, row.chunk});
    MDB_val value = with_chunk.value();
    if (!has_chunk) value.mv_size = 8;
    if (const int status = mdb_put(transaction, table, &key, &value, 0); status != 0) {
      return status;
    }
  }
  return MDB_SUCCESS;
}

int RemoveRows(MDB_txn* transaction, unsigned table, const std::vector<KeyedRow>& rows,
               uint32_t number) {
  for (const KeyedRow& row : rows) {
    MDB_val key = ValueOf(&row.key, sizeof row.key);
    MDB_val value;
    const int status = mdb_get(transaction, table, &key, &value);
    if (status == MDB_NOTFOUND) continue;
    if (status != MDB_SUCCESS) return status;
    if (value.mv_size < 4 ||
        LoadLE<uint32_t>(static_cast<const std::byte*>(value.mv_data)) != number) {
      continue;
    }
    if (const int gone = mdb_del(transaction, table, &key, nullptr); gone != 0) {
      return gone;
    }
  }
  return MDB_SUCCESS;
}

}  // namespace

Error Index::Failure(int status, const char* action) const {
  std::string message = fmt::format("{}: {}: {}; the index is a cache", folder_, action,
                                    mdb_strerror(status));
  switch (status) {
    case MDB_CORRUPTED:
    case MDB_INVALID:
    case MDB_PAGE_NOTFOUND:
    case MDB_VERSION_MISMATCH:
    case MDB_INCOMPATIBLE:
    case MDB_BAD_TXN:
    case MDB_BAD_DBI:
    case MDB_BAD_VALSIZE:
    case MDB_CURSOR_FULL:
    case MDB_PAGE_FULL:
      return Corrupt(std::move(message))
          .WithKind(kDamagedIndex)
          .WithHint(Hint::kRebuildIndex);
    default:
      return IoError(std::move(message)).WithHint(Hint::kRebuildIndex);
  }
}

// LMDB maps what its header speaks of: touching a page behind the end of the file would
// end the process.
Result<void> Index::CheckSize() const {
  const uint64_t expected = size();
  int fd = -1;
  struct stat status{};
  if (mdb_env_get_fd(environment_, &fd) != MDB_SUCCESS || fstat(fd, &status) != 0) {
    return Failure(MDB_INVALID, "cannot look");
  }
  if (static_cast<uint64_t>(status.st_size) >= expected) return {};
  return Failure(MDB_CORRUPTED, "its file is too short");
}

namespace {

// LMDB maps the file of its locks when it has set its size: on a full disk, touching what
// is not there yet would end the process. Not while this process has the index open.
Result<void> ReserveLocks(const std::string& folder) {
  const std::string path = folder + "/lock.mdb";
  const UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd) return SystemError(errno, "cannot make").Within(path);
  struct stat status{};
  if (fstat(fd.get(), &status) == 0 && status.st_blocks * 512 >= kLocksSize) return {};
  if (const int error = posix_fallocate(fd.get(), 0, kLocksSize); error != 0) {
    return SystemError(error, "cannot reserve space").Within(path);
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<Index>> Index::Open(const std::string& folder) {
  Opened& opened = OpenedIndexes();
  const std::lock_guard hold(opened.mutex);
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
    return SystemError(errno, "cannot make the folder").Within(folder);
  }
  DOLIUM_TRY(const auto status, StatusOf(folder));
  if (!status) return NotFound(fmt::format("{}: is gone", folder));
  const Identity identity(status->st_dev, status->st_ino);
  if (auto there = opened.all[identity].lock()) return there;
  DOLIUM_TRY_VOID(ReserveLocks(folder));
  const std::shared_ptr<Index> index(new Index);
  index->folder_ = folder;
  if (const int made = mdb_env_create(&index->environment_); made != MDB_SUCCESS) {
    return index->Failure(made, "cannot make an environment");
  }
  mdb_env_set_maxdbs(index->environment_, 8);
  mdb_env_set_maxreaders(index->environment_, kReaders);
  mdb_env_set_mapsize(index->environment_, kMapSize);
  const int open = mdb_env_open(index->environment_, folder.c_str(),
                                MDB_NOTLS | MDB_NORDAHEAD | MDB_NOMETASYNC, 0666);
  if (open != MDB_SUCCESS) return index->Failure(open, "cannot open");
  DOLIUM_TRY_VOID(index->CheckSize());
  int dead = 0;
  mdb_reader_check(index->environment_, &dead);
  DOLIUM_TRY_VOID(index->OpenTables());
  opened.all[identity] = index;
  return index;
}

Index::~Index() {
  if (environment_ != nullptr) mdb_env_close(environment_);
}

Result<void> Index::OpenTables() {
  return Change([&](MDB_txn* transaction) {
    int status = mdb_dbi_open(transaction, "shards", MDB_CREATE, &shards_);
    if (status == 0) status = mdb_dbi_open(transaction, "numbers", MDB_CREATE, &numbers_);
    constexpr unsigned kByNumber = MDB_CREATE | MDB_INTEGERKEY;
    if (status == 0) status = mdb_dbi_open(transaction, "chunks", kByNumber, &chunks_);
    if (status == 0) status = mdb_dbi_open(transaction, "files", kByNumber, &files_);
    return status;
  });
}

Result<void> Index::Change(const std::function<int(MDB_txn*)>& change) {
  MDB_txn* transaction = nullptr;
  int status = mdb_txn_begin(environment_, nullptr, 0, &transaction);
  if (status != MDB_SUCCESS) return Failure(status, "cannot begin a change");
  status = change(transaction);
  if (status != MDB_SUCCESS) {
    mdb_txn_abort(transaction);
    return Failure(status, "cannot change");
  }
  status = mdb_txn_commit(transaction);
  if (status != MDB_SUCCESS) return Failure(status, "cannot keep a change");
  return {};
}

Result<std::map<xet::Hash, uint32_t>> Index::Shards() const {
  DOLIUM_TRY(const View view, Snapshot());
  std::map<xet::Hash, uint32_t> shards;
  MDB_cursor* cursor = nullptr;
  int status = mdb_cursor_open(view.transaction_, numbers_, &cursor);
  if (status != MDB_SUCCESS) return Failure(status, "cannot read");
  MDB_val key;
  MDB_val value;
  while ((status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == MDB_SUCCESS) {
    if (key.mv_size != xet::Hash::kSize || value.mv_size != 4) continue;
    const auto hash = xet::Hash::Load(static_cast<const std::byte*>(key.mv_data));
    if (hash.is_zero()) continue;
    shards[hash] = LoadLE<uint32_t>(static_cast<const std::byte*>(value.mv_data));
  }
  mdb_cursor_close(cursor);
  if (status != MDB_NOTFOUND) return Failure(status, "cannot read");
  return shards;
}

Result<void> Index::Add(const xet::Hash& name, const xet::ShardView& shard) {
  DOLIUM_TRY(const ShardRows rows, RowsOf(shard));
  return Change([&](MDB_txn* transaction) {
    MDB_val key = ValueOf(name.bytes.data(), xet::Hash::kSize);
    MDB_val value;
    int status = mdb_get(transaction, numbers_, &key, &value);
    if (status != MDB_NOTFOUND) return status;
    uint32_t number = 0;
    status = NextNumber(transaction, numbers_, number);
    if (status == MDB_SUCCESS) {
      const Row<1> row({number});
      value = row.value();
      status = mdb_put(transaction, numbers_, &key, &value, 0);
      MDB_val number_key = row.value();
      MDB_val name_value = ValueOf(name.bytes.data(), xet::Hash::kSize);
      if (status == MDB_SUCCESS) {
        status = mdb_put(transaction, shards_, &number_key, &name_value, 0);
      }
    }
    if (status == MDB_SUCCESS) {
      status = PutRows(transaction, files_, rows.files, number, false);
    }
    if (status == MDB_SUCCESS) {
      status = PutRows(transaction, chunks_, rows.chunks, number, true);
    }
    return status;
  });
}

Result<void> Index::Remove(const xet::Hash& name, const xet::ShardView* shard) {
  ShardRows rows;
  if (shard != nullptr) {
    DOLIUM_TRY(rows, RowsOf(*shard));
  }
  return Change([&](MDB_txn* transaction) {
    MDB_val key = ValueOf(name.bytes.data(), xet::Hash::kSize);
    MDB_val value;
    int status = mdb_get(transaction, numbers_, &key, &value);
    if (status == MDB_NOTFOUND) return MDB_SUCCESS;
    if (status != MDB_SUCCESS) return status;
    if (value.mv_size != 4) return MDB_CORRUPTED;
    const uint32_t number =
        LoadLE<uint32_t>(static_cast<const std::byte*>(value.mv_data));
    status = mdb_del(transaction, numbers_, &key, nullptr);
    if (status == MDB_SUCCESS) {
      const Row<1> row({number});
      MDB_val number_key = row.value();
      status = mdb_del(transaction, shards_, &number_key, nullptr);
    }
    if (status == MDB_SUCCESS) {
      status = RemoveRows(transaction, files_, rows.files, number);
    }
    if (status == MDB_SUCCESS) {
      status = RemoveRows(transaction, chunks_, rows.chunks, number);
    }
    return status;
  });
}

Result<Index::View> Index::Snapshot() const {
  MDB_txn* transaction = nullptr;
  const int status = mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &transaction);
  if (status != MDB_SUCCESS) return Failure(status, "cannot begin to read");
  return View(this, transaction);
}

uint64_t Index::size() const {
  MDB_envinfo info{};
  MDB_stat stat{};
  if (mdb_env_info(environment_, &info) != 0 || mdb_env_stat(environment_, &stat) != 0) {
    return 0;
  }
  return (static_cast<uint64_t>(info.me_last_pgno) + 1) * stat.ms_psize;
}

Index::View::~View() {
  if (transaction_ != nullptr) mdb_txn_abort(transaction_);
}
Index::View::View(View&& other) noexcept
    : index_(other.index_), transaction_(std::exchange(other.transaction_, nullptr)) {}

std::optional<ChunkRow> Index::View::FindChunk(const xet::Hash& hash) const {
  const uint64_t number = hash.truncated();
  MDB_val key = ValueOf(&number, sizeof number);
  MDB_val value;
  if (mdb_get(transaction_, index_->chunks_, &key, &value) != MDB_SUCCESS ||
      value.mv_size != 12) {
    return std::nullopt;
  }
  const auto* at = static_cast<const std::byte*>(value.mv_data);
  return ChunkRow{LoadLE<uint32_t>(at), LoadLE<uint32_t>(at + 4),
                  LoadLE<uint32_t>(at + 8)};
}

std::optional<FileRow> Index::View::FindFile(const xet::Hash& hash) const {
  const uint64_t number = hash.truncated();
  MDB_val key = ValueOf(&number, sizeof number);
  MDB_val value;
  if (mdb_get(transaction_, index_->files_, &key, &value) != MDB_SUCCESS ||
      value.mv_size != 8) {
    return std::nullopt;
  }
  const auto* at = static_cast<const std::byte*>(value.mv_data);
  return FileRow{LoadLE<uint32_t>(at), LoadLE<uint32_t>(at + 4)};
}

std::optional<xet::Hash> Index::View::ShardName(uint32_t number) const {
  const Row<1> row({number});
  MDB_val key = row.value();
  MDB_val value;
  if (mdb_get(transaction_, index_->shards_, &key, &value) != MDB_SUCCESS ||
      value.mv_size != xet::Hash::kSize) {
    return std::nullopt;
  }
  return xet::Hash::Load(static_cast<const std::byte*>(value.mv_data));
}

}  // namespace dolium::cas
