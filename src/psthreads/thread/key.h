/* Thread-specific values, as thread.c needs them. */
#ifndef PS_KEY_H
#define PS_KEY_H

/* Runs the destructors of a thread that ends, and gives back what *slot (ps_thread_keys_slot) points to; *slot is NULL
 * afterwards. Called by the thread itself, since destructors are the program's code: they may set values again, and
 * switch. */
void ps_keys_run_destructors(void **slot);

#endif
