/** The parts of `node:sqlite` that the examples use. The types of Node 20 lack this module. */
declare module 'node:sqlite' {
  export class DatabaseSync {
    constructor(file: string)
    exec(sql: string): void
    prepare(sql: string): {
      all(...values: (string | number | null)[]): unknown[]
      run(...values: (string | number | null)[]): unknown
    }
    close(): void
  }
}
