# login.rb: logs in as each line of standard input says and answers with a line;
# ../doc.go has the form of both. The certificates to trust are in the file SLUICE_TEST_CA.
require 'mysql2'

$stdout.sync = true
$stdin.each_line(chomp: true) do |line|
  host, port, user, password, tls, compress = line.split("\t")
  options = { host: host, port: port.to_i, username: user, password: password }
  options.update(sslca: ENV.fetch('SLUICE_TEST_CA'), sslverify: true) if tls == '1'
  options[:flags] = Mysql2::Client::COMPRESS if compress == '1'
  begin
    db = Mysql2::Client.new(**options)
    row = db.query('SELECT CURRENT_USER(), CONNECTION_ID()', as: :array).first
    puts ['ok', *row].join("\t")
    db.close
  rescue Mysql2::Error => e
    puts ['no', e.error_number, e.message.split.join(' ')].join("\t")
  end
end
