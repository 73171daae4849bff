/* C++ in threads of the library: destructors at psthread_exit, exceptions out of psthread_once, exceptions across
 * switches. */
#include "psthread.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK_END() std::abort()
#include "../check.h"

namespace
{

std::atomic<int> alive{0}, destroyed{0};
struct object {
    bool yields;
    explicit object(bool y = false) : yields(y) { alive++; }
    ~object()
    {
        if (yields)
            for (int i = 0; i < 5; i++)
                psthread_yield();
        alive--;
        destroyed++;
    }
    object(const object &) = delete;
    object &operator=(const object &) = delete;
};

psthread_t submit(void *(*fn)(void *), void *arg)
{
    psthread_t t;
    CHECK(psthread_create(&t, nullptr, fn, arg) == 0);
    CHECK(psthread_enqueue(t, PSTHREAD_VP_ANY) == 0);
    return t;
}

int deep(int depth, void *result)
{
    object o(depth % 3 == 0);
    if (depth < 0)
        return 0;
    try {
        if (depth > 0)
            return deep(depth - 1, result) + 1;
        else
            psthread_exit(result);
    } catch (const std::exception &) { /* not for it */
        std::abort();
    }
}
void *exits(void *arg)
{
    object o;
    deep(10, arg);
    return nullptr;
}
void destructors_run_at_exit()
{
    destroyed = 0;
    for (int i = 0; i < 50; i++) {
        psthread_t t[4];
        for (auto &one : t)
            one = submit(exits, &alive);
        for (auto &one : t) {
            void *result;
            CHECK(psthread_join(one, &result) == 0 && result == &alive);
        }
    }
    CHECK(alive == 0 && destroyed == 50 * 4 * 12);
}

void exits_in_piece(void *)
{
    object o(true);
    deep(5, nullptr);
}
void destructors_run_in_pieces()
{
    for (int stack = 0; stack < 2; stack++) {
        psthread_workqueue_t q;
        CHECK(psthread_workqueue_init(&q) == 0);
        destroyed = 0;
        auto piece = stack ? exits_in_piece : [](void *) {
            object o;
            psthread_exit(nullptr);
        };
        for (int i = 0; i < 20; i++)
            CHECK(psthread_workqueue_add(q, piece, nullptr, stack) == 0);
        CHECK(psthread_workqueue_wait(q) == 0);
        CHECK(alive == 0 && destroyed == (stack ? 20 * 7 : 20));
        CHECK(psthread_workqueue_destroy(q) == 0);
    }
}

psthread_once_t once;
std::atomic<int> attempts{0}, thrown{0};
void throws_twice()
{
    object o;
    for (int i = 0; i < 5; i++)
        psthread_yield();
    int n = ++attempts;
    if (n == 1)
        throw std::runtime_error("first");
    if (n == 2)
        psthread_exit(nullptr);
}
void *calls_once(void *)
{
    try {
        psthread_once(&once, throws_twice);
    } catch (const std::runtime_error &) {
        thrown++;
    }
    return nullptr;
}
void once_is_open_again()
{
    for (int round = 0; round < 20; round++) {
        once = PSTHREAD_ONCE_INIT;
        attempts = thrown = 0;
        psthread_t t[6];
        for (auto &one : t)
            one = submit(calls_once, nullptr);
        for (auto &one : t)
            CHECK(psthread_join(one, nullptr) == 0);
        CHECK(attempts == 3 && thrown == 1 && alive == 0);
    }
    once = PSTHREAD_ONCE_INIT;
    attempts = 0;
    calls_once(nullptr); /* in a root, too */
    CHECK(attempts == 1);
    attempts = 2;
    calls_once(nullptr);
    CHECK(attempts == 3);
}

void *catches_across_yields(void *arg)
{
    long id = reinterpret_cast<long>(arg);
    for (int i = 0; i < 20; i++) {
        try {
            throw id * 1000 + i;
        } catch (long outer) {
            for (int j = 0; j < 3; j++)
                psthread_yield();
            try {
                throw static_cast<int>(id);
            } catch (int inner) {
                psthread_yield();
                CHECK(inner == id);
            }
            try {
                psthread_yield();
                throw; /* the outer one, again */
            } catch (long again) {
                CHECK(again == outer && outer == id * 1000 + i);
            }
        }
        CHECK(std::uncaught_exceptions() == 0);
    }
    return nullptr;
}
void exceptions_move_with_their_thread()
{
    psthread_t t[8];
    for (long i = 0; i < 8; i++)
        t[i] = submit(catches_across_yields, reinterpret_cast<void *>(i));
    for (auto &one : t)
        CHECK(psthread_join(one, nullptr) == 0);
}

/* Plain data behind each of the C objects: what a race detector must see as ordered. */
constexpr unsigned CREW = 8;
psthread_barrier_t barrier;
long cell[CREW];
void *meets(void *arg)
{
    auto id = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(arg));
    for (long phase = 1; phase <= 30; phase++) {
        cell[id] = phase * 10 + id;
        psthread_barrier_wait(barrier, id);
        for (unsigned i = 0; i < CREW; i++)
            CHECK(cell[i] == phase * 10 + i);
        psthread_barrier_wait(barrier, id);
    }
    return nullptr;
}
psthread_monitor_t monitor = PSTHREAD_MONITOR_INITIALIZER;
unsigned turn;
void *takes_turns(void *arg)
{
    auto id = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(arg));
    for (int i = 0; i < 20; i++) {
        psthread_monitor_enter(&monitor);
        while (turn % CREW != id)
            psthread_monitor_wait(&monitor);
        turn++;
        psthread_monitor_notify_all(&monitor);
        psthread_monitor_leave(&monitor);
    }
    return nullptr;
}
psthread_spin_t spin = PSTHREAD_SPIN_INITIALIZER;
long spun;
void *spins(void *)
{
    for (int i = 0; i < 100; i++) {
        psthread_spin_lock(&spin);
        spun++;
        psthread_spin_unlock(&spin);
    }
    return nullptr;
}
psthread_key_t key;
void destroys(void *value)
{
    auto *v = static_cast<long *>(value);
    *v += 1;
}
long of_thread[CREW];
void *has_value(void *arg)
{
    auto *v = static_cast<long *>(arg);
    *v = 41;
    psthread_setspecific(key, v);
    psthread_yield();
    return nullptr;
}
void objects_order_what_they_guard()
{
    psthread_t t[CREW];
    void *(*const body[])(void *) = {meets, takes_turns, spins};
    CHECK(psthread_barrier_init(&barrier, CREW) == 0);
    turn = 0;
    spun = 0;
    for (auto *fn : body) {
        for (std::uintptr_t i = 0; i < CREW; i++)
            t[i] = submit(fn, reinterpret_cast<void *>(i));
        for (auto &one : t)
            CHECK(psthread_join(one, nullptr) == 0);
    }
    CHECK(psthread_barrier_destroy(barrier) == 0);
    CHECK(turn == CREW * 20 && spun == CREW * 100);
    CHECK(psthread_key_create(&key, destroys) == 0);
    for (auto &v : of_thread)
        submit(has_value, &v);
    psthread_waitall();
    for (long v : of_thread)
        CHECK(v == 42);
    CHECK(psthread_key_delete(key) == 0);
}

struct throws_at_end {
    throws_at_end() = default;
    throws_at_end(const throws_at_end &) = delete;
    throws_at_end &operator=(const throws_at_end &) = delete;
    ~throws_at_end() noexcept(false) { throw std::runtime_error("out of an object of a thread"); }
};
psthread_key_t of_thrower;
thread_local int here;
void *where_is_here(void *) { return &here; }

void *throws(void *) { throw std::runtime_error("out of a thread"); }
void *leaves_object(void *arg)
{
    static thread_local throws_at_end object;
    (void)&object;
    return arg;
}
void *leaves_value(void *arg)
{
    psthread_setspecific(of_thrower, &of_thrower);
    return arg;
}

/* They end the program, as an exception that leaves a std::thread's function does: a thread that runs this one as a
 * call on its own stack does not get it. Destructors of a thread-local object and of a key's value are part of the
 * thread. */
void exceptions_do_not_leave_their_thread()
{
    void *(*const bodies[])(void *) = {throws, leaves_object, leaves_value};
    for (auto *body : bodies)
        for (int spawned = 0; spawned < 2; spawned++) {
            pid_t child = fork();
            if (child == 0) {
                psthread_config_t config = {};
                config.num_vps = 1;
                CHECK(psthread_init(&config) == 0);
                CHECK(psthread_key_create(&of_thrower, [](void *) { throw std::runtime_error("out of a key"); }) == 0);
                void *where = nullptr;
                CHECK(psthread_join(submit(where_is_here, nullptr), &where) == 0);
                if (body == leaves_object && (where == &here || spawned)) /* the object is its caller's, too */
                    _exit(42);
                std::set_terminate([] { _exit(std::current_exception() ? 42 : 1); });
                try {
                    psthread_t t;
                    if (spawned)
                        psthread_spawn(&t, nullptr, body, nullptr);
                    else
                        t = submit(body, nullptr);
                    psthread_join(t, nullptr);
                } catch (...) {
                    _exit(2);
                }
                _exit(3);
            }
            int status = 0;
            CHECK(waitpid(child, &status, 0) == child);
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
        }
}

} // namespace

int main()
{
    exceptions_do_not_leave_their_thread(); /* first: children of a process with one thread */
    for (unsigned vps = 1; vps <= 4; vps *= 2) {
        psthread_config_t config = {};
        config.num_vps = vps;
        CHECK(psthread_init(&config) == 0);
        destructors_run_at_exit();
        destructors_run_in_pieces();
        once_is_open_again();
        exceptions_move_with_their_thread();
        objects_order_what_they_guard();
        CHECK(psthread_finalize() == 0);
    }
    return 0;
}
