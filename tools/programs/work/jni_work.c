/* The native half of JniWork.java. Members of teams attach to the virtual machine to call its methods. */
#include "kernel.h"

#include <jni.h>

struct callee {
    JavaVM *vm;
    jclass class;
    jmethodID method;
};

static long call_java(void *context, int i)
{
    const struct callee *callee = context;
    JNIEnv *env;
    /* one that is attached already (the caller) stays so */
    int attached = (*callee->vm)->GetEnv(callee->vm, (void **)&env, JNI_VERSION_1_8) == JNI_OK;
    if (!attached && (*callee->vm)->AttachCurrentThread(callee->vm, (void **)&env, NULL))
        return -1000000;
    long result = (*env)->CallStaticIntMethod(env, callee->class, callee->method, i);
    if (!attached)
        (*callee->vm)->DetachCurrentThread(callee->vm);
    return result;
}

JNIEXPORT jdouble JNICALL Java_JniWork_dot(JNIEnv *env, jclass class, jint n, jint passes)
{
    (void)env;
    (void)class;
    return kernel_dot(n, passes);
}

JNIEXPORT jlong JNICALL Java_JniWork_tree(JNIEnv *env, jclass class, jint n)
{
    (void)env;
    (void)class;
    return kernel_tree(n);
}

JNIEXPORT jlong JNICALL Java_JniWork_each(JNIEnv *env, jclass class, jint n)
{
    struct callee callee = {.class = class, .method = (*env)->GetStaticMethodID(env, class, "digits", "(I)I")};
    if (!callee.method || (*env)->GetJavaVM(env, &callee.vm))
        return -1;
    return kernel_each(n, call_java, &callee);
}
