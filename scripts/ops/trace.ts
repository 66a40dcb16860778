import { opsCommand } from '../../src/operators/open-cases.js'
import { findCreatorsByName, mostNamed, type NamedCreator } from '../../src/operators/trace/find-subject.js'
import { linesPerPage, type Story } from '../../src/operators/trace/story.js'
import { parseBefore, trace } from '../../src/operators/trace/trace.js'
import { defineCommand, defineOptions, type Outcome } from './support/command.js'
import { RefusedError, UsageError } from './support/order.js'

import { withDatabase } from './support/services.js'

const options = defineOptions(
  {},
  { '--before <time>': 'what happened before this time, as the end of the last page said' },
)

/** Tells the whole life of a tip, withdrawal, intent or creator. Changes nothing. */
const usage = `npm run ops -- trace <id|signature|reference|intent|wallet|request|e-mail|name> [--before <time>]

Tells what happened to a tip, a withdrawal, a payment intent or a creator, in order of time and from all tables: records, states,
ledger entries, refunds, disputes, reviews, what operators did. It changes nothing.

It knows: a transaction's signature; fiatpay_... and pi_... ids; the reference of a withdrawal; the provider's references and ids
of payments; ids of refunds and take-outs; the request id that an answer of the API had (X-Request-Id); a trace, or the header
traceparent that a caller sent; a creator's id, e-mail, handle, .sol domain, custody or payout wallet, or how the creator's name
begins. Of a long life it tells the newest ${linesPerPage} lines, and how to read on.`

function textOf({ kind, id, facts, lines, older, related, commands }: Story): string {
  return [
    `${kind} ${id}`,
    ...facts.map((fact) => `  ${fact}`),
    '',
    ...(older === null
      ? []
      : [`Earlier lines: ${opsCommand(`trace ${id} --before ${older.toISOString()}`)}`]),
    ...lines.map(({ at, text }) => `${at.toISOString()}  ${text}`),
    ...(related.length === 0 ? [] : ['', 'See also:', ...related.map((one) => `  ${one.kind} ${one.id}`)]),
    '',
    ...commands.map(opsCommand),
  ].join('\n')
}

/** Names are not unique: the operator chooses. */
function listOf(creators: readonly NamedCreator[]): string {
  return [
    `${creators.length === mostNamed ? `The newest ${mostNamed}` : creators.length} creators have a name that begins so:`,
    ...creators.map(
      ({ id, name, email, createdAt }) =>
        `  ${createdAt.toISOString().slice(0, 10)}  ${name}  ${email}  ${opsCommand(`trace ${id}`)}`,
    ),
  ].join('\n')
}

export const command = await defineCommand(import.meta, {
  usage,
  options,
  allowPositionals: true,
  async run({ before: given }, _order, words): Promise<Outcome> {
    // A name may come as several words.
    const text = words.join(' ')
    if (text === '') throw new UsageError('give one id, signature, reference, wallet, e-mail or name')
    const before = given === undefined ? undefined : parseBefore(given)
    if (given !== undefined && before === undefined)
      throw new UsageError('--before is a time such as 2026-01-31T12:00:00.000Z')
    return withDatabase(async (db) => {
      const story = await trace(db, text, before)
      if (story !== undefined) return { text: textOf(story), json: { story } }
      const creators = await findCreatorsByName(db, text)
      const [one, ...others] = creators
      if (one === undefined) throw new RefusedError(`nothing here is called ${text}`)
      if (others.length > 0) return { text: listOf(creators), json: { creators } }
      const only = await trace(db, one.id, before)
      if (only === undefined) throw new RefusedError(`nothing here is called ${text}`)
      return { text: textOf(only), json: { story: only } }
    })
  },
})
