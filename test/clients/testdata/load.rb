# load.rb ADDRESS SCHEMA TABLE ROWS: the address is HOST:PORT or the path of a
# socket. SLUICE_TEST_COMPRESS asks for compression.
require 'mysql2'

address, schema, table, file = ARGV
options = { username: 'app', password: 'app', database: schema, encoding: 'utf8mb4' }
if address.start_with?('/')
  options[:socket] = address
else
  host, port = address.split(':')
  options.update(host: host, port: port.to_i)
end
options[:flags] = Mysql2::Client::COMPRESS unless ENV['SLUICE_TEST_COMPRESS'].to_s.empty?
db = Mysql2::Client.new(**options)

rows = File.readlines(file, chomp: true).map do |line|
  line.split("\t").map { |field| field == '-' ? nil : [field].pack('H*') }
end

quote = lambda do |value|
  value.nil? ? 'NULL' : "'#{db.escape(value.dup.force_encoding('UTF-8'))}'"
end
insert = lambda do |(id, word, score, payload, note)|
  db.query("INSERT INTO #{table} (id, word, score, payload, note) VALUES " \
           "(#{id.to_i}, #{quote.(word)}, #{quote.(score)}, X'#{payload.unpack1('H*')}', #{quote.(note)})")
  raise "row #{id}: not one row" unless db.affected_rows == 1
end

half = rows.size / 2
rows.first(half).each(&insert)
rows.drop(half).each_slice(100) do |slice|
  db.query('START TRANSACTION')
  slice.each(&insert)
  db.query('COMMIT')
end

select = "SELECT HEX(id), HEX(word), HEX(CONCAT(score, '')), HEX(payload), HEX(note) FROM #{table} ORDER BY #{table}.id"
db.query(select, as: :array).each do |row|
  puts row.map { |field| field.nil? ? '-' : field }.join("\t")
end
db.close
