/** Calls the server with the `fetch` of this runtime, with a string and with a stream as the body. */
const [url, key] = (globalThis.Deno?.args ?? process.argv.slice(2)).slice(-2)

const body = JSON.stringify({ domains: ['www.example.com', 'bücher.de'] })
for (const sent of [body, new Blob([body]).stream()]) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
    body: sent,
    duplex: 'half',
  })
  console.log(JSON.stringify({ status: response.status, ...(await response.json()) }))
}
