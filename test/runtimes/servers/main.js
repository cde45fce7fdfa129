/** Starts a server for each line of settings that it is sent, and prints the port of each: a runtime starts once. */
import process from 'node:process'
import { createInterface } from 'node:readline'

const { start } = await import(`./${process.argv.at(-1)}`)
for await (const settings of createInterface(process.stdin)) console.log(await start(settings))
