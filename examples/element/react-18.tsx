import type { DomainRegistrationElement } from 'domain-registration/element'
import { useEffect, useRef, useState } from 'react'
import { readToken } from './session'

export function Domains() {
  const element = useRef<DomainRegistrationElement>(null)
  const [token, setToken] = useState(readToken)
  const [count, setCount] = useState(0)
  useEffect(() => {
    if (element.current) element.current.options = { headers: { 'X-CSRF-Token': token } }
    void import('domain-registration/element')
  }, [token])
  useEffect(() => {
    const { current } = element
    const onRegistered = ({ detail }: HTMLElementEventMap['domains-registered']) =>
      setCount(before => before + detail.domains.length)
    current?.addEventListener('domains-registered', onRegistered)
    return () => current?.removeEventListener('domains-registered', onRegistered)
  }, [])
  return (
    <main>
      <button type="button" onClick={() => setToken(readToken())}>
        New token
      </button>
      <p>{count} registered</p>
      <domain-registration ref={element} url="/v1/domains" />
    </main>
  )
}
