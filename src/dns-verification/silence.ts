/** Notices that no query of any call is answered, as if the resolver were down. */
export interface SilenceWatch {
  answered(): void
  /** @param cause Why a query about a zone found no answer. */
  failed(zone: string, cause: string, error: unknown): void
}

/** For how many milliseconds zones may fail before the resolver is reported, and again after each report. */
const LONGEST_SILENCE = 60_000

/** The codes with which a DNS server answers that it has no answer. Every other code means that nobody answered. */
const FAILURES = ['ESERVFAIL', 'EREFUSED', 'EFORMERR', 'ENOTIMP', 'EBADRESP']

/**
 * A customer's zone may be silent or broken, which says nothing about the resolver. So the resolver is reported if it
 * cannot be reached, or if queries about several zones have failed for a minute, one after another, and nothing was
 * answered for a minute.
 */
export function createSilenceWatch(report: (failure: Error) => void): SilenceWatch {
  let answeredAt = Number.NEGATIVE_INFINITY
  let reportedAt = Number.NEGATIVE_INFINITY
  let failedAt = Number.NEGATIVE_INFINITY
  let failingSince = 0
  const failingZones = new Set<string>()
  return {
    answered() {
      answeredAt = performance.now()
      failingZones.clear()
    },
    failed(zone, cause, error) {
      const now = performance.now()
      // What failed before a minute without any query says nothing about now.
      if (now - failedAt >= LONGEST_SILENCE) failingZones.clear()
      failedAt = now
      if (failingZones.size === 0) failingSince = now
      if (failingZones.size < 2) failingZones.add(zone)
      const isOfZone = cause === 'ETIMEOUT' || FAILURES.includes(cause)
      const isDown = !isOfZone || (failingZones.size > 1 && now - failingSince >= LONGEST_SILENCE)
      if (!isDown || now - Math.max(answeredAt, reportedAt) < LONGEST_SILENCE) return
      reportedAt = now
      // The messages of `node:dns` contain a hostname, which no log shows.
      const options = cause === 'EUNKNOWN' ? { cause: error } : {}
      report(new Error(`Nobody answers DNS queries (${cause}); does the resolver work?`, options))
    },
  }
}
