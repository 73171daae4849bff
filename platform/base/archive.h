// Fields to bytes and back, for checkpoints. Each part of the machine has one function archive(), which names its
// fields; the same function writes them and reads them. Numbers are stored as the host has them (little-endian).
#pragma once
#include <cstdint>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace mc
{

// What a checkpoint's file, or the run that should be written into one, does not allow: one line.
struct CheckpointError : std::runtime_error {
    using runtime_error::runtime_error;
};

// A Writer or a Reader: `Self` has bytes(void *, size_t).
template <class Self> class Archive
{
  public:
    template <class... T> void operator()(T &...fields) { (field(fields), ...); }

  protected:
    static constexpr size_t kPage = 4096;
    static constexpr uint32_t kLastPage = ~0u;
    static bool zero(const uint8_t *page) { return page[0] == 0 && std::memcmp(page, page + 1, kPage - 1) == 0; }

  private:
    void bytes(void *p, size_t n) { static_cast<Self *>(this)->bytes(p, n); }
    template <class T> void field(T &v)
    {
        if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
            bytes(&v, sizeof v);
        else
            v.archive(static_cast<Self &>(*this));
    }
    template <class T, size_t n> void field(T (&v)[n])
    {
        for (T &e : v)
            field(e);
    }
    template <class T> void field(std::vector<T> &v) { list(v); }
    template <class T> void field(std::deque<T> &v) { list(v); }
    void field(std::string &v) { list(v); }
    template <class T> void list(T &v)
    {
        uint64_t n = v.size();
        field(n);
        v.resize(static_cast<Self *>(this)->many(n));
        for (auto &e : v)
            field(e);
    }
};

class Writer : public Archive<Writer>
{
  public:
    static constexpr bool writes = true;
    std::vector<uint8_t> data;
    void bytes(const void *p, size_t n)
    {
        const auto *from = static_cast<const uint8_t *>(p);
        data.insert(data.end(), from, from + n);
    }
    // A memory's pages that are not all zero, each after its number.
    void pages(uint8_t *p, size_t size)
    {
        for (uint32_t i = 0; i < size / kPage; i++)
            if (!zero(p + i * kPage)) {
                (*this)(i);
                bytes(p + i * kPage, kPage);
            }
        uint32_t end = kLastPage;
        (*this)(end);
    }
    static size_t many(uint64_t n) { return n; }
};

class Reader : public Archive<Reader>
{
  public:
    static constexpr bool writes = false;
    Reader(const uint8_t *p, size_t n) : at_(p), left_(n) {}
    void bytes(void *p, size_t n)
    {
        if (n > left_)
            throw CheckpointError("it ends too early");
        std::memcpy(p, at_, n);
        at_ += n;
        left_ -= n;
    }
    // A number of elements, each of which takes a byte at least.
    size_t many(uint64_t n) const
    {
        if (n > left_)
            throw CheckpointError("it ends too early");
        return n;
    }
    void pages(uint8_t *p, size_t size)
    {
        for (size_t i = 0; i < size / kPage; i++)
            if (!zero(p + i * kPage)) // what the program's file has put there
                std::memset(p + i * kPage, 0, kPage);
        for (uint32_t i;;) {
            (*this)(i);
            if (i == kLastPage)
                return;
            if (i >= size / kPage)
                throw CheckpointError("a page is outside of its memory");
            bytes(p + i * kPage, kPage);
        }
    }
    bool empty() const { return left_ == 0; }

  private:
    const uint8_t *at_;
    size_t left_;
};

} // namespace mc
