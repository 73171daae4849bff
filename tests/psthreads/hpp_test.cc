/* psthread.hpp: the named requirements as the compiler sees them, and each type at work. */
#include <psthread.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <vector>

#define CHECK_END() std::abort()
#include "../check.h"

using namespace std::chrono_literals;
namespace ps = psthreads;

template <class L>
concept basic_lockable = requires(L &l)
{
    l.lock();
    l.unlock();
};
template <class L>
concept lockable = basic_lockable<L> && requires(L &l)
{
    {
        l.try_lock()
        } -> std::same_as<bool>;
};
template <class L>
concept timed_lockable = lockable<L> && requires(L &l)
{
    {
        l.try_lock_for(1ms)
        } -> std::same_as<bool>;
    {
        l.try_lock_until(std::chrono::steady_clock::now())
        } -> std::same_as<bool>;
    {
        l.try_lock_until(std::chrono::system_clock::now())
        } -> std::same_as<bool>;
};
template <class L>
concept shared_lockable = requires(L &l)
{
    l.lock_shared();
    l.unlock_shared();
    {
        l.try_lock_shared()
        } -> std::same_as<bool>;
};
template <class T>
concept pinned = !std::is_copy_constructible_v<T> && !std::is_move_constructible_v<T> && !std::is_copy_assignable_v<T>;
template <class T>
concept movable_only = std::movable<T> && !std::is_copy_constructible_v<T>;

static_assert(lockable<ps::mutex> && pinned<ps::mutex> && std::is_default_constructible_v<ps::mutex>);
static_assert(timed_lockable<ps::timed_mutex> && pinned<ps::timed_mutex>);
static_assert(lockable<ps::shared_mutex> && shared_lockable<ps::shared_mutex> && pinned<ps::shared_mutex>);
static_assert(timed_lockable<ps::shared_timed_mutex> && shared_lockable<ps::shared_timed_mutex>);
static_assert(pinned<ps::condition_variable> && pinned<ps::condition_variable_any> && pinned<ps::once_flag>);
static_assert(pinned<ps::latch> && pinned<ps::barrier<>> && pinned<ps::binary_semaphore>);
static_assert(movable_only<ps::thread> && movable_only<ps::jthread> && movable_only<ps::future<int>>);
static_assert(std::is_nothrow_move_constructible_v<ps::thread> && std::is_nothrow_default_constructible_v<ps::thread>);
static_assert(std::totally_ordered<ps::thread::id> && std::is_trivially_copyable_v<ps::thread::id>);
static_assert(std::is_default_constructible_v<std::hash<ps::thread::id>>);
static_assert(std::is_move_constructible_v<ps::barrier<>::arrival_token>);
static_assert(!std::is_constructible_v<ps::thread, int>);
constinit ps::mutex constant_initialised;
constinit ps::condition_variable constant_initialised_too;
constinit ps::shared_mutex and_this;
constinit ps::once_flag and_that;

namespace
{

template <class M> void exclusion(M &m)
{
    int inside = 0, sum = 0;
    std::vector<ps::jthread> crew;
    for (int i = 0; i < 16; i++)
        crew.emplace_back([&] {
            for (int j = 0; j < 50; j++) {
                std::unique_lock hold(m);
                CHECK(inside++ == 0);
                if (j % 4 == 0)
                    ps::this_thread::yield();
                inside--;
                sum++;
            }
        });
    crew.clear();
    CHECK(sum == 16 * 50);
}

void threads()
{
    ps::thread none;
    CHECK(!none.joinable() && none.get_id() == ps::thread::id());
    bool threw = false;
    try {
        none.join();
    } catch (const std::system_error &e) {
        threw = e.code() == std::errc::invalid_argument;
    }
    CHECK(threw);
    auto only = std::make_unique<int>(41);
    int result = 0;
    ps::thread t([](std::unique_ptr<int> p, int &out, std::string s) { out = *p + int(s.size()); }, std::move(only),
                 std::ref(result), "x");
    ps::thread moved = std::move(t);
    CHECK(!t.joinable() && moved.joinable() && moved.get_id() != ps::this_thread::get_id());
    std::ostringstream text;
    text << moved.get_id();
    CHECK(!text.str().empty());
    moved.join();
    CHECK(result == 42 && !moved.joinable());
    std::unordered_set<ps::thread::id> ids{ps::this_thread::get_id(), ps::thread::id()};
    CHECK(ids.size() == 2);
    CHECK(ps::thread::hardware_concurrency() == psthread_num_vps());
    std::atomic<bool> ran{false};
    ps::thread([&] { ran = true; }).detach();
    while (!ran)
        ps::this_thread::yield();
    struct member {
        int value = 0;
        void set(int v) { value = v; }
    } m;
    ps::thread(&member::set, &m, 7).join();
    CHECK(m.value == 7);
}

/* libstdc++'s stop_callback knows threads by pthread_self, which user-level threads share where a sanitizer has them
 * share thread-local storage: there it takes one for another. ThreadSanitizer, which does not, reports that. */
#if !defined(__SANITIZE_THREAD__)
void stop_tokens()
{
    std::atomic<int> rounds{0};
    ps::mutex m;
    ps::condition_variable_any cond;
    bool stopped = false;
    {
        ps::jthread worker([&](std::stop_token token) {
            std::unique_lock hold(m);
            stopped = !cond.wait(hold, token, [] { return false; });
        });
        ps::jthread polls(
            [&](std::stop_token token, int step) {
                while (!token.stop_requested()) {
                    rounds += step;
                    ps::this_thread::yield();
                }
            },
            2);
        while (rounds < 20)
            ps::this_thread::yield();
    }
    CHECK(stopped && rounds % 2 == 0);
    const auto never = [] { return false; };
    std::stop_source source;
    std::unique_lock hold(m);
    CHECK(!cond.wait_for(hold, source.get_token(), 1ms, never) && hold.owns_lock());
    CHECK(cond.wait_until(hold, source.get_token(), std::chrono::system_clock::now() - 1s, [] { return true; }));
    ps::thread stops([&] {
        std::scoped_lock inside(m); // the other one waits by now
        source.request_stop();
    });
    CHECK(!cond.wait_for(hold, source.get_token(), 10h, never) && source.stop_requested());
    hold.unlock();
    stops.join();
    ps::jthread a([] {}), b = std::move(a);
    CHECK(!a.joinable());
    b = ps::jthread([] {});
    CHECK(b.request_stop() && !b.request_stop());
}
#endif

void conditions()
{
    ps::mutex m;
    ps::condition_variable cond;
    int turn = 0;
    {
        ps::jthread other([&] {
            for (int i = 0; i < 100; i++) {
                std::unique_lock hold(m);
                cond.wait(hold, [&] { return turn % 2 == 1; });
                turn++;
                cond.notify_one();
            }
        });
        for (int i = 0; i < 100; i++) {
            std::unique_lock hold(m);
            turn++;
            cond.notify_one();
            cond.wait(hold, [&] { return turn % 2 == 0; });
        }
    }
    CHECK(turn == 200);
    std::unique_lock hold(m);
    auto at = std::chrono::steady_clock::now() + 2ms;
    CHECK(cond.wait_until(hold, at) == ps::cv_status::timeout && std::chrono::steady_clock::now() >= at);
    CHECK(!cond.wait_for(hold, 1ms, [] { return false; }));
    auto wall = std::chrono::system_clock::now() + 2ms;
    CHECK(cond.wait_until(hold, wall) == ps::cv_status::timeout && std::chrono::system_clock::now() >= wall);
    ps::shared_mutex shared; /* any lock */
    ps::condition_variable_any any;
    std::shared_lock reads(shared);
    CHECK(any.wait_for(reads, 1ms) == ps::cv_status::timeout && reads.owns_lock());
}

void timed()
{
    ps::timed_mutex m;
    ps::shared_timed_mutex s;
    m.lock();
    s.lock_shared();
    ps::thread([&] {
        auto at = std::chrono::steady_clock::now() + 2ms;
        CHECK(!m.try_lock_until(at) && std::chrono::steady_clock::now() >= at);
        CHECK(!m.try_lock_for(-1s) && !s.try_lock_for(1ms));
        CHECK(s.try_lock_shared_for(1h));
        s.unlock_shared();
    }).join();
    s.unlock_shared();
    m.unlock();
    CHECK(m.try_lock_for(std::chrono::hours(24 * 365 * 1000L)));
    /* times that no clock tells: each is over, or never comes */
    ps::thread([&] {
        using std::chrono::nanoseconds, std::chrono::steady_clock, std::chrono::system_clock;
        CHECK(!m.try_lock_for(nanoseconds::min()) && !m.try_lock_for(std::chrono::seconds(-10'000'000'000)));
        CHECK(!m.try_lock_for(std::chrono::hours::min()) && !m.try_lock_for(std::chrono::duration<double>(-1e300)));
        CHECK(!m.try_lock_for(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())));
        CHECK(!m.try_lock_until(steady_clock::time_point::min()) && !m.try_lock_until(system_clock::time_point::min()));
        ps::this_thread::sleep_for(nanoseconds::min());
        ps::this_thread::sleep_until(steady_clock::time_point::min());
        ps::binary_semaphore none(0);
        CHECK(!none.try_acquire_for(nanoseconds::min()));
        CHECK(s.try_lock_until(steady_clock::time_point::max()));
        s.unlock();
        CHECK(s.try_lock_shared_for(std::chrono::duration<double>(1e300)));
        s.unlock_shared();
    }).join();
    m.unlock();
    auto before = std::chrono::steady_clock::now();
    ps::this_thread::sleep_for(2ms);
    CHECK(std::chrono::steady_clock::now() - before >= 2ms);
}

void meetings()
{
    ps::counting_semaphore<> sem(2);
    std::atomic<int> inside{0}, done{0};
    ps::latch all(8), go(1);
    int phases = 0;
    std::atomic<int> came{0};
    ps::barrier sync(8, [&]() noexcept { phases++; });
    std::vector<ps::jthread> crew;
    for (int i = 0; i < 8; i++)
        crew.emplace_back([&, i] {
            all.count_down();
            go.wait();
            for (int j = 0; j < 20; j++) {
                sem.acquire();
                CHECK(++inside <= 2);
                ps::this_thread::yield();
                inside--;
                sem.release();
                came++;
                sync.arrive_and_wait();
                CHECK(came >= 8 * (j + 1) - (i == 7 ? 0 : j));
            }
            if (i == 7)
                sync.arrive_and_drop();
            else
                sync.arrive_and_wait();
            done++;
        });
    all.wait();
    CHECK(all.try_wait() && done == 0);
    go.arrive_and_wait();
    crew.clear();
    CHECK(done == 8 && phases == 21);
    ps::binary_semaphore none(0);
    CHECK(!none.try_acquire() && !none.try_acquire_for(1ms));
    none.release();
    CHECK(none.try_acquire());
}

void asynchronous()
{
    auto sum = [](auto self, const std::vector<int> &v, std::size_t from, std::size_t to) -> int {
        if (to - from < 50)
            return std::accumulate(v.begin() + long(from), v.begin() + long(to), 0);
        auto left = ps::async([&] { return self(self, v, from, (from + to) / 2); });
        int right = self(self, v, (from + to) / 2, to);
        return left.get() + right;
    };
    std::vector<int> v(5000);
    std::iota(v.begin(), v.end(), 0);
    CHECK(sum(sum, v, 0, v.size()) == 4999 * 5000 / 2);
    auto throws = ps::async([]() -> int { throw std::runtime_error("no"); });
    bool threw = false;
    try {
        throws.get();
    } catch (const std::runtime_error &e) {
        threw = std::string(e.what()) == "no";
    }
    CHECK(threw && !throws.valid());
    int x = 3;
    auto reference = ps::async([&]() -> int & { return x; });
    reference.get() = 4;
    CHECK(x == 4);
    auto nothing = ps::async([](std::unique_ptr<int> p) { CHECK(*p == 5); }, std::make_unique<int>(5));
    nothing.wait();
    CHECK(nothing.wait_for(1h) == ps::future_status::ready);
    nothing.get();
    auto ends = ps::async([]() -> int { psthread_exit(nullptr); });
    threw = false;
    try {
        ends.get();
    } catch (const std::system_error &e) {
        threw = e.code() == std::errc::operation_canceled;
    }
    CHECK(threw);
}

void once()
{
    ps::once_flag flag;
    int calls = 0;
    std::atomic<int> thrown{0};
    {
        std::vector<ps::jthread> crew;
        for (int i = 0; i < 8; i++)
            crew.emplace_back([&] {
                try {
                    ps::call_once(
                        flag,
                        [&](int n) {
                            ps::this_thread::yield();
                            if (++calls < n)
                                throw std::runtime_error("again");
                        },
                        3);
                } catch (const std::runtime_error &) {
                    thrown++;
                }
            });
    }
    CHECK(calls == 3 && thrown == 2);
}

#if !defined(__SANITIZE_THREAD__)
/* A lock whose unlock lets others run. */
struct lock_that_yields {
    ps::mutex m;
    std::function<void()> meanwhile = [] {};
    void lock() { m.lock(); }
    void unlock()
    {
        m.unlock();
        meanwhile();
    }
};

/* One thread is in the callback of a request to stop. Another one leaves the wait that the callback is of, on the only
 * vp, while a third one is about to wait. The callback must not wait for another thread, since the leaving thread waits
 * for it with the vp in hand. */
void a_stop_waits_for_nobody()
{
    ps::condition_variable_any cond;
    std::stop_source source;
    std::atomic<bool> waits{false}, is_asked{false}, about_to_wait{false}, left{false};
    ps::jthread leaves([&] {
        ps::mutex m;
        std::unique_lock hold(m);
        CHECK(cond.wait(hold, source.get_token(), [&] {
            waits = true;
            while (!is_asked || !about_to_wait)
                ps::this_thread::yield();
            ps::this_thread::yield(); /* the asking thread has come to the callback */
            return true;
        }));
        left = true;
    });
    ps::jthread is_about([&] {
        lock_that_yields lock;
        lock.meanwhile = [&] {
            about_to_wait = true;
            while (!left)
                ps::this_thread::yield();
        };
        while (!waits)
            ps::this_thread::yield();
        std::unique_lock hold(lock);
        cond.wait_for(hold, 1ms);
        lock.meanwhile = [] {};
    });
    while (!about_to_wait)
        ps::this_thread::yield();
    is_asked = true;
    source.request_stop();
}

void on_one_vp_without_spares()
{
    psthread_config_t config = {};
    config.num_vps = 1;
    config.max_spares = PSTHREAD_NO_SPARES;
    CHECK(psthread_init(&config) == 0);
    ps::thread(a_stop_waits_for_nobody).join();
    CHECK(psthread_finalize() == 0);
}
#endif

} // namespace

int main()
{
    for (unsigned vps = 1; vps <= 4; vps *= 2) {
        psthread_config_t config = {};
        config.num_vps = vps;
        CHECK(psthread_init(&config) == 0);
        threads();
#if !defined(__SANITIZE_THREAD__)
        stop_tokens();
#endif
        ps::mutex m;
        exclusion(m);
        ps::shared_mutex s;
        exclusion(s);
        conditions();
        timed();
        meetings();
        asynchronous();
        once();
        {
            std::scoped_lock both(m, constant_initialised);
        }
        CHECK(psthread_finalize() == 0);
    }
#if !defined(__SANITIZE_THREAD__)
    on_one_vp_without_spares();
#endif
    return 0;
}
