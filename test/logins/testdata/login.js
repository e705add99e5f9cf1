// login.js mysql2|mariadb: logs in as each line of standard input says and answers with
// a line; ../doc.go has the form of both. The certificates to trust are in the file
// SLUICE_TEST_CA.
'use strict';
const fs = require('fs');
const readline = require('readline');

const library = process.argv[2];
const client = require(library === 'mysql2' ? 'mysql2/promise' : 'mariadb');

async function row([host, port, user, password, tls, compress]) {
  const options = { host, port: Number(port), user, password, compress: compress === '1', connectTimeout: 60000 };
  if (tls === '1') {
    options.ssl = { ca: fs.readFileSync(process.env.SLUICE_TEST_CA) };
  }
  if (library === 'mysql2') {
    options.rowsAsArray = true;
  } else {
    Object.assign(options, { rowsAsArray: true, allowPublicKeyRetrieval: true, insertIdAsNumber: true, bigIntAsNumber: true });
  }
  const db = await client.createConnection(options);
  try {
    const rows = await db.query('SELECT CURRENT_USER(), CONNECTION_ID()');
    return library === 'mysql2' ? rows[0][0] : rows[0];
  } finally {
    await db.end();
  }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    let answer;
    try {
      answer = ['ok', ...(await row(line.split('\t')))];
    } catch (error) {
      answer = ['no', error.errno || 0, (error.sqlMessage || error.message).split(/\s+/).join(' ')];
    }
    console.log(answer.join('\t'));
  }
}

main();
