/* For 1_code_on_stacks.c. The address of `plus` is a piece of code in the frame of library_add. */
__attribute__((visibility("default"))) long library_add(long mine, long x);

__attribute__((noipa)) static long apply(long (*f)(long), long x) { return f(x); }

long library_add(long mine, long x)
{
    long plus(long y) { return y + mine; }
    return apply(plus, x);
}
