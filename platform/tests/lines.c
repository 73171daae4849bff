// The linker discards functions of this file; the others are in another one that stands before it in memory.
int never_called(int x);
int never_called(int x)
{
    int s = 0;
    for (int i = 0; i < x; i++)
        s += i * x;
    return s;
}
int called(int x);
int called(int x) { return x + 1; }
