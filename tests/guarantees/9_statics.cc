/* A function's static object is made once, by one thread, and no thread sees it before it is made, however long its
 * constructor takes; one whose constructor throws is tried again by the next. Built with libstdc++ and, where it is
 * there, with libc++, whose guard asks the kernel for the thread's number. std::call_once, std::recursive_mutex,
 * std::shared_mutex and std::timed_mutex beside them. 9_statics computing|blocked|runtime [loaded|KIND] */
#include "contend.h"
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>

enum { ROUNDS = 4 };
static int round_now = -1, made, thrown;

/* The first thread makes it and becomes the owner. */
static void stay()
{
    int owner = contend.owner;
    contend.owner_came = 0;
    contend.owner = omp_get_thread_num();
    contend_stay();
    contend.owner = owner;
}

struct slow {
    int value;
    slow(bool throws = false) : value(0)
    {
        stay();
        if (throws && !thrown++)
            throw std::runtime_error("again");
        value = 7;
        made++;
    }
};

template <int N> struct plain {
    static slow &get()
    {
        static slow object;
        return object;
    }
};
template <int N> struct outer {
    int value;
    outer() : value(plain<100 + N>::get().value) { compute_ms(1); }
    static outer &get()
    {
        static outer object;
        return object;
    }
};
template <int N> struct throwing {
    static slow &get()
    {
        static slow object(true);
        return object;
    }
};
template <int N> static int get_throwing()
{
    for (;;)
        try {
            return throwing<N>::get().value;
        } catch (const std::runtime_error &) {
        }
}

#define BY_ROUND(what) (round_now == 0 ? what(0) : round_now == 1 ? what(1) : round_now == 2 ? what(2) : what(3))
#define PLAIN(n) plain<n>::get().value
#define OUTER(n) outer<n>::get().value
#define THROWING(n) get_throwing<n>()

static void visit_plain() { CHECK(BY_ROUND(PLAIN) == 7 && made == 1); }
static void visit_nested() { CHECK(BY_ROUND(OUTER) == 7 && made == 1); }
static void visit_throwing() { CHECK(BY_ROUND(THROWING) == 7 && made == 1 && thrown >= 1); }

static std::once_flag once[ROUNDS];
static void visit_once()
{
    std::call_once(once[round_now], [] {
        stay();
        made++;
    });
    CHECK(made == 1);
}

static std::recursive_mutex recursive;
static void visit_recursive()
{
    std::lock_guard<std::recursive_mutex> lock(recursive), again(recursive);
    contend_stay();
}
static std::recursive_timed_mutex timed;
static void visit_timed()
{
    std::unique_lock<std::recursive_timed_mutex> lock(timed, std::defer_lock);
    CHECK(lock.try_lock_for(std::chrono::seconds(30)));
    std::lock_guard<std::recursive_timed_mutex> again(timed);
    contend_stay();
}
static std::shared_mutex shared;
static void visit_shared()
{
    std::unique_lock<std::shared_mutex> lock(shared);
    contend_stay();
}

static const struct kind {
    const char *name;
    void (*visit)();
} kinds[] = {{"static", visit_plain},   {"static_nested", visit_nested}, {"static_throwing", visit_throwing},
             {"call_once", visit_once}, {"recursive", visit_recursive},  {"timed", visit_timed},
             {"shared", visit_shared}};

static void begin_round()
{
    round_now++;
    made = thrown = 0;
}

static enum contend_hold hold;
static const char *name(int i) { return kinds[i].name; }
static void run(int i) { contend_rounds(4, ROUNDS, hold, begin_round, kinds[i].visit); }

int main(int argc, char **argv)
{
    const char *only = contend_arguments(argc, argv, 1, &hold);
    in_a_process_each(sizeof kinds / sizeof kinds[0], name, run, only);
    return 0;
}
