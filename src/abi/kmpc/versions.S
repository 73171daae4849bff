/* The omp_ routines, and the GNU entry points that libomp has too, under libomp's version node.
 *
 * A program linked with libomp asks for omp_get_thread_num@VERSION (and, where GCC compiled a part of it, for
 * GOMP_parallel@VERSION), one linked with libgomp for omp_get_thread_num@OMP_1.0, and the dynamic linker takes nothing
 * else for either. The functions themselves (src/abi/user, src/abi/gomp) have libgomp's nodes, as the default; here
 * each has a second name, hidden behind the version, that jumps to it. A file of this list alone keeps them free of the
 * other ABI; a jump costs nothing that could be measured. The locks, whose types differ between the two, are in lock.c;
 * what libomp answers otherwise is in answers.c. */
#if defined __x86_64__
#define JUMP jmp
#define LANDING endbr64
#elif defined __aarch64__
#define JUMP b
#define LANDING hint #34
#elif defined __riscv
#define JUMP tail
#define LANDING
#else
#error "a jump instruction for this processor"
#endif

    .text

    .macro versioned name
    .globl  kmpc_versioned_\name
    .type   kmpc_versioned_\name, %function
kmpc_versioned_\name:
    LANDING
    JUMP    \name
    .size   kmpc_versioned_\name, . - kmpc_versioned_\name
    .symver kmpc_versioned_\name, \name\()@VERSION
    .endm

    versioned omp_aligned_alloc
    versioned omp_aligned_calloc
    versioned omp_alloc
    versioned omp_calloc
    versioned omp_control_tool
    versioned omp_destroy_allocator
    versioned omp_destroy_allocator_
    versioned omp_display_env
    versioned omp_display_env_
    versioned omp_free
    versioned omp_fulfill_event
    versioned omp_fulfill_event_
    versioned omp_get_active_level
    versioned omp_get_active_level_
    versioned omp_get_ancestor_thread_num
    versioned omp_get_ancestor_thread_num_
    versioned omp_get_cancellation
    versioned omp_get_cancellation_
    versioned omp_get_default_allocator
    versioned omp_get_default_allocator_
    versioned omp_get_default_device
    versioned omp_get_device_from_uid
    versioned omp_get_device_from_uid_
    versioned omp_get_uid_from_device
    versioned omp_get_uid_from_device_
    versioned omp_get_default_device_
    versioned omp_get_device_num
    versioned omp_get_device_num_
    versioned omp_get_dynamic
    versioned omp_get_dynamic_
    versioned omp_get_initial_device
    versioned omp_get_initial_device_
    versioned omp_get_interop_int
    versioned omp_get_interop_name
    versioned omp_get_interop_ptr
    versioned omp_get_interop_rc_desc
    versioned omp_get_interop_str
    versioned omp_get_interop_type_desc
    versioned omp_get_level
    versioned omp_get_level_
    versioned omp_get_max_active_levels
    versioned omp_get_max_active_levels_
    versioned omp_get_max_task_priority
    versioned omp_get_max_task_priority_
    versioned omp_get_max_teams
    versioned omp_get_max_teams_
    versioned omp_get_max_threads
    versioned omp_get_max_threads_
    versioned omp_get_num_devices
    versioned omp_get_num_devices_
    versioned omp_get_num_interop_properties
    versioned omp_get_num_teams
    versioned omp_get_num_teams_
    versioned omp_get_num_threads
    versioned omp_get_num_threads_
    versioned omp_get_supported_active_levels
    versioned omp_get_supported_active_levels_
    versioned omp_get_team_num
    versioned omp_get_team_num_
    versioned omp_get_team_size
    versioned omp_get_team_size_
    versioned omp_get_teams_thread_limit
    versioned omp_get_teams_thread_limit_
    versioned omp_get_thread_limit
    versioned omp_get_thread_limit_
    versioned omp_get_thread_num
    versioned omp_get_thread_num_
    versioned omp_get_wtick
    versioned omp_get_wtick_
    versioned omp_get_wtime
    versioned omp_get_wtime_
    versioned omp_in_explicit_task
    versioned omp_in_explicit_task_
    versioned omp_in_final
    versioned omp_in_final_
    versioned omp_in_parallel
    versioned omp_in_parallel_
    versioned omp_init_allocator
    versioned omp_init_allocator_
    versioned omp_is_initial_device
    versioned omp_is_initial_device_
    versioned omp_realloc
    versioned omp_set_affinity_format
    versioned omp_set_affinity_format_
    versioned omp_set_default_allocator
    versioned omp_set_default_allocator_
    versioned omp_set_default_device
    versioned omp_set_default_device_
    versioned omp_set_dynamic
    versioned omp_set_dynamic_
    versioned omp_set_max_active_levels
    versioned omp_set_max_active_levels_
    versioned omp_set_num_threads
    versioned omp_set_num_threads_
    versioned omp_set_schedule
    versioned omp_set_schedule_

    versioned GOMP_alloc
    versioned GOMP_atomic_end
    versioned GOMP_atomic_start
    versioned GOMP_barrier
    versioned GOMP_barrier_cancel
    versioned GOMP_cancel
    versioned GOMP_cancellation_point
    versioned GOMP_critical_end
    versioned GOMP_critical_name_end
    versioned GOMP_critical_name_start
    versioned GOMP_critical_start
    versioned GOMP_doacross_post
    versioned GOMP_doacross_ull_post
    versioned GOMP_doacross_ull_wait
    versioned GOMP_doacross_wait
    versioned GOMP_free
    versioned GOMP_loop_doacross_dynamic_start
    versioned GOMP_loop_doacross_guided_start
    versioned GOMP_loop_doacross_runtime_start
    versioned GOMP_loop_doacross_start
    versioned GOMP_loop_doacross_static_start
    versioned GOMP_loop_dynamic_next
    versioned GOMP_loop_dynamic_start
    versioned GOMP_loop_end
    versioned GOMP_loop_end_cancel
    versioned GOMP_loop_end_nowait
    versioned GOMP_loop_guided_next
    versioned GOMP_loop_guided_start
    versioned GOMP_loop_maybe_nonmonotonic_runtime_next
    versioned GOMP_loop_maybe_nonmonotonic_runtime_start
    versioned GOMP_loop_nonmonotonic_dynamic_next
    versioned GOMP_loop_nonmonotonic_dynamic_start
    versioned GOMP_loop_nonmonotonic_guided_next
    versioned GOMP_loop_nonmonotonic_guided_start
    versioned GOMP_loop_nonmonotonic_runtime_next
    versioned GOMP_loop_nonmonotonic_runtime_start
    versioned GOMP_loop_ordered_dynamic_next
    versioned GOMP_loop_ordered_dynamic_start
    versioned GOMP_loop_ordered_guided_next
    versioned GOMP_loop_ordered_guided_start
    versioned GOMP_loop_ordered_runtime_next
    versioned GOMP_loop_ordered_runtime_start
    versioned GOMP_loop_ordered_start
    versioned GOMP_loop_ordered_static_next
    versioned GOMP_loop_ordered_static_start
    versioned GOMP_loop_runtime_next
    versioned GOMP_loop_runtime_start
    versioned GOMP_loop_start
    versioned GOMP_loop_static_next
    versioned GOMP_loop_static_start
    versioned GOMP_loop_ull_doacross_dynamic_start
    versioned GOMP_loop_ull_doacross_guided_start
    versioned GOMP_loop_ull_doacross_runtime_start
    versioned GOMP_loop_ull_doacross_start
    versioned GOMP_loop_ull_doacross_static_start
    versioned GOMP_loop_ull_dynamic_next
    versioned GOMP_loop_ull_dynamic_start
    versioned GOMP_loop_ull_guided_next
    versioned GOMP_loop_ull_guided_start
    versioned GOMP_loop_ull_maybe_nonmonotonic_runtime_next
    versioned GOMP_loop_ull_maybe_nonmonotonic_runtime_start
    versioned GOMP_loop_ull_nonmonotonic_dynamic_next
    versioned GOMP_loop_ull_nonmonotonic_dynamic_start
    versioned GOMP_loop_ull_nonmonotonic_guided_next
    versioned GOMP_loop_ull_nonmonotonic_guided_start
    versioned GOMP_loop_ull_nonmonotonic_runtime_next
    versioned GOMP_loop_ull_nonmonotonic_runtime_start
    versioned GOMP_loop_ull_ordered_dynamic_next
    versioned GOMP_loop_ull_ordered_dynamic_start
    versioned GOMP_loop_ull_ordered_guided_next
    versioned GOMP_loop_ull_ordered_guided_start
    versioned GOMP_loop_ull_ordered_runtime_next
    versioned GOMP_loop_ull_ordered_runtime_start
    versioned GOMP_loop_ull_ordered_start
    versioned GOMP_loop_ull_ordered_static_next
    versioned GOMP_loop_ull_ordered_static_start
    versioned GOMP_loop_ull_runtime_next
    versioned GOMP_loop_ull_runtime_start
    versioned GOMP_loop_ull_start
    versioned GOMP_loop_ull_static_next
    versioned GOMP_loop_ull_static_start
    versioned GOMP_ordered_end
    versioned GOMP_ordered_start
    versioned GOMP_parallel
    versioned GOMP_parallel_end
    versioned GOMP_parallel_loop_dynamic
    versioned GOMP_parallel_loop_dynamic_start
    versioned GOMP_parallel_loop_guided
    versioned GOMP_parallel_loop_guided_start
    versioned GOMP_parallel_loop_maybe_nonmonotonic_runtime
    versioned GOMP_parallel_loop_nonmonotonic_dynamic
    versioned GOMP_parallel_loop_nonmonotonic_guided
    versioned GOMP_parallel_loop_nonmonotonic_runtime
    versioned GOMP_parallel_loop_runtime
    versioned GOMP_parallel_loop_runtime_start
    versioned GOMP_parallel_loop_static
    versioned GOMP_parallel_loop_static_start
    versioned GOMP_parallel_reductions
    versioned GOMP_parallel_sections
    versioned GOMP_parallel_sections_start
    versioned GOMP_parallel_start
    versioned GOMP_sections2_start
    versioned GOMP_sections_end
    versioned GOMP_sections_end_cancel
    versioned GOMP_sections_end_nowait
    versioned GOMP_sections_next
    versioned GOMP_sections_start
    versioned GOMP_single_copy_end
    versioned GOMP_single_copy_start
    versioned GOMP_single_start
    versioned GOMP_target
    versioned GOMP_target_data
    versioned GOMP_target_end_data
    versioned GOMP_target_update
    versioned GOMP_task
    versioned GOMP_task_reduction_remap
    versioned GOMP_taskgroup_end
    versioned GOMP_taskgroup_reduction_register
    versioned GOMP_taskgroup_reduction_unregister
    versioned GOMP_taskgroup_start
    versioned GOMP_taskloop
    versioned GOMP_taskloop_ull
    versioned GOMP_taskwait
    versioned GOMP_taskwait_depend
    versioned GOMP_taskyield
    versioned GOMP_teams
    versioned GOMP_teams_reg
    versioned GOMP_workshare_task_reduction_unregister

    .section .note.GNU-stack, "", %progbits
