import worker, { Registry as Example } from '../../../examples/durable-object.mjs'

/** The example, and a way to put a key into it. */
export class Registry extends Example {
  async fetch(request) {
    if (new URL(request.url).pathname !== '/keys') return super.fetch(request)
    await this.keys.addKey(await request.json())
    return new Response()
  }
}

export default worker
