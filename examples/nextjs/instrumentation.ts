/** Creates the tables when the server starts. In production, a step of the deployment may do so instead. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { getRegistry } = await import('./app/registry')
  await getRegistry().createTables()
}
