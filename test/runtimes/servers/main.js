/** Starts a server for each line of settings on standard input, and prints its port. All servers share one process. */
import process from 'node:process'
import { createInterface } from 'node:readline'

const { start } = await import(`./${process.argv.at(-1)}`)
for await (const settings of createInterface(process.stdin)) console.log(await start(settings))
