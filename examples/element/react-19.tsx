import 'domain-registration/element'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { readToken } from './session'

function Domains() {
  const [token, setToken] = useState(readToken())
  const [count, setCount] = useState(0)
  return (
    <main>
      <button type="button" onClick={() => setToken(readToken())}>
        New token
      </button>
      <p>{count} registered</p>
      <domain-registration
        url="/v1/domains"
        options={{ headers: { 'X-CSRF-Token': token } }}
        renderState={({ domain }) => (domain.startsWith('*') ? 'all of it' : 'active')}
        ondomains-registered={({ detail }) => setCount(count + detail.domains.length)}
      />
    </main>
  )
}

createRoot(document.getElementById('app') as HTMLElement).render(<Domains />)
