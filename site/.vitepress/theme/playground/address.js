/**
 * The state of the playground is in the fragment of the address, which a browser does not send. Each part of the page
 * stores its state under a different name.
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
  // If the address had an anchor, `readAll` returns it as a parameter without a value. The anchor is removed here.
  for (const [key, text] of [...parameters]) if (text === '') parameters.delete(key)
  parameters.set(name, JSON.stringify(value))
  // The state is encoded twice, because VitePress decodes the fragment once and uses the result as a selector, in which
  // a quote would be an error.
  history.replaceState(history.state, '', `#${encodeURIComponent(parameters)}`)
}
