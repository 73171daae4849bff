/* See interrupt_program.h. Nothing here is a tail call: the unwinder is to find each function. */
#include "interrupt_program.h"

#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define AS_LONG_AS_IT_TAKES_MS 60000

static struct place *handler_at;
static void (*handler_does)(struct place *at);

void program_spins(struct place *at)
{
    at->there = 1;
    while (!at->go)
        continue;
}

void program_waits(struct place *at)
{
    char c;
    at->there = 1;
    while (read(at->fd, &c, 1) != 1)
        continue;
    at->go = 1;
}

void program_waits_in_time(struct place *at)
{
    struct pollfd file = {.fd = at->fd, .events = POLLIN};
    at->there = 1;
    while (poll(&file, 1, AS_LONG_AS_IT_TAKES_MS) != 1)
        continue;
    at->go = 1;
}

void program_loads(struct place *at)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", at->fd);
    at->there = 1;
    at->go = dlopen(path, RTLD_NOW) == NULL;
}

void program_calls(void (*fn)(struct place *at), struct place *at)
{
    fn(at);
    at->go = 1;
}

void program_handler_is_to(void (*does)(struct place *at), struct place *at)
{
    handler_at = at;
    handler_does = does;
}

void program_handler(int number)
{
    (void)number;
    handler_does(handler_at);
    handler_at->go = 1;
}
