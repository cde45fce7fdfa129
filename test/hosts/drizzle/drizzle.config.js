const { DATA_FOLDER: url, FILTER = '{}' } = process.env

export default {
  dialect: 'postgresql',
  driver: 'pglite',
  schema: './drizzle/schema.js',
  dbCredentials: { url },
  strict: true,
  verbose: true,
  ...JSON.parse(FILTER),
}
