package rewrite

import (
	"slices"
	"strconv"
	"strings"
)

// harmlessVariables may differ from the global value without changing what an
// INSERT of literals stores, whether it succeeds, or what its OK says. Taken
// from SHOW SESSION VARIABLES of MariaDB 10.11 and MySQL 9.7. What is not here
// and not carried is relayed, among others: sql_log_bin, gtid_*, binlog_*,
// wsrep_*, server_id, system_versioning_*, old_mode, completion_type,
// sql_auto_is_null, sql_warnings, enable_cascade_triggers. The gtid_* ones
// below are global and move with every commit, so that two readings differ.
var harmlessVariables = nameSet(`
	autocommit wait_timeout interactive_timeout idle_transaction_timeout idle_readonly_transaction_timeout
	idle_write_transaction_timeout lock_wait_timeout innodb_lock_wait_timeout max_statement_time max_execution_time
	tx_isolation transaction_isolation innodb_snapshot_isolation deadlock_search_depth_long deadlock_search_depth_short
	deadlock_timeout_long deadlock_timeout_short tcp_nodelay thread_pool_priority max_allowed_packet max_user_connections

	character_set_results character_set_database collation_database character_set_server collation_server
	character_set_filesystem lc_messages sql_notes note_verbosity max_error_count resultset_metadata
	sql_quote_show_create show_create_table_verbosity show_create_table_skip_secondary_engine print_identified_with_as_hex
	show_gipk_in_create_table_and_information_schema information_schema_stats_expiry terminology_use_previous
	session_track_schema session_track_state_change session_track_system_variables explain_format
	explain_json_format_version end_markers_in_json

	auto_increment_increment auto_increment_offset last_insert_id identity rand_seed1 rand_seed2 timestamp
	pseudo_thread_id warning_count error_count in_transaction last_gtid external_user proxy_user
	default_master_connection statement_id

	gtid_executed gtid_purged gtid_owned gtid_binlog_pos gtid_binlog_state gtid_current_pos gtid_slave_pos

	sql_select_limit sql_safe_updates sql_big_selects sql_buffer_result big_tables max_join_size max_sort_length
	max_length_for_sort_data max_seeks_for_key eq_range_index_dive_limit group_concat_max_len cte_max_recursion_depth
	max_recursive_iterations max_sp_recursion_depth standard_compliant_cte updatable_views_with_limit
	windowing_use_high_precision use_stat_tables histogram_size histogram_type
	analyze_sample_percentage analyze_max_length expensive_subquery_limit in_predicate_conversion_threshold
	max_rowid_filter_size rowid_merge_buff_size secondary_engine_cost_threshold use_secondary_engine
	enable_secondary_engine_statistics

	sort_buffer_size join_buffer_size join_buffer_space_limit join_cache_level read_buffer_size read_rnd_buffer_size
	mrr_buffer_size bulk_insert_buffer_size preload_buffer_size set_operations_buffer_size select_into_buffer_size
	select_into_disk_sync select_into_disk_sync_delay tmp_table_size tmp_disk_table_size tmp_memory_table_size
	max_heap_table_size internal_tmp_mem_storage_engine query_alloc_block_size query_prealloc_size
	range_alloc_block_size range_optimizer_max_mem_size transaction_alloc_block_size transaction_prealloc_size
	parser_max_mem_size histogram_generation_max_mem_size progress_report_time

	default_storage_engine storage_engine default_tmp_storage_engine enforce_storage_engine default_table_encryption
	sql_generate_invisible_primary_key sql_require_primary_key restrict_fk_on_non_standard_key old_alter_table
	alter_algorithm sql_if_exists keep_files_on_create innodb_strict_mode innodb_table_locks innodb_tmpdir
	innodb_ddl_buffer_size innodb_ddl_threads innodb_parallel_read_threads innodb_compression_default
	innodb_ft_enable_stopword innodb_ft_user_stopword_table low_priority_updates max_delayed_threads
	max_insert_delayed_threads myisam_sort_buffer_size myisam_repair_threads myisam_stats_method aria_repair_threads
	aria_sort_buffer_size aria_stats_method old_passwords generated_random_password_length

	slow_query_log long_query_time min_examined_row_limit sql_log_off log_slow_query log_slow_query_time
	log_slow_filter log_slow_rate_limit log_slow_verbosity log_slow_admin_statements log_slow_disabled_statements
	log_slow_max_warnings log_slow_min_examined_row_limit log_slow_slave_statements log_disabled_statements
	log_queries_not_using_indexes log_warnings query_cache_type query_cache_strip_comments
	query_cache_wlock_invalidate`)

// harmlessPrefixes are families of variables of the same nature.
var harmlessPrefixes = []string{"net_", "optimizer_"}

// requiredValues are variables that have one harmless value, whatever the
// global value is: some are known to the session only, others would change
// what the client sees in each OK (a GTID, the state of the transaction) or
// make every insert fail.
var requiredValues = map[string]string{
	"insert_id":                      "0",
	"sql_log_bin":                    "ON",
	"tx_read_only":                   "OFF",
	"transaction_read_only":          "OFF",
	"session_track_gtids":            "OFF",
	"session_track_transaction_info": "OFF",
	"gtid_next":                      "AUTOMATIC",
	"gtid_seq_no":                    "0",
	"wsrep_gtid_seq_no":              "0",
	"pseudo_slave_mode":              "OFF",
	"pseudo_replica_mode":            "OFF",
	"skip_replication":               "OFF",
	"skip_parallel_replication":      "OFF",
	"original_commit_timestamp":      "36028797018963968",
	"original_server_version":        "999999",
	"immediate_server_version":       "999999",
	"require_row_format":             "OFF",
	"transaction_allow_batching":     "OFF",
}

// manyRows is more than any server has variables: sql_select_limit applies to
// SHOW VARIABLES as well, and a list that was cut proves nothing.
const manyRows = 10_000

// HarmlessVariables says whether a session may be batched as far as its
// variables go: each one that differs from its global value is carried to the
// loading connection or known to be harmless. Both maps are as SHOW VARIABLES
// gives them; a global one that was read earlier may be out of date, so that a
// Reason is worth a second reading. The variable timestamp needs FixedTimestamp
// besides.
func HarmlessVariables(session, global map[string]string, dialect Dialect) Reason {
	first := ""
	if limit, err := strconv.ParseUint(session["sql_select_limit"], 10, 64); err != nil || limit < manyRows {
		return "sql_select_limit cuts the list of session variables"
	}
	for name, value := range session {
		if harmlessVariable(name, value, global, dialect) {
			continue
		}
		if first == "" || name < first {
			first = name // the same name each time, whatever the order of the map
		}
	}
	if first == "" {
		return ""
	}
	return Reason("session variable " + first + ": not known to be harmless")
}

func harmlessVariable(name, value string, global map[string]string, dialect Dialect) bool {
	if want, ok := requiredValues[name]; ok {
		return value == want
	}
	if name == "session_track_system_variables" && toldByEachInsert(value) {
		return false
	}
	if shared, ok := global[name]; ok && shared == value {
		return true
	}
	if harmlessVariables[name] || carriedBy(name, dialect) {
		return true
	}
	for _, prefix := range harmlessPrefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// toldByEachInsert: among the tracked variables is one that every insert changes, and
// its OK tells.
func toldByEachInsert(tracked string) bool {
	for name := range strings.SplitSeq(tracked, ",") {
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "*", "last_gtid", "statement_id":
			return true
		}
	}
	return false
}

// carriedBy leaves out the variables that only the other family knows: should
// a later version bring one of that name, it is relayed until somebody looked.
func carriedBy(name string, dialect Dialect) bool {
	switch name {
	case "block_encryption_mode":
		return dialect == MySQL
	case "check_constraint_checks":
		return dialect == MariaDB
	}
	return slices.Contains(carriedNames, name)
}
