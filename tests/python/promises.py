# SPDX-License-Identifier: BSD-3-Clause
"""What is promised of check mode, faults, devices and machines, and the tests that prove it.

Tests are ``file::function``, or ``file::suite.test`` of C++; paths are relative to `tests`.
"""

CHECK_MODE = {
    "init(check=True), par_loop(check=True), PYOP2CXX_CHECK": (
        "python/test_check_mode.py::test_every_bug_is_found_and_nothing_is_written",
        "python/test_check_mode.py::test_one_loop_alone_is_checked",
        "python/test_demos.py::test_demos_raise_no_alarm_in_check_mode",
    ),
    "debug includes it": ("python/test_check_mode.py::test_debug_includes_it",),
    "reports name loop, line, argument, element, index or value; nothing is written": (
        "python/test_check_mode.py::test_every_bug_is_found_and_nothing_is_written",
        "python/test_wrong_programs.py::test_the_mistake_is_reported_where_it_is",
        "python/test_check_mode.py::test_members_are_named_as_the_user_wrote_them",
        "python/test_check_mode.py::test_equal_kernels_have_lines_of_their_own",
    ),
    "bounds of parameters, local arrays and tables": (
        "python/test_check_mode.py::test_every_bug_is_found_and_nothing_is_written",
        "python/test_structures.py::test_subscripts_of_members_are_watched",
    ),
    "a constant index out of range is an error without check mode": (
        "python/test_check_mode.py::test_a_literal_index_is_an_error_without_check_mode",
        "python/test_bounds.py::test_they_are_refused",
        "python/test_bounds.py::test_tables_and_helpers",
    ),
    "a scan's kernel is associative, and its identity neutral": (
        "python/test_joins.py::test_check_mode_groups_otherwise",
    ),
    "contracts: READ, INC, WRITE on every path, MIN and MAX": (
        "python/test_check_mode.py::test_every_bug_is_found_and_nothing_is_written",
        "python/test_kernel_checks.py::test_a_write_to_a_read_argument_is_told",
        "python/test_kernel_checks.py::test_an_increment_that_overwrites",
    ),
    "strict turns what is provably wrong into errors": (
        "python/test_kernel_checks.py::test_a_write_to_a_read_argument_is_told",
        "python/test_check_mode.py::test_a_condition_on_a_const_lets_an_index_stand",
    ),
    "races from the maps, with the two elements, remembered by Map": (
        "python/test_meetings.py::test_two_elements_and_the_entity",
        "python/test_meetings.py::test_one_dat_in_two_ways",
        "python/test_meetings.py::test_memory_that_two_dats_share_in_part",
        "python/test_meetings.py::test_a_map_that_changes_is_looked_at_again",
    ),
    "equal writes are allowed by a keyword": (
        "python/test_check_mode.py::test_elements_that_write_equal_values",
    ),
    "values: NaN, infinity, division, shifts, overflow, uninitialised": (
        "python/test_check_mode.py::test_every_bug_is_found_and_nothing_is_written",
        "python/test_check_mode.py::test_overflows_are_found_in_every_form",
        "python/test_check_mode.py::test_what_comes_in_is_no_finding",
        "python/test_check_mode.py::test_what_is_not_finite_is_found_wherever_it_goes",
    ),
    "a Dat on another Set of equal size is refused": (
        "python/test_check_mode.py::test_every_bug_is_found_and_nothing_is_written",
    ),
    "numberings are not mixed": (
        "python/test_numberings.py::test_a_dat_that_was_left_out",
        "python/test_numberings.py::test_a_map_that_was_left_out",
    ),
    "no false alarms: corpus, demos, programs in PyOP2's style": (
        "python/test_check_mode.py::test_no_false_alarms",
        "python/test_check_mode.py::test_older_conventions_raise_no_false_alarm",
        "python/test_demos.py::test_demos_raise_no_alarm_in_check_mode",
        "python/test_promises.py::test_what_is_left_out_in_check_mode_is_there",
        "python/test_fuzz.py::test_check_mode_reports_no_random_loop",
    ),
    "it costs little": (
        "python/test_check_mode.py::test_a_loop_whose_values_are_finite_runs_once",
        "python/test_checked_kernel.py::test_a_kernel_is_made_once_but_lines_are_each_ones_own",
        "python/test_kernel.py::test_what_takes_long_to_find_out_is_taken_for_unknown",
    ),
}
FAULTS = {
    "a subscript whose base is the literal": (
        "python/test_kernel_shapes.py::test_every_shape_is_printed",
        "python/test_kernel_shapes.py::test_every_shape_means_the_same",
        "python/test_kernel_shapes.py::test_values",
    ),
    "a device used first by several threads": (
        "python/test_devices.py::test_threads_that_use_a_device_first_open_one",
        "python/test_devices.py::test_threads_may_list_devices_at_once",
    ),
    "rows with gaps beside a reduced Global": (
        "python/test_derived_maps.py::test_rows_with_gaps_beside_a_reduced_global",
    ),
    "views of components on empty Sets": (
        "python/test_views.py::test_a_view_of_nothing_is_an_argument_like_any_other",
    ),
    "names for opaque kernels; structures are parsed": (
        "python/test_headers.py::test_opaque_kernels_get_the_names_that_parsed_ones_get",
        "python/test_structures.py::test_subscripts_of_members_are_watched",
    ),
    "OpenCL: helpers with tables and arrays; real and complex values; conditions": (
        "python/test_kernel_shapes.py::test_a_helper_gets_a_table_and_an_array_of_the_kernel",
        "python/test_kernel_shapes.py::test_every_shape_means_the_same",
    ),
    "lanes whose elements meet": (
        "python/test_kernel_shapes.py::test_elements_that_meet_are_not_computed_side_by_side",
    ),
    "what is derived from a Map follows its values; messages name loop, argument, row": (
        "python/test_derived_maps.py::test_what_is_derived_from_a_map_follows_its_values",
        "python/test_derived_maps.py::test_a_target_beyond_the_set_names_loop_argument_map_and_row",
    ),
    "long long": ("python/test_headers.py::test_a_long_long_is_a_long",),
    "syntax errors show the line and a caret": (
        "python/test_rejections.py::test_a_missing_semicolon_is_shown_where_it_is_missing",
        "python/test_rejections.py::test_functions_that_only_the_generated_text_has_are_not_shown",
        "python/test_quoting.py::test_a_caret_stands_below_its_place",
    ),
    "tracebacks end at the API": (
        "python/test_tracebacks.py::test_a_traceback_ends_where_the_user_called",
    ),
    "abi 2016: unused parameters, no text, differing extents": (
        "python/test_conventions.py::test_what_a_kernel_does_not_use_is_of_any_dtype",
        "python/test_conventions.py::test_a_kernel_without_text_has_nothing_to_run",
        "python/test_conventions.py::test_spaces_of_2016_have_one_size",
    ),
    "Maps of mixed Sparsities": (
        "python/test_sparsities.py::test_mixed_maps_by_their_older_names",
    ),
    "the package exports configuration and all of op2": (
        "python/test_pyop2.py::test_all_of_op2_is_in_the_package_itself",
    ),
    "a Const declared twice": (
        "python/test_constants.py::test_a_const_declared_again_takes_the_new_value",
    ),
    "copies between dtypes": (
        "python/test_dats.py::test_a_copy_names_the_first_value_that_does_not_fit",
    ),
}
DEVICES = {
    "wait": ("python/test_profile.py::test_waiting_waits_for_loops",),
    "Globals on devices; conjugate gradients without a wait": (
        "python/test_on_devices.py::test_conjugate_gradients_never_wait",
    ),
    "writes to arrays that were kept are refused or reported": (
        "python/test_transfers.py::test_an_array_ends_when_a_device_takes_the_values",
        "python/test_lent.py::test_an_array_that_a_dat_was_made_from_ends",
        "python/test_lent.py::test_what_numpy_cannot_end_is_watched",
        "python/test_lent.py::test_memory_of_others_is_watched",
        "python/test_lent.py::test_what_is_written_between_two_readings_is_told",
        "python/test_lent.py::test_in_check_mode_every_loop_looks",
        "python/test_lent.py::test_the_end_reports_what_nobody_asked_for",
    ),
    "the message for memory names the limit": (
        "cpp/runtime/opencl/test_memory_pool.cpp::"
        "MemoryPoolTest.NamesTheLargestBufferWhereThatIsTheLimit",
    ),
}
MACHINES = {
    "tests ask for the memory that they need": (
        "python/test_corpus.py::test_maps_with_more_targets_than_int32_counts",
    ),
    "openmp on a busy machine; short loops on one thread": (
        "cpp/runtime/host/test_contention.cpp::ContentionTest.ManyStopsBeginARound",
        "cpp/runtime/host/test_team_choice.cpp::TeamChoice.ContentionLeavesALoopToWhatIsFaster",
        "cpp/runtime/host/test_team_choice.cpp::TeamChoice.ShortLoopsStayWithOneThread",
    ),
    "the default backend": ("python/test_usual_backend.py::test_loops_run_on_all_cores",),
    "several processes": (
        "python/test_ranks.py::test_what_cannot_be_distributed_is_refused_by_name",
        "python/test_communicators.py::test_sums_of_one_of_several_processes_are_refused",
    ),
}
NUMBERS = {
    "random loops, calls and kills, a short run in the gate": (
        "python/test_fuzz.py::test_loops_do_what_the_interpreter_does",
        "python/test_fuzz.py::test_what_the_repository_keeps_has_all_that_it_should",
        "python/test_jit.py::test_kill_9_at_any_moment",
    ),
    "sanitizers over generated code": (
        "python/test_fuzz.py::test_sanitizers_see_what_generated_code_does",
    ),
}
PROMISES = {
    "check mode": CHECK_MODE,
    "faults": FAULTS,
    "devices": DEVICES,
    "machines": MACHINES,
    "numbers": NUMBERS,
}
