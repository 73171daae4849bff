/* A program without OpenMP opens a library that has it, and thereby the runtime, on a thread of its own; closes it and
 * opens it again. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *use(void *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int (*region)(int) = library ? (int (*)(int))dlsym(library, "library_region") : NULL;
    if (!region || region(5) != 25 || region(3) != 9) {
        fprintf(stderr, "%s: %s\n", (char *)path, region ? "wrong" : dlerror());
        exit(1);
    }
    dlclose(library);
    usleep(5000);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    for (int round = 0; round < 3; round++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, use, argv[1]) != 0)
            return 3;
        pthread_join(thread, NULL);
        use(argv[1]);
    }
    return 0;
}
