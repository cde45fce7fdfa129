/**
 * The state of the playground is in the fragment of the address, which a browser does not send. Each part of the page
 * keeps its state under its own name.
 */
function readAll() {
  try {
    return new URLSearchParams(decodeURIComponent(location.hash.slice(1)))
  } catch {
    return new URLSearchParams()
  }
}

export function readState(name, otherwise) {
  try {
    return JSON.parse(readAll().get(name)) ?? otherwise
  } catch {
    return otherwise
  }
}

export function writeState(name, value) {
  const parameters = readAll()
  // An anchor in the address was read as a parameter without a value. It must not stay in front of the state.
  for (const [key, text] of [...parameters]) if (text === '') parameters.delete(key)
  parameters.set(name, JSON.stringify(value))
  // Encoded twice: VitePress decodes the fragment once and uses it as a selector, in which a quote would be an error.
  history.replaceState(history.state, '', `#${encodeURIComponent(parameters)}`)
}
