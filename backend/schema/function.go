package schema

import "strings"

func set(names string) map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(names) {
		m[n] = true
	}
	return m
}

// pure are built-in functions whose result depends on their arguments alone (and
// on what belongs to a shape: sql_mode, character set, collation). Closed list:
// what is missing here costs speed, what is here wrongly costs correctness.
// Missing on purpose: date_format and its like (lc_time_names), from_unixtime
// and unix_timestamp (time zone tables), default(), values(), anything with a
// state or a side effect.
var pure = set(`
	abs acos asin atan ceil ceiling cos crc32 degrees exp floor greatest least ln log log10 log2 mod
	pi pow power radians round sign sin sqrt tan truncate
	coalesce if ifnull interval isnull nullif
	ascii bin bit_count bit_length char char_length character_length concat concat_ws elt field
	find_in_set hex insert instr lcase left length locate lower lpad ltrim mid oct octet_length ord
	position quote repeat replace reverse right rpad rtrim space strcmp substr substring
	substring_index trim ucase unhex upper to_base64 from_base64
	md5 sha sha1 sha2
	cast convert binary
	period_add period_diff
	json_array json_contains json_depth json_extract json_keys json_length json_object
	json_quote json_type json_unquote json_valid
	inet_aton inet_ntoa inet6_aton inet6_ntoa is_ipv4 is_ipv6 uuid_to_bin bin_to_uuid is_uuid`)

// temporal are pure functions and type names by which a TIME can become a date:
// that of the statement, so that they count as depending on its time.
var temporal = set(`
	adddate addtime date date_add date_sub datediff datetime day dayofmonth dayofweek dayofyear extract hour
	last_day makedate maketime microsecond minute month quarter sec_to_time second subdate subtime
	time time_to_sec timediff timestamp timestampadd timestampdiff to_days to_seconds from_days weekday year`)

// now are the functions that give the time of the statement, which follows
// SET timestamp. SYSDATE does not.
var now = set(`
	now current_timestamp localtime localtimestamp curdate current_date curtime current_time
	utc_date utc_time utc_timestamp`)

// session are further built-in functions. They cannot read or change a table,
// so that a view may use them without reaching any further.
var session = set(`
	user current_user session_user system_user current_role database schema version connection_id
	uuid uuid_short sys_guid rand sysdate found_rows row_count last_insert_id
	date_format time_format str_to_date get_format from_unixtime unix_timestamp convert_tz dayname
	monthname week weekofyear yearweek
	charset coercibility collation format format_bytes regexp_like regexp_replace regexp_substr regexp_instr
	soundex export_set make_set cot weight_string any_value grouping name_const
	json_merge json_merge_patch json_merge_preserve json_set json_insert json_replace json_remove
	json_search json_value json_query json_exists json_pretty json_contains_path json_overlaps
	json_compact json_detailed json_loose json_array_append json_array_insert json_normalize json_equals
	aes_encrypt aes_decrypt compress uncompress uncompressed_length
	st_astext st_asbinary st_geomfromtext st_x st_y st_distance st_contains st_within st_intersects
	is_ipv4_compat is_ipv4_mapped nvl nvl2 decode_oracle to_char chr lengthb
	concat_operator_oracle`)

// plain are the keywords and type names that may stand in an expression without
// making it depend on anything else.
var plain = set(`
	and or xor not is null true false between in like escape div mod case when then else end
	as using from for leading trailing both collate charset character set
	signed unsigned integer int char nchar binary decimal double float real precision json
	interval microsecond second minute hour day week month quarter year
	second_microsecond minute_microsecond minute_second hour_microsecond hour_second hour_minute
	day_microsecond day_second day_minute day_hour year_month unknown rlike regexp`)
