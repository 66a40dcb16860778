import { z } from 'zod'
import { type Route, route } from '../http/endpoint.js'
import { DomainError } from '../kernel/errors.js'
import { cachedFor } from '../platform/cached-for.js'
import type { Services } from '../services.js'
import { findLastReport } from './reports/report-rows.js'

const nothing = z.object({})

const reservesAnswer = z.object({
  success: z.literal(true),
  report: z.string(),
  signature: z.string(),
  keyId: z.string(),
})

/** A report is made once a day, so an answer this old is as good. */
const cachedMs = 30_000
const cacheMinute = 'public, max-age=60'

/** The newest signed report. For everybody. */
export function reserveRoutes({ db }: Pick<Services, 'db'>): Route[] {
  const lastReport = cachedFor(cachedMs, () => findLastReport(db))
  return [
    route(
      {
        method: 'get',
        path: '/reserves',
        summary: 'What the platform owes and what it has, signed',
        credential: 'none',
        limit: 'reads',
        input: nothing,
        invalid: 'not_found',
        output: reservesAnswer,
        errors: ['not_found'],
      },
      async (_, ctx) => {
        const last = await lastReport()
        if (last === undefined) throw new DomainError('not_found')
        ctx.set('Cache-Control', cacheMinute)
        const { report, signature, keyId } = last
        return { report, signature, keyId }
      },
    ),
  ]
}
