/* Exceptions of a region's first thread that goes on elsewhere, because others hold its kernel thread. They are
 * thrown and caught there, in flight or caught while it waits and goes on, or kept for the next region, and thrown
 * again at home. Its thread_local objects are its own there, and their destructors run once, in it. [KIND] */
#include "away.h"
#include "kinds.h"
#include <atomic>
#include <exception>
#include <stdexcept>
#include <string>

enum { N = 4, ROUNDS = 3 };

static std::atomic<int> made, destroyed;

struct object {
    std::string text = "made";
    pthread_t self = pthread_self();
    object() { made++; }
    ~object()
    {
        CHECK(pthread_equal(self, pthread_self()) && text == "changed");
        destroyed++;
    }
};
static thread_local object one;

static void fail(int value) { throw std::runtime_error(std::to_string(value)); }

struct counted {
    int *left;
    ~counted()
    {
        CHECK(std::uncaught_exceptions() == 1);
        ++*left;
    }
};

static void thrown_there(away *)
{
    int left = 0;
    try {
        counted here{&left};
        fail(42);
    } catch (const std::runtime_error &e) {
        CHECK(std::string(e.what()) == "42" && std::uncaught_exceptions() == 0);
    }
    CHECK(left == 1 && !std::current_exception());
}

static std::exception_ptr kept;
static void keeps(away *)
{
    if (kept) {
        try {
            std::rethrow_exception(kept);
        } catch (const std::runtime_error &e) {
            CHECK(std::string(e.what()) == "7");
        }
    }
    try {
        fail(7);
    } catch (...) {
        kept = std::current_exception();
    }
}

static void in_a_catch(away *)
{
    CHECK(std::current_exception() && std::uncaught_exceptions() == 0);
    try {
        fail(8);
    } catch (const std::runtime_error &e) {
        CHECK(std::string(e.what()) == "8");
    }
    try {
        std::rethrow_exception(std::current_exception());
    } catch (const std::runtime_error &e) {
        CHECK(std::string(e.what()) == "3");
    }
}

static void in_flight(away *) { CHECK(std::uncaught_exceptions() == 1 && !std::current_exception()); }

static void changes(away *)
{
    CHECK(one.text == "made" || one.text == "changed");
    one.text = "changed";
    CHECK(pthread_equal(one.self, pthread_self()));
}

static void trips(void (*body)(away *))
{
    away a;
    away_begin(&a, N, body);
    away_trips(&a, 1);
    away_end(&a);
    fprintf(stderr, "  %ld times elsewhere\n", a.times);
}

static void run_thrown_there() { trips(thrown_there); }
static void run_kept()
{
    trips(keeps);
    try {
        std::rethrow_exception(kept);
    } catch (const std::runtime_error &e) {
        CHECK(std::string(e.what()) == "7");
    }
}
static void run_in_a_catch()
{
    try {
        fail(3);
    } catch (const std::runtime_error &e) {
        trips(in_a_catch);
        CHECK(std::string(e.what()) == "3");
    }
    CHECK(!std::current_exception());
}

struct opens_regions {
    ~opens_regions() { trips(in_flight); }
};
static void run_in_flight()
{
    try {
        opens_regions here;
        fail(5);
    } catch (const std::runtime_error &e) {
        CHECK(std::string(e.what()) == "5");
    }
}

static void *live(void *arg)
{
    trips(changes);
    return arg;
}
static void run_objects()
{
    for (int i = 1; i <= ROUNDS; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, nullptr, live, nullptr) == 0 && pthread_join(thread, nullptr) == 0);
        CHECK(made == i && destroyed == i);
    }
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"thrown_there", run_thrown_there},
                                           {"kept", run_kept},
                                           {"in_a_catch", run_in_a_catch},
                                           {"in_flight", run_in_flight},
                                           {"objects", run_objects}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : nullptr);
    return 0;
}
