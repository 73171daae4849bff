/* What os.interrupt's test calls as code of the program's: an object of its own that is loaded, while the test itself
 * holds the runtime's. An object of the same source is linked to the test: the runtime is bound to that. */
#ifndef PS_INTERRUPT_PROGRAM_H
#define PS_INTERRUPT_PROGRAM_H

struct place {
    volatile int there, go; /* the code has arrived; it may go on */
    int fd;                 /* that the waits read a byte from */
};

void program_spins(struct place *at);
void program_waits(struct place *at);
void program_waits_in_time(struct place *at); /* a call with a time limit */
/* Inside the dynamic linker, which reads the header of a library from file at->fd. */
void program_loads(struct place *at);
/* Calls fn(at) in its own name. */
void program_calls(void (*fn)(struct place *at), struct place *at);
/* A signal handler, once it is told what it does. */
void program_handler_is_to(void (*does)(struct place *at), struct place *at);
void program_handler(int number);

#endif
