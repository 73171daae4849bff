// psthread.hpp - the threads of psthread.h for C++20: what <thread>, <mutex>, <shared_mutex>, <condition_variable>,
// <semaphore>, <latch>, <barrier> and <future> have, under the same names in namespace psthreads, header-only over the
// C interface. Beside these: spawn, task_group in the shape of oneTBB's, and when_all of the Concurrency TS. Not here:
// recursive mutexes and launch policies; oneTBB's task handles.
//
// A thread that waits here holds no kernel thread. The types satisfy the standard's named requirements, so
// std::lock_guard, std::unique_lock, std::scoped_lock, std::shared_lock and std::lock work on them, and std::stop_token
// with jthread and condition_variable_any. The standard library's own mutexes, condition variables, futures and sleeps,
// and std::atomic's wait, hold the kernel thread (psthread.h: max_spares). Errors that the standard reports by
// std::system_error or std::future_error are so reported. Link -lpsthreads.
#ifndef PSTHREAD_HPP
#define PSTHREAD_HPP

#if __cplusplus <= 201703L
#error "psthread.hpp is C++20: compile with -std=c++20"
#include <C++20> // there is no such file: the compilation ends before each name that is missing becomes an error
#else

#include <psthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <compare>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <shared_mutex>
#include <stop_token>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace psthreads
{

namespace detail
{

inline void check(int error, const char *what)
{
    if (error)
        throw std::system_error(error, std::generic_category(), what);
}

// A moment of any clock, in the nanoseconds of psthread_now. In long double: the difference of two moments may be more
// than the clock's own numbers hold.
template <class Clock, class Duration> std::uint64_t deadline(const std::chrono::time_point<Clock, Duration> &at)
{
    using wide = std::chrono::duration<long double, std::nano>;
    auto left = (wide(at.time_since_epoch()) - wide(Clock::now().time_since_epoch())).count();
    if (!(left > 0))
        return 0;
    std::uint64_t now = psthread_now(), most = PSTHREAD_NEVER - 1 - now;
    return left >= static_cast<long double>(most) ? PSTHREAD_NEVER - 1 : now + static_cast<std::uint64_t>(left);
}
// The moment that is `time` from now, or the last one that the clock can tell.
template <class Rep, class Period>
std::chrono::steady_clock::time_point after(const std::chrono::duration<Rep, Period> &time)
{
    using clock = std::chrono::steady_clock;
    using wide = std::chrono::duration<long double, clock::period>;
    auto now = clock::now();
    if (!(time > time.zero()))
        return now;
    if (std::chrono::duration_cast<wide>(time) >= wide(clock::time_point::max() - now))
        return clock::time_point::max();
    return now + std::chrono::ceil<clock::duration>(time);
}
template <class Rep, class Period> std::uint64_t deadline(const std::chrono::duration<Rep, Period> &time)
{
    return deadline(after(time));
}

} // namespace detail

// --- threads ---

// std::thread, as a user-level thread. A thread that is still joinable when its object is destroyed ends the program.
class thread
{
  public:
    using native_handle_type = psthread_t;

    class id
    {
        psthread_t thread_ = nullptr;

      public:
        id() noexcept = default;
        explicit id(psthread_t t) noexcept : thread_(t) {}
        friend bool operator==(id, id) noexcept = default;
        friend std::strong_ordering operator<=>(id a, id b) noexcept
        {
            return std::compare_three_way{}(a.thread_, b.thread_);
        }
        template <class C, class T> friend std::basic_ostream<C, T> &operator<<(std::basic_ostream<C, T> &out, id i)
        {
            return out << static_cast<const void *>(i.thread_);
        }
        friend struct std::hash<id>;
    };

    thread() noexcept = default;
    template <class F, class... Args>
    requires(!std::same_as<std::remove_cvref_t<F>, thread> &&
             std::invocable<std::decay_t<F>, std::decay_t<Args>...>) explicit thread(F &&f, Args &&...args)
    {
        start(PSTHREAD_VP_ANY, std::forward<F>(f), std::forward<Args>(args)...);
    }
    thread(const thread &) = delete;
    thread(thread &&other) noexcept : thread_(std::exchange(other.thread_, nullptr)) {}
    thread &operator=(const thread &) = delete;
    thread &operator=(thread &&other) noexcept
    {
        if (joinable())
            std::terminate();
        thread_ = std::exchange(other.thread_, nullptr);
        return *this;
    }
    ~thread()
    {
        if (joinable())
            std::terminate();
    }

    void swap(thread &other) noexcept { std::swap(thread_, other.thread_); }
    friend void swap(thread &a, thread &b) noexcept { a.swap(b); }
    [[nodiscard]] bool joinable() const noexcept { return thread_ != nullptr; }
    [[nodiscard]] id get_id() const noexcept { return id(thread_); }
    [[nodiscard]] native_handle_type native_handle() noexcept { return thread_; }
    // Not standard: the number of virtual processors is what can run at once.
    [[nodiscard]] static unsigned hardware_concurrency() noexcept { return psthread_num_vps(); }

    void join()
    {
        if (!joinable())
            detail::check(EINVAL, "psthreads::thread::join");
        detail::check(psthread_join(thread_, nullptr), "psthreads::thread::join");
        thread_ = nullptr;
    }
    void detach()
    {
        if (!joinable())
            detail::check(EINVAL, "psthreads::thread::detach");
        detail::check(psthread_detach(thread_), "psthreads::thread::detach");
        thread_ = nullptr;
    }

  private:
    psthread_t thread_ = nullptr;

    template <class F, class... Args> void start(int vp, F &&f, Args &&...args)
    {
        using call = std::tuple<std::decay_t<F>, std::decay_t<Args>...>;
        auto packed = std::make_unique<call>(std::forward<F>(f), std::forward<Args>(args)...);
        detail::check(psthread_create(&thread_, nullptr, run<call>, packed.get()), "psthreads::thread");
        packed.release(); // the thread's from now on
        int error = psthread_enqueue(thread_, vp);
        if (error) {
            psthread_discard(std::exchange(thread_, nullptr));
            detail::check(error, "psthreads::thread");
        }
    }
    // Not noexcept: psthread_exit unwinds through it. An exception finds no handler above, and terminates.
    template <class Call> static void *run(void *arg)
    {
        std::unique_ptr<Call> packed(static_cast<Call *>(arg));
        std::apply([](auto &&...parts) { std::invoke(std::move(parts)...); }, std::move(*packed));
        return nullptr;
    }
};

// std::jthread: the destructor asks the thread to stop, and joins it.
class jthread
{
  public:
    using id = thread::id;
    using native_handle_type = thread::native_handle_type;

    jthread() noexcept : stop_(std::nostopstate) {}
    template <class F, class... Args>
    requires(!std::same_as<std::remove_cvref_t<F>, jthread>) explicit jthread(F &&f, Args &&...args)
    {
        if constexpr (std::invocable<std::decay_t<F>, std::stop_token, std::decay_t<Args>...>)
            thread_ = thread(std::forward<F>(f), stop_.get_token(), std::forward<Args>(args)...);
        else
            thread_ = thread(std::forward<F>(f), std::forward<Args>(args)...);
    }
    jthread(const jthread &) = delete;
    jthread(jthread &&) noexcept = default;
    jthread &operator=(const jthread &) = delete;
    jthread &operator=(jthread &&other) noexcept
    {
        if (this != &other) {
            end();
            stop_ = std::move(other.stop_);
            thread_ = std::move(other.thread_);
        }
        return *this;
    }
    ~jthread() { end(); }

    void swap(jthread &other) noexcept
    {
        std::swap(stop_, other.stop_);
        thread_.swap(other.thread_);
    }
    friend void swap(jthread &a, jthread &b) noexcept { a.swap(b); }
    [[nodiscard]] bool joinable() const noexcept { return thread_.joinable(); }
    void join() { thread_.join(); }
    void detach() { thread_.detach(); }
    [[nodiscard]] id get_id() const noexcept { return thread_.get_id(); }
    [[nodiscard]] native_handle_type native_handle() noexcept { return thread_.native_handle(); }
    [[nodiscard]] std::stop_source get_stop_source() noexcept { return stop_; }
    [[nodiscard]] std::stop_token get_stop_token() const noexcept { return stop_.get_token(); }
    bool request_stop() noexcept { return stop_.request_stop(); }
    [[nodiscard]] static unsigned hardware_concurrency() noexcept { return thread::hardware_concurrency(); }

  private:
    std::stop_source stop_;
    thread thread_;

    void end()
    {
        if (thread_.joinable()) {
            stop_.request_stop();
            thread_.join();
        }
    }
};

// std::this_thread: the calling thread.
namespace this_thread
{
inline thread::id get_id() noexcept { return thread::id(psthread_self()); }
inline void yield() noexcept { psthread_yield(); }
template <class Rep, class Period> void sleep_for(const std::chrono::duration<Rep, Period> &time)
{
    psthread_sleep(detail::deadline(time));
}
template <class Clock, class Duration> void sleep_until(const std::chrono::time_point<Clock, Duration> &at)
{
    while (Clock::now() < at)
        psthread_sleep(detail::deadline(at));
}
} // namespace this_thread

// --- mutexes ---

// std::mutex.
class mutex
{
  protected:
    psthread_mutex_t mutex_ = PSTHREAD_MUTEX_INITIALIZER;

  public:
    using native_handle_type = psthread_mutex_t *;
    constexpr mutex() noexcept = default;
    mutex(const mutex &) = delete;
    mutex &operator=(const mutex &) = delete;
    void lock() { detail::check(psthread_mutex_lock(&mutex_), "psthreads::mutex::lock"); }
    bool try_lock() noexcept { return psthread_mutex_trylock(&mutex_) == 0; }
    void unlock() noexcept { psthread_mutex_unlock(&mutex_); }
    native_handle_type native_handle() noexcept { return &mutex_; }
};

// std::timed_mutex.
class timed_mutex : public mutex
{
  public:
    template <class Rep, class Period> bool try_lock_for(const std::chrono::duration<Rep, Period> &time)
    {
        return psthread_mutex_timedlock(&mutex_, detail::deadline(time)) == 0;
    }
    template <class Clock, class Duration> bool try_lock_until(const std::chrono::time_point<Clock, Duration> &at)
    {
        return psthread_mutex_timedlock(&mutex_, detail::deadline(at)) == 0;
    }
};

// std::shared_mutex. Writers that wait go before readers that come: a thread must not lock it shared twice.
class shared_mutex
{
  protected:
    psthread_rwlock_t lock_ = PSTHREAD_RWLOCK_INITIALIZER;

  public:
    using native_handle_type = psthread_rwlock_t *;
    constexpr shared_mutex() noexcept = default;
    shared_mutex(const shared_mutex &) = delete;
    shared_mutex &operator=(const shared_mutex &) = delete;
    void lock() { detail::check(psthread_rwlock_wrlock(&lock_), "psthreads::shared_mutex::lock"); }
    bool try_lock() noexcept { return psthread_rwlock_trywrlock(&lock_) == 0; }
    void unlock() noexcept { psthread_rwlock_unlock(&lock_); }
    void lock_shared() { detail::check(psthread_rwlock_rdlock(&lock_), "psthreads::shared_mutex::lock_shared"); }
    bool try_lock_shared() noexcept { return psthread_rwlock_tryrdlock(&lock_) == 0; }
    void unlock_shared() noexcept { psthread_rwlock_unlock(&lock_); }
    native_handle_type native_handle() noexcept { return &lock_; }
};

// std::shared_timed_mutex.
class shared_timed_mutex : public shared_mutex
{
  public:
    template <class Rep, class Period> bool try_lock_for(const std::chrono::duration<Rep, Period> &time)
    {
        return psthread_rwlock_timedwrlock(&lock_, detail::deadline(time)) == 0;
    }
    template <class Clock, class Duration> bool try_lock_until(const std::chrono::time_point<Clock, Duration> &at)
    {
        return psthread_rwlock_timedwrlock(&lock_, detail::deadline(at)) == 0;
    }
    template <class Rep, class Period> bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &time)
    {
        return psthread_rwlock_timedrdlock(&lock_, detail::deadline(time)) == 0;
    }
    template <class Clock, class Duration>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &at)
    {
        return psthread_rwlock_timedrdlock(&lock_, detail::deadline(at)) == 0;
    }
};

// --- once ---

// std::once_flag.
class once_flag
{
    mutex mutex_;
    bool done_ = false;
    template <class F, class... Args> friend void call_once(once_flag &, F &&, Args &&...);

  public:
    constexpr once_flag() noexcept = default;
    once_flag(const once_flag &) = delete;
    once_flag &operator=(const once_flag &) = delete;
};
// std::call_once: other callers wait until f has returned. A call that throws has not run.
template <class F, class... Args> void call_once(once_flag &flag, F &&f, Args &&...args)
{
    std::scoped_lock hold(flag.mutex_);
    if (flag.done_)
        return;
    std::invoke(std::forward<F>(f), std::forward<Args>(args)...);
    flag.done_ = true;
}

// --- condition variables ---

// std::cv_status.
enum class cv_status { no_timeout, timeout };

// std::condition_variable, with a std::unique_lock of mutex.
class condition_variable
{
    psthread_cond_t cond_ = PSTHREAD_COND_INITIALIZER;

  public:
    using native_handle_type = psthread_cond_t *;
    constexpr condition_variable() noexcept = default;
    condition_variable(const condition_variable &) = delete;
    condition_variable &operator=(const condition_variable &) = delete;
    void notify_one() noexcept { psthread_cond_signal(&cond_); }
    void notify_all() noexcept { psthread_cond_broadcast(&cond_); }
    native_handle_type native_handle() noexcept { return &cond_; }

    void wait(std::unique_lock<mutex> &lock) { psthread_cond_wait(&cond_, lock.mutex()->native_handle()); }
    template <class Predicate> void wait(std::unique_lock<mutex> &lock, Predicate pred)
    {
        while (!pred())
            wait(lock);
    }
    template <class Clock, class Duration>
    cv_status wait_until(std::unique_lock<mutex> &lock, const std::chrono::time_point<Clock, Duration> &at)
    {
        psthread_cond_timedwait(&cond_, lock.mutex()->native_handle(), detail::deadline(at));
        return Clock::now() < at ? cv_status::no_timeout : cv_status::timeout;
    }
    template <class Clock, class Duration, class Predicate>
    bool wait_until(std::unique_lock<mutex> &lock, const std::chrono::time_point<Clock, Duration> &at, Predicate pred)
    {
        while (!pred())
            if (wait_until(lock, at) == cv_status::timeout)
                return pred();
        return true;
    }
    template <class Rep, class Period>
    cv_status wait_for(std::unique_lock<mutex> &lock, const std::chrono::duration<Rep, Period> &time)
    {
        return wait_until(lock, detail::after(time));
    }
    template <class Rep, class Period, class Predicate>
    bool wait_for(std::unique_lock<mutex> &lock, const std::chrono::duration<Rep, Period> &time, Predicate pred)
    {
        return wait_until(lock, detail::after(time), std::move(pred));
    }
};

// std::condition_variable_any, with any lock, and with a stop_token.
//
// Each thread that waits does so at a semaphore of its own: so the callback of a stop_token posts, and never waits.
// (The thread that destroys a std::stop_callback waits for a callback that runs, by means of the standard library's. On
// the same virtual processor that callback could not go on.) The list of waiting threads outlives the object where a
// thread still leaves a wait.
class condition_variable_any
{
    struct waiter {
        psthread_sem_t woken;
        waiter *before = nullptr, *next = nullptr;
        bool listed = false;
        waiter() { psthread_sem_init(&woken, 0); }
        waiter(const waiter &) = delete;
        waiter &operator=(const waiter &) = delete;
    };
    struct inner {
        mutex m;
        waiter *first = nullptr, *last = nullptr;

        void add(waiter &w)
        {
            std::scoped_lock hold(m);
            w.before = std::exchange(last, &w);
            (w.before ? w.before->next : first) = &w;
            w.next = nullptr;
            w.listed = true;
        }
        void take_out_locked(waiter &w)
        {
            (w.before ? w.before->next : first) = w.next;
            (w.next ? w.next->before : last) = w.before;
            w.listed = false;
        }
        void remove(waiter &w)
        {
            std::scoped_lock hold(m);
            if (w.listed)
                take_out_locked(w);
        }
        bool wake_first_locked()
        {
            waiter *w = first;
            if (!w)
                return false;
            take_out_locked(*w);
            psthread_sem_post(&w->woken); // it takes m before it goes on
            return true;
        }
    };
    std::shared_ptr<inner> inner_ = std::make_shared<inner>();

    // In the list, and without the caller's lock, for as long as it lives.
    template <class Lock> struct listed {
        inner &in;
        waiter &me;
        Lock &lock;
        listed(inner &i, waiter &w, Lock &l) : in(i), me(w), lock(l)
        {
            in.add(me);
            try {
                lock.unlock();
            } catch (...) {
                in.remove(me);
                throw;
            }
        }
        listed(const listed &) = delete;
        listed &operator=(const listed &) = delete;
        ~listed() noexcept(false)
        {
            in.remove(me);
            lock.lock();
        }
    };

  public:
    condition_variable_any() = default;
    condition_variable_any(const condition_variable_any &) = delete;
    condition_variable_any &operator=(const condition_variable_any &) = delete;
    void notify_one() noexcept
    {
        std::scoped_lock hold(inner_->m);
        inner_->wake_first_locked();
    }
    void notify_all() noexcept
    {
        std::scoped_lock hold(inner_->m);
        while (inner_->wake_first_locked())
            continue;
    }
    template <class Lock> void wait(Lock &lock)
    {
        auto keep = inner_;
        waiter me;
        listed<Lock> here(*keep, me, lock);
        psthread_sem_wait(&me.woken);
    }
    template <class Lock, class Predicate> void wait(Lock &lock, Predicate pred)
    {
        while (!pred())
            wait(lock);
    }
    template <class Lock, class Clock, class Duration>
    cv_status wait_until(Lock &lock, const std::chrono::time_point<Clock, Duration> &at)
    {
        auto keep = inner_;
        waiter me;
        return wait_listed(*keep, me, lock, at);
    }
    template <class Lock, class Clock, class Duration, class Predicate>
    bool wait_until(Lock &lock, const std::chrono::time_point<Clock, Duration> &at, Predicate pred)
    {
        while (!pred())
            if (wait_until(lock, at) == cv_status::timeout)
                return pred();
        return true;
    }
    template <class Lock, class Rep, class Period>
    cv_status wait_for(Lock &lock, const std::chrono::duration<Rep, Period> &time)
    {
        return wait_until(lock, detail::after(time));
    }
    template <class Lock, class Rep, class Period, class Predicate>
    bool wait_for(Lock &lock, const std::chrono::duration<Rep, Period> &time, Predicate pred)
    {
        return wait_until(lock, detail::after(time), std::move(pred));
    }
    // Until pred(), a request to stop, or the moment; returns pred().
    template <class Lock, class Predicate> bool wait(Lock &lock, std::stop_token token, Predicate pred)
    {
        return wait_stoppable(lock, std::move(token), pred, [](inner &in, waiter &me, Lock &l) {
            listed<Lock> here(in, me, l);
            psthread_sem_wait(&me.woken);
            return cv_status::no_timeout;
        });
    }
    template <class Lock, class Clock, class Duration, class Predicate>
    bool wait_until(Lock &lock, std::stop_token token, const std::chrono::time_point<Clock, Duration> &at,
                    Predicate pred)
    {
        return wait_stoppable(lock, std::move(token), pred,
                              [&at](inner &in, waiter &me, Lock &l) { return wait_listed(in, me, l, at); });
    }
    template <class Lock, class Rep, class Period, class Predicate>
    bool wait_for(Lock &lock, std::stop_token token, const std::chrono::duration<Rep, Period> &time, Predicate pred)
    {
        return wait_until(lock, std::move(token), detail::after(time), std::move(pred));
    }

  private:
    template <class Lock, class Clock, class Duration>
    static cv_status wait_listed(inner &in, waiter &me, Lock &lock, const std::chrono::time_point<Clock, Duration> &at)
    {
        listed<Lock> here(in, me, lock);
        psthread_sem_timedwait(&me.woken, detail::deadline(at));
        return Clock::now() < at ? cv_status::no_timeout : cv_status::timeout;
    }
    template <class Lock, class Predicate, class Wait>
    bool wait_stoppable(Lock &lock, std::stop_token token, Predicate &pred, Wait wait)
    {
        auto keep = inner_;
        waiter me;
        std::stop_callback wake(token, [&me] { psthread_sem_post(&me.woken); });
        while (!pred() && !token.stop_requested())
            if (wait(*keep, me, lock) == cv_status::timeout)
                break;
        return pred();
    }
};

// --- semaphore, latch, barrier ---

// std::counting_semaphore.
template <std::ptrdiff_t LeastMax = PSTHREAD_SEM_VALUE_MAX> class counting_semaphore
{
    static_assert(LeastMax >= 0 && LeastMax <= PSTHREAD_SEM_VALUE_MAX);
    psthread_sem_t sem_;

  public:
    explicit counting_semaphore(std::ptrdiff_t value)
    {
        detail::check(value < 0 ? EINVAL : psthread_sem_init(&sem_, static_cast<unsigned>(value)),
                      "psthreads::counting_semaphore");
    }
    counting_semaphore(const counting_semaphore &) = delete;
    counting_semaphore &operator=(const counting_semaphore &) = delete;
    static constexpr std::ptrdiff_t(max)() noexcept { return PSTHREAD_SEM_VALUE_MAX; }
    void release(std::ptrdiff_t update = 1)
    {
        for (; update > 0; update--)
            detail::check(psthread_sem_post(&sem_), "psthreads::counting_semaphore::release");
    }
    void acquire() { psthread_sem_wait(&sem_); }
    bool try_acquire() noexcept { return psthread_sem_trywait(&sem_) == 0; }
    template <class Rep, class Period> bool try_acquire_for(const std::chrono::duration<Rep, Period> &time)
    {
        return psthread_sem_timedwait(&sem_, detail::deadline(time)) == 0;
    }
    template <class Clock, class Duration> bool try_acquire_until(const std::chrono::time_point<Clock, Duration> &at)
    {
        return psthread_sem_timedwait(&sem_, detail::deadline(at)) == 0;
    }
};
// std::binary_semaphore.
using binary_semaphore = counting_semaphore<1>;

// std::latch.
class latch
{
    mutable mutex mutex_;
    mutable condition_variable zero_;
    std::ptrdiff_t left_;

  public:
    explicit latch(std::ptrdiff_t expected) : left_(expected) {}
    latch(const latch &) = delete;
    latch &operator=(const latch &) = delete;
    static constexpr std::ptrdiff_t(max)() noexcept { return std::numeric_limits<std::ptrdiff_t>::max(); }
    void count_down(std::ptrdiff_t update = 1)
    {
        std::scoped_lock hold(mutex_);
        if ((left_ -= update) == 0)
            zero_.notify_all();
    }
    [[nodiscard]] bool try_wait() const noexcept
    {
        std::scoped_lock hold(mutex_);
        return left_ == 0;
    }
    void wait() const
    {
        std::unique_lock hold(mutex_);
        zero_.wait(hold, [this] { return left_ == 0; });
    }
    void arrive_and_wait(std::ptrdiff_t update = 1)
    {
        count_down(update);
        wait();
    }
};

namespace detail
{
struct nothing {
    void operator()() noexcept {}
};
} // namespace detail

// std::barrier.
template <class Completion = detail::nothing> class barrier
{
    mutable mutex mutex_;
    mutable condition_variable next_;
    std::ptrdiff_t expected_, left_;
    std::size_t phase_ = 0;
    Completion completion_;

    void arrive_locked(std::ptrdiff_t update)
    {
        if ((left_ -= update) != 0)
            return;
        completion_();
        left_ = expected_;
        phase_++;
        next_.notify_all();
    }

  public:
    class arrival_token
    {
        std::size_t phase_;
        explicit arrival_token(std::size_t phase) : phase_(phase) {}
        friend class barrier;
    };

    explicit barrier(std::ptrdiff_t expected, Completion f = Completion())
        : expected_(expected), left_(expected), completion_(std::move(f))
    {
    }
    barrier(const barrier &) = delete;
    barrier &operator=(const barrier &) = delete;
    static constexpr std::ptrdiff_t(max)() noexcept { return std::numeric_limits<std::ptrdiff_t>::max(); }
    [[nodiscard]] arrival_token arrive(std::ptrdiff_t update = 1)
    {
        std::scoped_lock hold(mutex_);
        arrival_token token(phase_);
        arrive_locked(update);
        return token;
    }
    void wait(arrival_token &&token) const
    {
        std::unique_lock hold(mutex_);
        next_.wait(hold, [&] { return phase_ != token.phase_; });
    }
    void arrive_and_wait() { wait(arrive()); }
    void arrive_and_drop()
    {
        std::scoped_lock hold(mutex_);
        expected_--;
        arrive_locked(1);
    }
};

// --- futures ---

// std::future_status.
enum class future_status { ready, timeout };
template <class T> class future;
template <class T> class shared_future;

namespace detail
{

[[noreturn]] inline void fail(std::future_errc what) { throw std::future_error(what); }

// What a future and its provider share. The phase goes from pending or awaited to done, once, by finish (release). A
// thread that sees done (acquire) reads what was stored before. A thread that is about to wait takes m, makes pending
// awaited, and looks at the phase again until it waits at `ready`, which gives m back. A finish that finds pending
// notifies nobody: the thread sees done at its next look. A finish that finds awaited takes m first, so it notifies a
// thread that waits already. The caller of finish holds the state, because a thread that sees done may let it go.
struct state_base {
    enum { pending, awaited, done };
    mutex m;
    condition_variable ready;
    std::atomic<int> phase{pending};
    std::atomic<bool> claimed{false};   // set, or about to be
    std::atomic<bool> retrieved{false}; // get_future was called
    std::exception_ptr error;

    state_base() = default;
    state_base(const state_base &) = delete;
    state_base &operator=(const state_base &) = delete;
    virtual ~state_base() = default;
    // Until it is done, or the deadline (psthread_now); whether it is done.
    virtual bool await(std::uint64_t deadline_ns)
    {
        if (phase.load(std::memory_order_acquire) == done)
            return true;
        std::scoped_lock hold(m);
        int seen = pending;
        phase.compare_exchange_strong(seen, awaited, std::memory_order_acquire);
        int error_seen = 0;
        while (phase.load(std::memory_order_acquire) != done && error_seen != ETIMEDOUT)
            error_seen = psthread_cond_timedwait(ready.native_handle(), m.native_handle(), deadline_ns);
        return phase.load(std::memory_order_acquire) == done;
    }
    void finish() noexcept
    {
        if (phase.exchange(done, std::memory_order_acq_rel) != awaited)
            return;
        std::scoped_lock hold(m);
        ready.notify_all();
    }
    void claim()
    {
        if (claimed.exchange(true, std::memory_order_acq_rel))
            fail(std::future_errc::promise_already_satisfied);
    }
};

template <class T> struct state : state_base {
    using held = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T> *, T>;
    std::conditional_t<std::is_void_v<T>, char, std::optional<held>> value{};

    template <class V> void store(V &&v)
    {
        if constexpr (std::is_reference_v<T>)
            value.emplace(std::addressof(v));
        else
            value.emplace(std::forward<V>(v));
    }
    // Stores what f returns or throws. Where f calls psthread_exit, the state is done at once: ECANCELED.
    template <class F> void run(F &&f)
    {
        try {
            if constexpr (std::is_void_v<T>)
                f();
            else
                store(f());
        } catch (...) {
            error = std::current_exception();
            if (!error) { // psthread_exit
                error = std::make_exception_ptr(std::system_error(ECANCELED, std::generic_category(), "psthread_exit"));
                finish();
                throw;
            }
        }
    }
};

// The state becomes ready when the calling thread has ended: when the values of its keys are destroyed.
inline void finish_at_thread_exit(std::shared_ptr<state_base> s)
{
    struct entry {
        std::shared_ptr<state_base> s;
        std::unique_ptr<entry> next;
        static void finish_all(void *first)
        {
            for (std::unique_ptr<entry> e(static_cast<entry *>(first)); e; e = std::move(e->next))
                e->s->finish();
        }
    };
    static const psthread_key_t key = [] {
        psthread_key_t made;
        check(psthread_key_create(&made, entry::finish_all), "psthreads: at thread exit");
        return made;
    }();
    auto *before = static_cast<entry *>(psthread_getspecific(key));
    auto e = std::make_unique<entry>();
    e->s = std::move(s);
    check(psthread_setspecific(key, e.get()), "psthreads: at thread exit");
    e.release()->next.reset(before);
}

// The end that sets a state: promise's and packaged_task's. What it leaves unset is a broken promise.
template <class T> class provider
{
    std::shared_ptr<state<T>> state_;

    void give_up() noexcept
    {
        if (state_ && !state_->claimed.exchange(true, std::memory_order_acq_rel)) {
            state_->error = std::make_exception_ptr(std::future_error(std::future_errc::broken_promise));
            state_->finish();
        }
    }

  public:
    provider() noexcept = default;
    explicit provider(std::shared_ptr<state<T>> s) noexcept : state_(std::move(s)) {}
    provider(provider &&) noexcept = default;
    provider &operator=(provider &&other) noexcept
    {
        if (this != &other) {
            give_up();
            state_ = std::move(other.state_);
        }
        return *this;
    }
    ~provider() { give_up(); }
    void swap(provider &other) noexcept { state_.swap(other.state_); }
    [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
    // The caller's own share: a thread that has waited may destroy the provider before finish returns.
    [[nodiscard]] std::shared_ptr<state<T>> share() const
    {
        if (!state_)
            fail(std::future_errc::no_state);
        return state_;
    }
    [[nodiscard]] future<T> get_future();
    template <class Fill> void set(Fill fill, bool at_thread_exit = false)
    {
        auto s = share();
        s->claim();
        try {
            fill(*s);
            if (at_thread_exit)
                return finish_at_thread_exit(s);
        } catch (...) {
            if (s->phase.load(std::memory_order_relaxed) != state_base::done) // done: the function called psthread_exit
                s->claimed.store(false, std::memory_order_release);
            throw;
        }
        s->finish();
    }
};

// What future and shared_future have in common.
template <class T> class future_base
{
  protected:
    std::shared_ptr<state<T>> state_;

    future_base() noexcept = default;
    explicit future_base(std::shared_ptr<state<T>> s) noexcept : state_(std::move(s)) {}
    [[nodiscard]] state<T> &checked() const
    {
        if (!state_)
            fail(std::future_errc::no_state);
        return *state_;
    }
    friend struct future_access;

  public:
    [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
    void wait() const { checked().await(PSTHREAD_NEVER); }
    template <class Clock, class Duration>
    future_status wait_until(const std::chrono::time_point<Clock, Duration> &at) const
    {
        while (!checked().await(deadline(at)))
            if (Clock::now() >= at)
                return future_status::timeout;
        return future_status::ready;
    }
    template <class Rep, class Period> future_status wait_for(const std::chrono::duration<Rep, Period> &time) const
    {
        return wait_until(after(time));
    }
};

struct future_access {
    template <class T> static future<T> make(std::shared_ptr<state<T>> s) { return future<T>(std::move(s)); }
    template <class T> static bool await(const future_base<T> &f, std::uint64_t deadline_ns)
    {
        return f.checked().await(deadline_ns);
    }
    template <class T> static T get(state<T> &s)
    {
        if (s.error)
            std::rethrow_exception(s.error);
        if constexpr (std::is_reference_v<T>)
            return **s.value;
        else if constexpr (!std::is_void_v<T>)
            return std::move(*s.value);
    }
};

template <class T> future<T> provider<T>::get_future()
{
    auto s = share();
    if (s->retrieved.exchange(true, std::memory_order_acq_rel))
        fail(std::future_errc::future_already_retrieved);
    return future_access::make(std::move(s));
}

} // namespace detail

// std::future. A wait may run the thread that has the result to give, where that has not begun.
template <class T> class future : public detail::future_base<T>
{
    friend struct detail::future_access;
    explicit future(std::shared_ptr<detail::state<T>> s) noexcept : detail::future_base<T>(std::move(s)) {}

  public:
    future() noexcept = default;
    future(future &&) noexcept = default;
    future &operator=(future &&) noexcept = default;
    T get()
    {
        this->wait();
        auto s = std::move(this->state_);
        return detail::future_access::get(*s);
    }
    [[nodiscard]] shared_future<T> share() noexcept { return shared_future<T>(std::move(*this)); }
};

// std::shared_future.
template <class T> class shared_future : public detail::future_base<T>
{
  public:
    shared_future() noexcept = default;
    shared_future(future<T> &&f) noexcept : detail::future_base<T>(std::move(f)) {}
    // T const &, T & of a T &, or nothing.
    decltype(auto) get() const
    {
        auto &s = this->checked();
        s.await(PSTHREAD_NEVER);
        if (s.error)
            std::rethrow_exception(s.error);
        if constexpr (std::is_reference_v<T>)
            return static_cast<T>(**s.value);
        else if constexpr (!std::is_void_v<T>)
            return std::as_const(*s.value);
    }
};

// std::promise.
template <class T> class promise
{
    detail::provider<T> provider_;

  public:
    promise() : provider_(std::make_shared<detail::state<T>>()) {}
    template <class A> promise(std::allocator_arg_t, const A &a) : provider_(std::allocate_shared<detail::state<T>>(a))
    {
    }
    promise(promise &&) noexcept = default;
    promise &operator=(promise &&) noexcept = default;
    void swap(promise &other) noexcept { provider_.swap(other.provider_); }
    friend void swap(promise &a, promise &b) noexcept { a.swap(b); }
    [[nodiscard]] future<T> get_future() { return provider_.get_future(); }

    void set_value() requires std::is_void_v<T> { store(false); }
    template <class V = T>
    requires std::convertible_to<V &&, T>
    void set_value(V &&value) { store(false, std::forward<V>(value)); }
    void set_exception(std::exception_ptr error) { fail(std::move(error), false); }
    void set_value_at_thread_exit() requires std::is_void_v<T> { store(true); }
    template <class V = T>
    requires std::convertible_to<V &&, T>
    void set_value_at_thread_exit(V &&value) { store(true, std::forward<V>(value)); }
    void set_exception_at_thread_exit(std::exception_ptr error) { fail(std::move(error), true); }

  private:
    template <class... V> void store(bool at_thread_exit, V &&...value)
    {
        provider_.set([&]([[maybe_unused]] auto &s) { (s.store(std::forward<V>(value)), ...); }, at_thread_exit);
    }
    void fail(std::exception_ptr error, bool at_thread_exit)
    {
        provider_.set([&](auto &s) { s.error = std::move(error); }, at_thread_exit);
    }
};

namespace detail
{
template <class> struct signature;
template <class S> struct signature<std::function<S>> {
    using type = S;
};
} // namespace detail

// std::packaged_task.
template <class> class packaged_task;
// std::packaged_task.
template <class R, class... Args> class packaged_task<R(Args...)>
{
    struct callable {
        callable() = default;
        callable(const callable &) = delete;
        callable &operator=(const callable &) = delete;
        virtual ~callable() = default;
        virtual R call(Args... args) = 0;
    };
    template <class F> struct callable_of final : callable {
        F f;
        template <class G> explicit callable_of(G &&g) : f(std::forward<G>(g)) {}
        R call(Args... args) override
        {
            if constexpr (std::is_void_v<R>)
                std::invoke(f, std::forward<Args>(args)...);
            else
                return std::invoke(f, std::forward<Args>(args)...);
        }
    };
    std::unique_ptr<callable> function_;
    detail::provider<R> provider_;

    void run(bool at_thread_exit, Args... args)
    {
        provider_.set([&](auto &s) { s.run([&]() -> R { return function_->call(std::forward<Args>(args)...); }); },
                      at_thread_exit);
    }

  public:
    packaged_task() noexcept = default;
    template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, packaged_task> &&
             std::is_invocable_r_v<R, std::decay_t<F> &, Args...>) explicit packaged_task(F &&f)
        : function_(std::make_unique<callable_of<std::decay_t<F>>>(std::forward<F>(f))),
          provider_(std::make_shared<detail::state<R>>())
    {
    }
    packaged_task(packaged_task &&) noexcept = default;
    packaged_task &operator=(packaged_task &&) noexcept = default;
    void swap(packaged_task &other) noexcept
    {
        function_.swap(other.function_);
        provider_.swap(other.provider_);
    }
    friend void swap(packaged_task &a, packaged_task &b) noexcept { a.swap(b); }
    [[nodiscard]] bool valid() const noexcept { return provider_.valid(); }
    [[nodiscard]] future<R> get_future() { return provider_.get_future(); }
    void operator()(Args... args) { run(false, std::forward<Args>(args)...); }
    void make_ready_at_thread_exit(Args... args) { run(true, std::forward<Args>(args)...); }
    void reset()
    {
        (void)provider_.share(); // no_state
        provider_ = detail::provider<R>(std::make_shared<detail::state<R>>());
    }
};
template <class R, class... Args> packaged_task(R (*)(Args...)) -> packaged_task<R(Args...)>;
template <class F>
packaged_task(F) -> packaged_task<typename detail::signature<decltype(std::function(std::declval<F>()))>::type>;

// --- async, spawn ---

namespace detail
{

// The state of a thread's result, and what the thread calls. Its destructor joins the thread, so the thread needs no
// share of it. The first thread that waits without a deadline joins: where the other has not begun, it is called, and
// needs no stack and no switch. Every other thread that waits does so for the result.
template <class T, class F, class... Args> struct thread_state final : state<T> {
    std::tuple<F, Args...> call;
    std::atomic<psthread_t> thread{nullptr};

    template <class... Parts> explicit thread_state(Parts &&...parts) : call(std::forward<Parts>(parts)...) {}
    ~thread_state() override { join(); }
    bool await(std::uint64_t deadline_ns) override
    {
        if (deadline_ns == PSTHREAD_NEVER)
            join();
        return state<T>::await(deadline_ns);
    }
    void join()
    {
        if (thread.load(std::memory_order_relaxed))
            if (psthread_t t = thread.exchange(nullptr, std::memory_order_acquire))
                if (psthread_join(t, nullptr) == EDEADLK) { // the thread itself
                    thread.store(t, std::memory_order_release);
                    check(EDEADLK, "psthreads::future"); // in the destructor this ends the program, as the standard's
                }
    }
    // Not noexcept: psthread_exit unwinds through it.
    static void *body(void *arg)
    {
        auto *s = static_cast<thread_state *>(arg);
        s->run([s]() -> T {
            return std::apply([](auto &&...parts) -> T { return std::invoke(std::forward<decltype(parts)>(parts)...); },
                              std::move(s->call));
        });
        s->finish();
        return nullptr;
    }
};

template <class F, class... Args> using thread_result = std::invoke_result_t<std::decay_t<F>, std::decay_t<Args>...>;

template <class F, class... Args>
future<thread_result<F, Args...>> launch(int (*start)(psthread_t *, void *(*)(void *), void *), F &&f, Args &&...args)
{
    using result = thread_result<F, Args...>;
    using states = thread_state<result, std::decay_t<F>, std::decay_t<Args>...>;
    auto s = std::make_shared<states>(std::forward<F>(f), std::forward<Args>(args)...);
    psthread_t t;
    check(start(&t, states::body, s.get()), "psthreads: a thread");
    s->thread.store(t, std::memory_order_release);
    return future_access::make<result>(std::move(s));
}

} // namespace detail

// Runs f(args...) in a thread of its own. The last future of the result waits for the thread when it is destroyed, as
// std::async's does.
template <class F, class... Args> auto async(F &&f, Args &&...args)
{
    return detail::launch(
        [](psthread_t *t, void *(*fn)(void *), void *arg) {
            int error = psthread_create(t, nullptr, fn, arg);
            if (!error && (error = psthread_enqueue(*t, PSTHREAD_VP_ANY)) != 0)
                psthread_discard(*t);
            return error;
        },
        std::forward<F>(f), std::forward<Args>(args)...);
}

// The same by psthread_spawn, for divide and conquer: several times as fast. f may run before spawn returns, and in the
// caller's thread_local variables; so it must not wait for what the caller does afterwards.
template <class F, class... Args> auto spawn(F &&f, Args &&...args)
{
    return detail::launch(
        [](psthread_t *t, void *(*fn)(void *), void *arg) { return psthread_spawn(t, nullptr, fn, arg); },
        std::forward<F>(f), std::forward<Args>(args)...);
}

// --- when_all ---

namespace detail
{

// Done when all are. A thread that waits for it waits for each in turn.
template <class Futures> struct all_state final : state<Futures> {
    explicit all_state(Futures &&all) { this->value.emplace(std::move(all)); }
    bool await(std::uint64_t deadline_ns) override
    {
        const auto one = [deadline_ns](const auto &f) { return future_access::await(f, deadline_ns); };
        if constexpr (requires { this->value->begin(); })
            return std::all_of(this->value->begin(), this->value->end(), one);
        else
            return std::apply([&](const auto &...f) { return (one(f) && ...); }, *this->value);
    }
};

template <class Futures> future<Futures> all_of(Futures all)
{
    return future_access::make<Futures>(std::make_shared<all_state<Futures>>(std::move(all)));
}

template <class F> constexpr bool is_future = false;
template <class T> constexpr bool is_future<future<T>> = true;
template <class T> constexpr bool is_future<shared_future<T>> = true;

} // namespace detail

// A future of the futures, ready when all are. They are moved into it; a shared_future that is an lvalue is copied.
template <class... Futures>
requires(detail::is_future<std::decay_t<Futures>> &&...) auto when_all(Futures &&...futures)
{
    return detail::all_of(std::tuple<std::decay_t<Futures>...>(std::forward<Futures>(futures)...));
}
template <std::input_iterator Iterator> auto when_all(Iterator first, Iterator last)
{
    std::vector<typename std::iterator_traits<Iterator>::value_type> all;
    for (; first != last; ++first)
        all.push_back(std::move(*first));
    return detail::all_of(std::move(all));
}

// --- task_group ---

// What task_group::wait returns.
enum task_group_status { not_complete, complete, canceled };

// Tasks that one thread waits for, which is no task of the group. A task may add others. Tasks are made by
// psthread_spawn: so a task must not wait for what its maker does after run. The first exception that leaves a task
// cancels the group, and wait throws it. A canceled group does not call what it has not begun. psthread_exit ends its
// task alone.
//
// A task that has ended when run returns is gone. The others stand in a list. wait joins them, the last one first: a
// task that has not begun is called. After 256 tasks, and as many more as the last look has left, run takes out those
// that have ended: so a group that is never waited for does not grow. wait returns where it finds the list empty: a
// task that adds others does so before it ends, and it was joined.
class task_group
{
    struct task {
        task_group &group;
        psthread_t thread = nullptr;
        task *next = nullptr;
        std::atomic<bool> has_ended{false};

        explicit task(task_group &g) : group(g) {}
        task(const task &) = delete;
        task &operator=(const task &) = delete;
        virtual ~task() = default;
        virtual void call() = 0;
        static void *body(void *arg)
        {
            auto *t = static_cast<task *>(arg);
            t->group.attempt([t] { t->call(); });
            t->has_ended.store(true, std::memory_order_release);
            return nullptr;
        }
    };
    template <class F> struct task_of final : task {
        F f;
        template <class G> task_of(task_group &g, G &&from) : task(g), f(std::forward<G>(from)) {}
        void call() override { std::invoke(f); }
    };
    static constexpr std::size_t look_each = 256;

    mutex mutex_; // of all that is written, but canceled_
    std::atomic<task *> last_{nullptr};
    std::size_t until_look_ = look_each;
    std::exception_ptr error_;
    std::atomic<bool> canceled_{false};

    template <class F> void attempt(const F &f)
    {
        if (canceled_.load(std::memory_order_relaxed))
            return;
        try {
            std::invoke(f);
        } catch (...) {
            auto error = std::current_exception();
            if (!error) // psthread_exit
                throw;
            std::scoped_lock hold(mutex_);
            if (!error_)
                error_ = std::move(error);
            cancel();
        }
    }
    static void join(task *first)
    {
        while (first) {
            std::unique_ptr<task> t(std::exchange(first, first->next));
            psthread_join(t->thread, nullptr);
        }
    }
    void join_all()
    {
        while (last_.load(std::memory_order_acquire)) {
            std::unique_lock hold(mutex_);
            task *all = last_.exchange(nullptr, std::memory_order_relaxed);
            until_look_ = look_each;
            hold.unlock();
            join(all);
        }
    }
    // Takes out those that have ended.
    task *ended_locked()
    {
        task *ended = nullptr, *left = last_.load(std::memory_order_relaxed);
        until_look_ = look_each;
        for (task **at = &left; *at;) {
            if (!(*at)->has_ended.load(std::memory_order_acquire)) {
                at = &(*at)->next;
                until_look_++;
                continue;
            }
            task *t = std::exchange(*at, (*at)->next);
            t->next = std::exchange(ended, t);
        }
        last_.store(left, std::memory_order_release);
        return ended;
    }
    void add(task *t)
    {
        std::unique_lock hold(mutex_);
        t->next = last_.load(std::memory_order_relaxed);
        last_.store(t, std::memory_order_release);
        task *ended = --until_look_ == 0 ? ended_locked() : nullptr;
        hold.unlock();
        join(ended);
    }

  public:
    task_group() = default;
    task_group(const task_group &) = delete;
    task_group &operator=(const task_group &) = delete;
    // Where wait was not called the group is canceled, and waited for.
    ~task_group()
    {
        cancel();
        join_all();
    }
    template <class F> void run(F &&f)
    {
        auto t = std::make_unique<task_of<std::decay_t<F>>>(*this, std::forward<F>(f));
        detail::check(psthread_spawn(&t->thread, nullptr, task::body, static_cast<task *>(t.get())),
                      "psthreads::task_group::run");
        if (t->has_ended.load(std::memory_order_acquire))
            psthread_join(t->thread, nullptr);
        else
            add(t.release());
    }
    // Until all tasks have ended. Afterwards the group is as new.
    task_group_status wait()
    {
        join_all();
        bool was_canceled = canceled_.exchange(false, std::memory_order_relaxed);
        if (error_)
            std::rethrow_exception(std::exchange(error_, nullptr));
        return was_canceled ? canceled : complete;
    }
    // f is called here.
    template <class F> task_group_status run_and_wait(const F &f)
    {
        attempt(f);
        return wait();
    }
    void cancel() noexcept { canceled_.store(true, std::memory_order_relaxed); }
};

} // namespace psthreads

template <class T, class A> struct std::uses_allocator<psthreads::promise<T>, A> : std::true_type {
};
template <> struct std::hash<psthreads::thread::id> {
    std::size_t operator()(psthreads::thread::id i) const noexcept { return std::hash<const void *>()(i.thread_); }
};

#endif // C++20
#endif
