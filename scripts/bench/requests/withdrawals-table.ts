import { median } from '../measurement.js'
import type { Figure, Outcome } from '../outcome.js'

export const names = ['service', 'floor'] as const
export type Name = (typeof names)[number]

export interface Asked {
  readonly perSecond: number
  readonly p50Ms: number
  readonly serverUs: number
  readonly databaseUs: number
  readonly statements: number
}
export interface Round {
  readonly asked: Record<Name, Asked>
  /** Payouts sent in a second. */
  readonly sent: Record<Name, number>
  /** CPU of the worker and of PostgreSQL for one payout, in microseconds, and its statements. */
  readonly workerUs: number
  readonly sendDatabaseUs: number
  readonly sendStatements: number
}

export function outcomeOf(results: readonly Round[], measured: string): Outcome {
  const of = (read: (round: Round) => number): number => median(results.map(read))
  const asked = names.map((name) =>
    [
      `ask, confirm    ${name.padEnd(8)}`,
      of((round) => round.asked[name].perSecond)
        .toFixed(0)
        .padStart(8),
      of((round) => round.asked[name].p50Ms)
        .toFixed(1)
        .padStart(9),
      of((round) => round.asked[name].perSecond / round.asked.floor.perSecond)
        .toFixed(2)
        .padStart(10),
      of((round) => round.asked[name].serverUs)
        .toFixed(0)
        .padStart(16),
      of((round) => round.asked[name].databaseUs)
        .toFixed(0)
        .padStart(6),
      of((round) => round.asked[name].statements)
        .toFixed(1)
        .padStart(12),
    ].join(''),
  )
  const sent = names.map((name) =>
    [
      `send            ${name.padEnd(8)}`,
      of((round) => round.sent[name])
        .toFixed(0)
        .padStart(8),
      ''.padStart(9),
      of((round) => round.sent[name] / round.sent.floor)
        .toFixed(2)
        .padStart(10),
      ...(name === 'service'
        ? [
            of(({ workerUs }) => workerUs)
              .toFixed(0)
              .padStart(16),
            of(({ sendDatabaseUs }) => sendDatabaseUs)
              .toFixed(0)
              .padStart(6),
            of(({ sendStatements }) => sendStatements)
              .toFixed(1)
              .padStart(12),
          ]
        : []),
    ].join(''),
  )
  const table = [
    'what            server     per s   p50 ms  of floor   cpu us server + db  statements',
    ...asked,
    ...sent,
    'floors: two inserts in bare Koa; a recipient, a transfer and one update, eight at a time',
    `${measured}; a ratio is the median of the ratios of each round`,
  ].join('\n')
  const figures: Figure[] = [
    {
      name: 'asked and confirmed per second',
      value: of(({ asked: { service } }) => service.perSecond),
      better: 'higher',
    },
    {
      name: 'SQL statements to ask and confirm',
      value: of(({ asked: { service } }) => service.statements),
      better: 'lower',
    },
    {
      name: 'us of CPU to ask and confirm',
      value: of(({ asked: { service } }) => service.serverUs + service.databaseUs),
      better: 'lower',
    },
    { name: 'sent per second', value: of(({ sent: { service } }) => service), better: 'higher' },
    { name: 'SQL statements to send', value: of(({ sendStatements }) => sendStatements), better: 'lower' },
  ]
  return { table, results, figures }
}
