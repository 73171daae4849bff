/* A library opened late, with thread-local storage of the model that MODEL names. "global-dynamic": a block of its own.
 * "initial-exec": a place in the static block of every thread that there is already, for which the dynamic linker has
 * little room. */
#pragma GCC visibility push(default)

#define OWN __thread __attribute__((tls_model(MODEL)))
static OWN int array[SIZE] = {17, [SIZE - 1] = 19};
static OWN int number = 23;
static OWN int zero;

int library_initial(void);
int library_set(int value);
int library_get(void);

int library_initial(void)
{
    return array[0] == 17 && array[SIZE - 1] == 19 && !array[SIZE / 2] && number == 23 && !zero;
}

int library_get(void) { return array[SIZE / 2] == -number && zero == number ? number : -1; }

int library_set(int value)
{
    array[SIZE / 2] = -value;
    number = zero = value;
    return library_get();
}
