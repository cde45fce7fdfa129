/** The package under test is in a folder above this one. */
export default { turbopack: { root: new URL('../..', import.meta.url).pathname } }
