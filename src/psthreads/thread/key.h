/* Thread-specific values: the part that other files of this folder call. */
#ifndef PS_KEY_H
#define PS_KEY_H

/* Runs the destructors of a thread that ends, and frees the table to which *slot (ps_thread_keys_slot) points. *slot is
 * NULL afterwards. Called by the ending thread itself, because destructors are code of the program: they may set values
 * again, and may switch threads. */
void ps_keys_run_destructors(void **slot);

#endif
