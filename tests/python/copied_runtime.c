/* The runtime that a wheel brings, as far as computes.c needs one: its regions have one member. */
void GOMP_parallel(void (*fn)(void *), void *data, unsigned num_threads, unsigned flags);

void GOMP_parallel(void (*fn)(void *), void *data, unsigned num_threads, unsigned flags)
{
    (void)num_threads;
    (void)flags;
    fn(data);
}
