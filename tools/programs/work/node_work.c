/* A native addon of Node: OpenMP in the call itself, and in work for Node's pool of threads, several at a time. */
#include "kernel.h"

#include <node_api.h>
#include <stdlib.h>

struct job {
    napi_async_work work;
    napi_deferred promise;
    int n;
    double result;
};

static int number(napi_env env, napi_callback_info info)
{
    napi_value argument;
    size_t count = 1;
    int n = 0;
    napi_get_cb_info(env, info, &count, &argument, NULL, NULL);
    napi_get_value_int32(env, argument, &n);
    return n;
}

static napi_value call_tree(napi_env env, napi_callback_info info)
{
    napi_value result;
    napi_create_double(env, (double)kernel_tree(number(env, info)), &result);
    return result;
}

static napi_value call_dot(napi_env env, napi_callback_info info)
{
    napi_value result;
    napi_create_double(env, kernel_dot(number(env, info), 40), &result);
    return result;
}

static void in_pool(napi_env env, void *data)
{
    struct job *job = data;
    (void)env;
    job->result = kernel_dot(1 << 16, job->n) + (double)kernel_tree(job->n);
}

static void done(napi_env env, napi_status status, void *data)
{
    struct job *job = data;
    napi_value result;
    (void)status;
    napi_create_double(env, job->result, &result);
    napi_resolve_deferred(env, job->promise, result);
    napi_delete_async_work(env, job->work);
    free(job);
}

static napi_value start_job(napi_env env, napi_callback_info info)
{
    napi_value promise, name;
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        abort();
    job->n = number(env, info);
    napi_create_promise(env, &job->promise, &promise);
    napi_create_string_utf8(env, "job", NAPI_AUTO_LENGTH, &name);
    napi_create_async_work(env, NULL, name, in_pool, done, job, &job->work);
    napi_queue_async_work(env, job->work);
    return promise;
}

NAPI_MODULE_INIT()
{
    napi_property_descriptor all[] = {
        {"tree", NULL, call_tree, NULL, NULL, NULL, napi_default, NULL},
        {"dot", NULL, call_dot, NULL, NULL, NULL, napi_default, NULL},
        {"job", NULL, start_job, NULL, NULL, NULL, napi_default, NULL},
    };
    napi_define_properties(env, exports, sizeof all / sizeof *all, all);
    return exports;
}
