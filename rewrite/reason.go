package rewrite

// The reasons for which the scanner, the splitter and the form parser leave a
// statement alone. Plans have reasons of their own.
const (
	ReasonNotInsert      Reason = "not an INSERT or REPLACE of values"
	ReasonSyntax         Reason = "not understood"
	ReasonUnclosed       Reason = "a string, name or comment that does not end"
	ReasonCharset        Reason = "character_set_client is not known to be safe to read"
	ReasonForeignBytes   Reason = "bytes outside ASCII where the character set decides what they are"
	ReasonNul            Reason = "a NUL byte outside a string"
	ReasonExecutable     Reason = "an executable comment or a hint"
	ReasonMulti          Reason = "several statements in one"
	ReasonNoRows         Reason = "no row of values"
	ReasonEmptyRow       Reason = "an empty row of values"
	ReasonWidth          Reason = "rows of different width"
	ReasonColumnCount    Reason = "the number of values is not the number of columns"
	ReasonRowConstructor Reason = "VALUES ROW(...)"
	ReasonIdentifier     Reason = "a value that names a column or variable"
	ReasonPlaceholder    Reason = "a placeholder"
	ReasonSubquery       Reason = "a subquery"
	ReasonFunction       Reason = "a function outside the closed list"
	ReasonArguments      Reason = "a function with arguments that are not on the closed list"
	ReasonFunctionBlank  Reason = "a blank between a function name and its parenthesis: may call a stored function"
	ReasonQualified      Reason = "a qualified function or name"
	ReasonTimeOfDay      Reason = "a TIME value: depends on the day where a date is wanted"
	ReasonNowInside      Reason = "the current time inside an expression"
	ReasonDeep           Reason = "an expression nested too deeply"
	ReasonModifier       Reason = "LOW_PRIORITY, HIGH_PRIORITY or DELAYED"
	ReasonPartition      Reason = "a PARTITION clause"
	ReasonSelect         Reason = "INSERT ... SELECT"
	ReasonReturning      Reason = "RETURNING"
	ReasonRowAlias       Reason = "a row alias (AS new)"
	ReasonTail           Reason = "a tail other than ON DUPLICATE KEY UPDATE"
	ReasonTailExpression Reason = "an expression in ON DUPLICATE KEY UPDATE that is not on the closed list"
	ReasonTailTable      Reason = "ON DUPLICATE KEY UPDATE names another table"
)

// finer holds the reasons for a current time with a fraction of a second, by
// its digits.
var finer = [7]Reason{
	1: "NOW(1): finer than a second",
	2: "NOW(2): finer than a second",
	3: "NOW(3): finer than a second",
	4: "NOW(4): finer than a second",
	5: "NOW(5): finer than a second",
	6: "NOW(6): finer than a second",
}
