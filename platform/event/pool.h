#pragma once
#include <deque>
#include <vector>

namespace mc
{

// Events of one type, which are used again and again. A new one holds what it was left with.
template <class T> class Pool
{
  public:
    T &make()
    {
        if (unused.empty())
            return all.emplace_back();
        T *t = unused.back();
        unused.pop_back();
        return *t;
    }
    void recycle(T &t) { unused.push_back(&t); }

  private:
    std::deque<T> all;
    std::vector<T *> unused;
};

} // namespace mc
