/** As much of it as the examples use: the types of Node 20 have none. */
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
