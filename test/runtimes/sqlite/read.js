/** Prints the registrations in a file, and the result of SQLite's integrity check. */
import process from 'node:process'
import { openDatabase } from './databases.js'

const database = openDatabase(process.argv.at(-1))
const [integrity] = database.prepare('PRAGMA integrity_check').all()
const rows = database.prepare('SELECT domain, domain_id FROM domain_registration_names').all()
console.log(
  JSON.stringify({
    integrity: integrity.integrity_check,
    rows: rows.map(row => [row.domain, row.domain_id]),
  }),
)
