import worker, { Registry as Example } from '../../../examples/durable-object.mjs'

/** The Durable Object of the example, with a way to add a key to it. */
export class Registry extends Example {
  async fetch(request) {
    if (new URL(request.url).pathname !== '/keys') return super.fetch(request)
    await this.keys.addKey(await request.json())
    return new Response()
  }
}

export default worker
