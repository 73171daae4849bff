#include "cli/semihost.h"
#include "base/text.h"
#include "kernel/machine.h"
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace mc
{
namespace
{

enum : uint32_t {
    kOpen = 1,
    kClose,
    kWriteC,
    kWrite0,
    kWrite,
    kRead,
    kReadC,
    kIsError,
    kIsTty,
    kSeek,
    kFlen = 12,
    kTmpnam,
    kRemove,
    kRename,
    kClock,
    kTime,
    kSystem,
    kErrno,
    kGetCommand = 21,
    kHeapInfo,
    kExit = 24,
    kExitExtended = 32,
    kElapsed = 48,
    kTickFrequency
};

struct Call {
    Machine &m;
    Core &c;
    Semihost &s;
    uint32_t block = 0;

    uint32_t word(unsigned i)
    {
        uint8_t *p = bytes(block + 4 * i, 4);
        uint32_t v;
        std::memcpy(&v, p, 4);
        return v;
    }
    uint8_t *bytes(uint32_t address, uint32_t n)
    {
        uint8_t *p = m.at(address, n, c.cluster);
        if (!p)
            fault(c, text("semihosting: 0x%08x, %u bytes: no memory", address, n));
        return p;
    }
    std::string string(uint32_t address, uint32_t n)
    {
        return std::string(reinterpret_cast<char *>(bytes(address, n)), n);
    }
    uint32_t failed()
    {
        s.error = errno;
        return ~0u;
    }
    int file(uint32_t handle)
    {
        if (handle - 1 >= s.files.size() || s.files[handle - 1] < 0) {
            errno = EBADF;
            return -1;
        }
        return s.files[handle - 1];
    }
    uint32_t open_file()
    {
        std::string name = string(word(0), word(2));
        uint32_t mode = word(1);
        int fd;
        if (name == ":semihosting-features") { // exit with a status, and :tt for standard error
            static const char features[] = {'S', 'H', 'F', 'B', 3};
            fd = memfd_create("features", MFD_CLOEXEC);
            if (fd >= 0 && (::write(fd, features, sizeof features) != sizeof features || lseek(fd, 0, SEEK_SET) < 0)) {
                close(fd);
                fd = -1;
            }
        } else if (name == ":tt") {
            fd = mode < 4 ? 0 : mode < 8 ? 1 : 2;
        } else {
            static const int flags[6] = {O_RDONLY,
                                         O_RDWR,
                                         O_WRONLY | O_CREAT | O_TRUNC,
                                         O_RDWR | O_CREAT | O_TRUNC,
                                         O_WRONLY | O_CREAT | O_APPEND,
                                         O_RDWR | O_CREAT | O_APPEND};
            if (mode / 2 >= 6) {
                errno = EINVAL;
                return failed();
            }
            fd = open(name.c_str(), flags[mode / 2] | O_CLOEXEC, 0666);
        }
        if (fd < 0)
            return failed();
        s.files.push_back(fd);
        return uint32_t(s.files.size());
    }
    // Bytes that were NOT moved, as the interface wants it.
    uint32_t transfer(bool write)
    {
        int fd = file(word(0));
        uint32_t n = word(2);
        if (fd < 0)
            return s.error = EBADF, n;
        uint8_t *p = bytes(word(1), n);
        if (write && fd == 1) {
            s.put(p, n);
            return 0;
        }
        if (!write)
            s.flush();
        uint32_t done = 0;
        while (done < n) {
            ssize_t k = write ? ::write(fd, p + done, n - done) : ::read(fd, p + done, n - done);
            if (k < 0 && errno == EINTR)
                continue;
            if (k < 0)
                s.error = errno;
            if (k <= 0)
                break;
            done += uint32_t(k);
            if (!write)
                break;
        }
        if (!write)
            m.memory.stored(word(1), done);
        return n - done;
    }
    uint32_t run(uint32_t what)
    {
        switch (what) {
        case kOpen:
            return open_file();
        case kClose: {
            int fd = file(word(0));
            if (fd < 0)
                return failed();
            s.files[word(0) - 1] = -1;
            return fd > 2 && close(fd) ? failed() : 0;
        }
        case kWriteC:
            s.put(bytes(block, 1), 1);
            return 0;
        case kWrite0:
            for (uint32_t a = block;; a++) {
                uint8_t *p = bytes(a, 1);
                if (!*p)
                    return 0;
                s.put(p, 1);
            }
        case kWrite:
            return transfer(true);
        case kRead:
            return transfer(false);
        case kReadC: {
            s.flush();
            unsigned char ch;
            return ::read(0, &ch, 1) == 1 ? ch : ~0u;
        }
        case kIsError:
            return int32_t(word(0)) < 0;
        case kIsTty: {
            int fd = file(word(0));
            return fd < 0 ? failed() : uint32_t(isatty(fd));
        }
        case kSeek: {
            int fd = file(word(0));
            return fd < 0 || lseek(fd, word(1), SEEK_SET) < 0 ? failed() : 0;
        }
        case kFlen: {
            int fd = file(word(0));
            off_t here = fd < 0 ? -1 : lseek(fd, 0, SEEK_CUR), end = here < 0 ? -1 : lseek(fd, 0, SEEK_END);
            if (end < 0 || lseek(fd, here, SEEK_SET) < 0)
                return failed();
            return uint32_t(end);
        }
        case kRemove:
            return remove(string(word(0), word(1)).c_str()) ? failed() : 0;
        case kRename:
            return rename(string(word(0), word(1)).c_str(), string(word(2), word(3)).c_str()) ? failed() : 0;
        case kClock:
            return uint32_t(m.clock.now / 10000000); // a core of 1 GHz: hundredths of seconds
        case kTime:
            return uint32_t(time(nullptr));
        case kErrno:
            return uint32_t(s.error);
        case kGetCommand: {
            uint32_t room = word(1), n = uint32_t(m.arguments.size());
            if (n + 1 > room)
                return ~0u;
            std::memcpy(bytes(word(0), n + 1), m.arguments.c_str(), n + 1);
            std::memcpy(bytes(block + 4, 4), &n, 4);
            return 0;
        }
        case kHeapInfo: {
            uint32_t info[4] = {map::kMain + (1u << 20), uint32_t(map::kMain + m.config.memory_size - 65536), 0, 0};
            std::memcpy(bytes(word(0), 16), info, 16);
            return 0;
        }
        case kElapsed: {
            uint64_t t = m.clock.now;
            std::memcpy(bytes(block, 8), &t, 8);
            return 0;
        }
        case kTickFrequency:
            return 1000000000;
        case kExit:
            throw Exit{block == 0x20026 ? 0 : 1};
        case kExitExtended:
            throw Exit{word(0) == 0x20026 ? int(word(1) & 255) : 1};
        default:
            fault(c, text("semihosting: no operation 0x%x", what));
        }
    }
};

} // namespace

void Semihost::put(const uint8_t *p, size_t n)
{
    out.append(reinterpret_cast<const char *>(p), n);
    if (out.size() >= 4096 || (n && p[n - 1] == '\n'))
        flush();
}

void Semihost::flush()
{
    fwrite(out.data(), 1, out.size(), stdout);
    fflush(stdout);
    out.clear();
}

void Semihost::archive(Writer &a)
{
    flush();
    for (int fd : files)
        if (fd > 2)
            throw CheckpointError("the program has a file open in this cycle");
    a(files, error);
}

void Semihost::archive(Reader &a)
{
    a(files, error);
    for (int fd : files)
        if (fd < -1 || fd > 2)
            throw CheckpointError("it has a file open");
}

bool Semihost::call(Machine &m, Core &c)
{
    uint32_t pc = m.pc(c);
    auto is = [&](uint32_t at, uint32_t bits) {
        uint8_t *p = m.at(at, 4, 0);
        uint32_t v = 0;
        if (p)
            std::memcpy(&v, p, 4);
        return p && v == bits;
    };
    if (!is(pc - 4, 0x01f01013) || !is(pc + 4, 0x40705013))
        return false;
    Call call{m, c, *this, c.x[11]};
    c.x[10] = call.run(c.x[10]);
    return true;
}

} // namespace mc
