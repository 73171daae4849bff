/* For 9_forked_exit.c: functions with objects whose destructors a thread's end runs. In a library, since a region of a
 * C++ program lets nothing be unwound through it. */
#include <pthread.h>
#include <stdexcept>

#pragma GCC visibility push(default)
extern "C" {
void library_call(char name, void (*then)(void), void (*note)(char));
void library_leave(void (*note)(char));
}

struct object {
    char name;
    void (*note)(char);
    ~object() { note(name); }
};
struct of_thread {
    void (*note)(char);
    ~of_thread()
    {
        if (note)
            note('T');
    }
};
static thread_local of_thread own;

/* Calls a function below an object of this name. */
void library_call(char name, void (*then)(void), void (*note)(char))
{
    object here{name, note};
    try {
        then();
    } catch (const std::exception &) {
        note('?');
    }
    note('?');
}

/* The calling thread ends. */
void library_leave(void (*note)(char))
{
    object here{'c', note};
    own.note = note;
    pthread_exit(&own);
}
