/** What an option is, for a message: a number or a text as it stands, and of all else only the type, which runs no code of it. */
export const describe = (value: unknown) =>
  typeof value === 'string' ? JSON.stringify(value) : typeof value === 'number' ? String(value) : typeof value
