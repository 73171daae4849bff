/* Needs no OpenMP runtime itself; loads a library that does, as an interpreter would. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*plugin)(void) = library ? (int (*)(void))dlsym(library, "plugin") : NULL;
    if (!plugin) {
        fprintf(stderr, "host: %s\n", dlerror());
        return 99;
    }
    return plugin();
}
