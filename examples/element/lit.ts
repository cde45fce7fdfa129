import 'domain-registration/element'
import { html, LitElement } from 'lit'
import { readToken } from './session'

class DomainsPage extends LitElement {
  static properties = { token: { state: true }, count: { state: true } }
  declare token: string
  declare count: number

  constructor() {
    super()
    this.token = readToken()
    this.count = 0
  }

  render() {
    return html`<button @click=${() => (this.token = readToken())}>New token</button>
      <p>${this.count} registered</p>
      <domain-registration
        url="/v1/domains"
        .options=${{ headers: { 'X-CSRF-Token': this.token } }}
        @domains-registered=${({ detail }: HTMLElementEventMap['domains-registered']) => {
          this.count += detail.domains.length
        }}
      ></domain-registration>`
  }
}
customElements.define('domains-page', DomainsPage)
