import type { DomainRegistrationEvents, DomainRegistrationProps } from 'domain-registration/element'
import type { EmitFn } from 'vue'

type Emits = { [Name in keyof DomainRegistrationEvents]: (event: DomainRegistrationEvents[Name]) => void }

declare module 'vue' {
  interface GlobalComponents {
    'domain-registration': new () => { $props: DomainRegistrationProps; $emit: EmitFn<Emits> }
  }
}
