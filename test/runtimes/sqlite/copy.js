/** Copies a database that is in use, as docs/cli.md says: `node copy.js <database> <copy>`. */
import { DatabaseSync } from 'node:sqlite'

const [file, copy] = process.argv.slice(2)
const database = new DatabaseSync(file)
database.prepare('VACUUM INTO ?').run(copy)
database.close()
