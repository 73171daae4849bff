/* psthread.hpp: async, spawn, futures, promises, packaged tasks, when_all and task groups. */
#include <psthread.hpp>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <list>
#include <memory_resource>
#include <set>
#include <stdexcept>
#include <string>

#define CHECK_END() std::abort()
#include "../check.h"

using namespace std::chrono_literals;
namespace ps = psthreads;

#ifndef STACK_EACH
#define STACK_EACH 0
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static_assert(std::movable<ps::future<int>> && !std::is_copy_constructible_v<ps::future<int>>);
static_assert(std::copyable<ps::shared_future<int>> && std::copyable<ps::shared_future<void>>);
static_assert(std::movable<ps::promise<int>> && !std::is_copy_constructible_v<ps::promise<int>>);
static_assert(std::movable<ps::packaged_task<int()>> && !std::is_copy_constructible_v<ps::packaged_task<int()>>);
static_assert(std::is_nothrow_move_constructible_v<ps::future<void>> &&
              std::is_nothrow_move_assignable_v<ps::promise<int &>>);
static_assert(!std::is_copy_constructible_v<ps::task_group> && !std::is_move_constructible_v<ps::task_group>);
static_assert(std::same_as<decltype(std::declval<ps::shared_future<int>>().get()), const int &>);
static_assert(std::same_as<decltype(std::declval<ps::shared_future<int &>>().get()), int &>);
static_assert(std::same_as<decltype(std::declval<ps::shared_future<void>>().get()), void>);
static_assert(std::uses_allocator_v<ps::promise<int>, std::allocator<int>>);
static_assert(!std::is_invocable_v<decltype([](auto &&p) -> decltype(p.set_value("")) {}), ps::promise<int>>);
static_assert(
    std::same_as<decltype(ps::when_all(std::declval<ps::future<int>>(), std::declval<ps::shared_future<void> &>())),
                 ps::future<std::tuple<ps::future<int>, ps::shared_future<void>>>>);

namespace
{

const int rounds = SANITIZED ? 4 : 200, of_fib = SANITIZED ? 10 : 20;
const long fib_of_it = SANITIZED ? 55 : 6765;

template <class F> bool fails_with(std::future_errc wanted, F f)
{
    try {
        f();
    } catch (const std::future_error &e) {
        return e.code() == wanted;
    }
    return false;
}
template <class F> bool throws_no(F f)
{
    try {
        f();
    } catch (const std::runtime_error &e) {
        return std::string(e.what()) == "no";
    }
    return false;
}
template <class Future> bool is_ready(const Future &f) { return f.wait_for(0s) == ps::future_status::ready; }

/* --- async and spawn --- */

/* How many stacks a recursion runs on, a few more where one reaches across the places that are counted. */
struct stacks {
    ps::mutex m;
    std::set<std::uintptr_t> places;
    void note()
    {
        std::scoped_lock hold(m);
        places.insert(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) / 65536);
    }
};
template <class Start> long fib(Start start, stacks &seen, int n)
{
    seen.note();
    if (n < 2)
        return n;
    auto first = start([=, &seen] { return fib(start, seen, n - 1); });
    long second = fib(start, seen, n - 2);
    return first.get() + second;
}
const auto by_async = [](auto f) { return ps::async(f); };
const auto by_spawn = [](auto f) { return ps::spawn(f); };

/* A thread that has not begun is called by get: else each of the recursion's threads that waits keeps a stack. */
void get_calls_what_has_not_begun(unsigned vps)
{
    stacks of_async, of_spawn;
    CHECK(fib(by_async, of_async, of_fib) == fib_of_it);
    CHECK(fib(by_spawn, of_spawn, of_fib) == fib_of_it);
    if (vps == 1 && !SANITIZED &&
        !STACK_EACH) /* under a sanitizer each has a stack of its own; thieves take as many as they come */
        CHECK(of_async.places.size() < 20 && of_spawn.places.size() < 20);
}

template <class Start> void results(Start start)
{
    CHECK(start([](int a, std::string b) { return std::to_string(a) + b; }, 4, "2").get() == "42");
    auto only = start([](std::unique_ptr<int> p) { return p; }, std::make_unique<int>(5));
    CHECK(*only.get() == 5 && !only.valid());
    int x = 3;
    auto reference = start([&]() -> int & { return x; });
    reference.get() = 4;
    auto by_reference = start([](int &to) { to++; }, std::ref(x));
    by_reference.get();
    CHECK(x == 5);
    struct object {
        int value;
        int get(int more) const { return value + more; }
    };
    CHECK(start(&object::get, object{40}, 2).get() == 42);
    auto throws = start([]() -> int { throw std::runtime_error("no"); });
    CHECK(throws_no([&] { throws.get(); }) && !throws.valid());
    auto ends = start([]() -> int { psthread_exit(nullptr); });
    bool threw = false;
    try {
        ends.get();
    } catch (const std::system_error &e) {
        threw = e.code() == std::errc::operation_canceled;
    }
    CHECK(threw);
    CHECK(fails_with(std::future_errc::no_state, [&] { ends.get(); }));
    CHECK(fails_with(std::future_errc::no_state, [&] { ps::future<int>().wait(); }));

    std::atomic<int> ran{0};
    const auto counts = [&] {
        ps::this_thread::yield();
        ran++;
    };
    start(counts); /* the destructor waits */
    CHECK(ran == 1);
    auto f = start(counts);
    auto g = std::move(f);
    CHECK(!f.valid() && g.valid());
    g = start(counts); /* so does an assignment, for what was there */
    CHECK(ran >= 2);
    CHECK(g.wait_for(10h) == ps::future_status::ready &&
          g.wait_until(std::chrono::system_clock::now() + 10h) == ps::future_status::ready);
    g.wait();
    g.get();
    CHECK(ran == 3);
    std::vector<decltype(start(counts))> many;
    for (int i = 0; i < 10 * rounds; i++)
        many.push_back(start(counts));
    for (auto &one : many)
        one.get();
    CHECK(ran == 3 + 10 * rounds);
}

void an_async_thread_may_wait_for_what_follows()
{
    ps::binary_semaphore go(0);
    auto waits = ps::async([&] {
        go.acquire();
        return 1;
    });
    CHECK(waits.wait_for(1ms) == ps::future_status::timeout);
    CHECK(waits.wait_until(std::chrono::system_clock::now() - 1s) == ps::future_status::timeout);
    go.release();
    CHECK(waits.get() == 1);
}

void a_task_may_not_wait_for_itself()
{
    ps::future<int> own;
    std::atomic<bool> made = false, over = false;
    int error = 0;
    own = ps::async([&] {
        while (!made)
            ps::this_thread::yield();
        try {
            own.get();
        } catch (const std::system_error &e) {
            error = e.code().value();
        }
        over = true;
        return 7;
    });
    made = true;
    while (!over)
        ps::this_thread::yield();
    CHECK(error == EDEADLK && own.get() == 7);
}

void several_may_wait_for_one()
{
    for (int i = 0; i < rounds; i++) {
        std::atomic<int> calls{0}, seen{0};
        ps::shared_future<int> all = ps::async([&] {
                                         ps::this_thread::yield();
                                         return ++calls;
                                     }).share();
        std::vector<ps::jthread> crew;
        for (int k = 0; k < 4; k++)
            crew.emplace_back([&seen, all, k] {
                if (k == 3)
                    CHECK(all.wait_for(10h) == ps::future_status::ready);
                seen += all.get();
            });
        seen += all.get();
        crew.clear();
        CHECK(seen == 5 && calls == 1 && all.valid());
    }
}

/* --- promises --- */

void promises()
{
    ps::promise<std::string> text;
    auto f = text.get_future();
    CHECK(f.valid() && !is_ready(f));
    CHECK(fails_with(std::future_errc::future_already_retrieved, [&] { (void)text.get_future(); }));
    {
        ps::jthread sets([&] { text.set_value("42"); });
        CHECK(f.get() == "42");
    }
    CHECK(fails_with(std::future_errc::promise_already_satisfied, [&] { text.set_value("43"); }));
    CHECK(fails_with(std::future_errc::promise_already_satisfied, [&] { text.set_exception(nullptr); }));

    ps::promise<void> nothing;
    auto done = nothing.get_future();
    nothing.set_value();
    done.get();
    int x = 1;
    ps::promise<int &> reference;
    reference.set_value(x);
    reference.get_future().get() = 2;
    CHECK(x == 2);
    ps::promise<std::unique_ptr<int>> only;
    only.set_value(std::make_unique<int>(7));
    CHECK(*only.get_future().get() == 7);
    ps::promise<std::array<int, 2>> braces;
    braces.set_value({1, 2});
    CHECK(braces.get_future().get()[1] == 2);

    ps::promise<int> fails;
    fails.set_exception(std::make_exception_ptr(std::runtime_error("no")));
    ps::shared_future<int> failed = fails.get_future();
    CHECK(throws_no([&] { failed.get(); }) && throws_no([&] { failed.get(); }));
    ps::future<int> broken;
    {
        ps::promise<int> p;
        broken = p.get_future();
        CHECK(!is_ready(broken));
    }
    CHECK(fails_with(std::future_errc::broken_promise, [&] { broken.get(); }));
    ps::promise<int> a, b;
    auto of_a = a.get_future(), of_b = b.get_future();
    swap(a, b);
    a.set_value(2);
    CHECK(of_b.get() == 2);
    a = std::move(b); /* nothing is broken by it: a was set */
    a.set_value(1);
    CHECK(of_a.get() == 1);
    CHECK(fails_with(std::future_errc::no_state, [&] { b.set_value(3); }));
    CHECK(fails_with(std::future_errc::no_state, [&] { (void)b.get_future(); }));

    struct throws_once {
        int *left;
        explicit throws_once(int *l) : left(l) {}
        throws_once(const throws_once &from) : left(from.left)
        {
            if ((*left)-- > 0)
                throw std::runtime_error("no");
        }
    };
    int left = 1;
    throws_once value(&left);
    ps::promise<throws_once> again;
    CHECK(throws_no([&] { again.set_value(value); })); /* it is not set by that */
    again.set_value(value);
    CHECK(is_ready(again.get_future()));

    std::array<std::byte, 1024> room;
    std::pmr::monotonic_buffer_resource memory(room.data(), room.size(), std::pmr::null_memory_resource());
    ps::promise<int> placed(std::allocator_arg, std::pmr::polymorphic_allocator<int>(&memory));
    placed.set_value(1);
    CHECK(placed.get_future().get() == 1);
}

/* The waiting thread destroys the promise while set_value is on its way back. */
void a_promise_may_go_when_it_is_kept()
{
    for (int i = 0; i < rounds; i++) {
        auto p = std::make_unique<ps::promise<int>>();
        auto f = p->get_future();
        ps::jthread sets([&to = *p, i] { to.set_value(i); });
        CHECK(f.get() == i);
        p.reset();
    }
}

void values_at_thread_exit()
{
    ps::promise<int> value;
    ps::promise<int &> reference;
    ps::promise<void> nothing, fails;
    ps::packaged_task<int(int)> task([](int a) { return a + 1; });
    auto f = value.get_future();
    auto r = reference.get_future();
    auto n = nothing.get_future(), e = fails.get_future();
    auto t = task.get_future();
    int x = 0;
    ps::binary_semaphore all_set(0), go(0);
    ps::thread sets([&] {
        value.set_value_at_thread_exit(1);
        reference.set_value_at_thread_exit(x);
        nothing.set_value_at_thread_exit();
        fails.set_exception_at_thread_exit(std::make_exception_ptr(std::runtime_error("no")));
        task.make_ready_at_thread_exit(2);
        CHECK(fails_with(std::future_errc::promise_already_satisfied, [&] { value.set_value(3); }));
        all_set.release();
        go.acquire();
    });
    all_set.acquire();
    CHECK(!is_ready(f) && !is_ready(r) && !is_ready(n) && !is_ready(e) && !is_ready(t));
    go.release();
    CHECK(f.get() == 1 && &r.get() == &x && t.get() == 3);
    n.get();
    CHECK(throws_no([&] { e.get(); }));
    sets.join();
}

/* --- packaged tasks --- */

int doubled(int a) { return 2 * a; }
void packaged_tasks()
{
    ps::packaged_task task(doubled);
    static_assert(std::same_as<decltype(task), ps::packaged_task<int(int)>>);
    auto f = task.get_future();
    task(21);
    CHECK(f.get() == 42);
    CHECK(fails_with(std::future_errc::promise_already_satisfied, [&] { task(1); }));
    task.reset();
    f = task.get_future();
    ps::packaged_task<int(int)> moved = std::move(task), none;
    CHECK(!task.valid() && moved.valid() && !none.valid());
    CHECK(fails_with(std::future_errc::no_state, [&] { task(1); }));
    CHECK(fails_with(std::future_errc::no_state, [&] { task.reset(); }));
    CHECK(fails_with(std::future_errc::no_state, [&] { (void)none.get_future(); }));
    swap(moved, none);
    ps::thread(std::move(none), 4).join();
    CHECK(f.get() == 8);

    ps::packaged_task deduced([total = 0](int more, const std::string &) mutable { return total += more; });
    static_assert(std::same_as<decltype(deduced), ps::packaged_task<int(int, const std::string &)>>);
    deduced(1, "");
    deduced.reset(); /* the function keeps its values */
    auto total = deduced.get_future();
    deduced(2, "");
    CHECK(total.get() == 3);
    ps::packaged_task<void(std::unique_ptr<int>)> only([own = std::make_unique<int>(1)](std::unique_ptr<int> p) {
        CHECK(*own + *p == 3);
        throw std::runtime_error("no");
    });
    auto failed = only.get_future();
    only(std::make_unique<int>(2));
    CHECK(throws_no([&] { failed.get(); }));
    int x = 0;
    ps::packaged_task<int &()> reference([&]() -> int & { return x; });
    reference();
    CHECK(&reference.get_future().get() == &x);
    ps::future<int> broken;
    {
        ps::packaged_task<int()> never([] { return 1; });
        broken = never.get_future();
    }
    CHECK(fails_with(std::future_errc::broken_promise, [&] { broken.get(); }));
    ps::packaged_task<int()> exits([]() -> int { psthread_exit(nullptr); });
    auto canceled = exits.get_future();
    ps::thread(std::move(exits)).join();
    bool threw = false;
    try {
        canceled.get();
    } catch (const std::system_error &e) {
        threw = e.code() == std::errc::operation_canceled;
    }
    CHECK(threw);
}

/* --- when_all --- */

void all_of_some()
{
    ps::promise<int> p;
    ps::shared_future<void> shared = ps::async([] {});
    auto all = ps::when_all(ps::async([] { return std::string("a"); }), p.get_future(), shared);
    CHECK(all.wait_for(1ms) == ps::future_status::timeout && shared.valid());
    p.set_value(2);
    auto [a, b, c] = all.get();
    CHECK(is_ready(a) && a.get() == "a" && b.get() == 2);
    c.get();
    ps::when_all().get();

    std::list<ps::future<int>> futures;
    for (int i = 0; i < 100; i++)
        futures.push_back(i % 2 ? ps::async([i] { return i; }) : ps::spawn([i]() -> int {
            if (i == 50)
                throw std::runtime_error("no");
            return i;
        }));
    auto many = ps::when_all(futures.begin(), futures.end());
    CHECK(!futures.front().valid());
    ps::shared_future<std::vector<ps::future<int>>> ready = many.share();
    {
        ps::jthread other([ready] { ready.wait(); });
        ready.wait();
    }
    CHECK(ready.get().size() == 100);
    for (const auto &f : ready.get())
        CHECK(is_ready(f));
    auto nested = ps::when_all(ps::when_all(ps::async([] { return 1; })), ps::when_all(ps::spawn([] { return 2; })));
    auto [first, second] = nested.get();
    CHECK(std::get<0>(first.get()).get() + std::get<0>(second.get()).get() == 3);

    futures.clear();
    int sum = 0;
    for (int i = 0; i < 10; i++)
        futures.push_back(ps::spawn([i]() -> int { return i == 5 ? throw std::runtime_error("no") : i; }));
    for (auto &f : ps::when_all(futures.begin(), futures.end()).get())
        try {
            sum += f.get();
        } catch (const std::runtime_error &) {
            sum += 1000;
        }
    CHECK(sum == 1040);
    std::vector<ps::future<int>> none;
    CHECK(ps::when_all(none.begin(), none.end()).get().empty());
}

/* --- task groups --- */

long fib_by_groups(int n)
{
    if (n < 2)
        return n;
    long a = 0, b = 0;
    ps::task_group group;
    group.run([&] { a = fib_by_groups(n - 1); });
    CHECK(group.run_and_wait([&] { b = fib_by_groups(n - 2); }) == ps::complete);
    return a + b;
}

void groups()
{
    CHECK(fib_by_groups(of_fib) == fib_of_it);
    ps::task_group group;
    CHECK(group.wait() == ps::complete);
    std::atomic<int> ran{0};
    std::function<void(int)> adds = [&](int more) { /* each task adds others, and waits for none */
                                                    ran++;
                                                    for (int i = 0; i < more; i++)
                                                        group.run([&adds, more] { adds(more - 1); });
    };
    group.run([&] { adds(SANITIZED ? 4 : 6); });
    CHECK(group.wait() == ps::complete && ran == (SANITIZED ? 65 : 1957));

    ran = 0;
    group.run([&, own = std::make_unique<int>(1)] { ran += *own; });
    group.run([&] {
        ran++;
        psthread_exit(nullptr);
    });
    CHECK(group.run_and_wait([&] { ran++; }) == ps::complete && ran == 3);

    for (int i = 0; i < rounds; i++) { /* an exception cancels; afterwards the group is as new */
        std::atomic<int> last{0};
        for (int k = 0; k < 20; k++)
            group.run([&, k] {
                if (k % 7 == 3)
                    throw std::runtime_error("no");
                last = k;
            });
        CHECK(throws_no([&] { group.wait(); }));
        group.run([&] { last = 100; });
        CHECK(group.wait() == ps::complete && last == 100);
    }
    CHECK(throws_no([&] { group.run_and_wait([] { throw std::runtime_error("no"); }); }));
    ran = 0;
    group.cancel();
    for (int i = 0; i < 10; i++)
        group.run([&] { ran++; });
    CHECK(group.run_and_wait([&] { ran++; }) == ps::canceled && ran == 0);
    group.run([&] { ran++; });
    CHECK(group.wait() == ps::complete && ran == 1);

    std::atomic<bool> ended{false};
    try { /* the tasks end before what they use does */
        int x = 0;
        ps::task_group left;
        left.run([&] {
            ps::this_thread::yield();
            x++;
            ended = true;
        });
        while (!ended)
            ps::this_thread::yield();
        throw std::runtime_error("no");
    } catch (const std::runtime_error &) {
        CHECK(ended);
    }
}

/* Tasks of a group that is not waited for: those that have ended go, as others come. */
void a_group_does_not_grow()
{
    const int num = SANITIZED ? 300 : 3000;
    std::atomic<int> ran{0};
    auto counted = std::make_shared<int>(0);
    ps::task_group group;
    for (int i = 0; i < num; i++)
        group.run([&, counted] { ran++; });
    while (ran < num)
        ps::this_thread::yield();
    while (counted.use_count() > num / 10)
        group.run([] {});
    CHECK(group.wait() == ps::complete && counted.use_count() == 1);
}

} // namespace

int main()
{
    for (unsigned vps = 1; vps <= 4; vps *= 2) {
        psthread_config_t config = {};
        config.num_vps = vps;
        CHECK(psthread_init(&config) == 0);
        get_calls_what_has_not_begun(vps);
        results([](auto &&...parts) { return ps::async(std::forward<decltype(parts)>(parts)...); });
        results([](auto &&...parts) { return ps::spawn(std::forward<decltype(parts)>(parts)...); });
        an_async_thread_may_wait_for_what_follows();
        a_task_may_not_wait_for_itself();
        several_may_wait_for_one();
        promises();
        a_promise_may_go_when_it_is_kept();
        values_at_thread_exit();
        packaged_tasks();
        all_of_some();
        groups();
        a_group_does_not_grow();
        CHECK(psthread_finalize() == 0);
    }
    return 0;
}
