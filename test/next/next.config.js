/** The package under test stands above this folder. */
export default { turbopack: { root: new URL('../..', import.meta.url).pathname } }
