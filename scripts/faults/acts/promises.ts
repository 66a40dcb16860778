import { checkBooks } from '../../../src/ledger/invariants.js'
import { query } from '../../../src/platform/database/database.js'
import { reconcileNow } from '../../../src/withdrawals/work-queue.js'
import { fundedMicro, nairaPerDollar, type Stage } from './stage.js'

/** A broken promise. `about`: the withdrawal, when it is about one. */
export interface Broken {
  readonly text: string
  readonly about?: string
}

interface Row {
  readonly reference: string
  readonly providerReference: string
  readonly status: string
  readonly recredited: boolean
  readonly named: boolean
  readonly resolutions: number
}

/** Checks the promises about money. The reconciler first follows every transfer that has changed since the last check. */
export class Promises {
  readonly #stage: Stage
  readonly #seen = new Map<number, string>()
  #newest = 0n

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** `whole`: reads all books and all withdrawals. */
  async check(whole = false): Promise<Broken[]> {
    const changed = await this.#follow()
    return [
      ...(await this.#withdrawals(whole ? undefined : changed)),
      ...(await this.#books(whole)),
      ...(await this.#credits()),
    ]
  }

  /** Does what the webhooks of changed transfers cause, whether or not they arrive. Returns their references. */
  async #follow(): Promise<string[]> {
    const { services, fiat, batches } = this.#stage
    const changed = fiat.fiatpay.transfers.all().filter(({ id, status }) => this.#seen.get(id) !== status)
    for (const { reference } of changed) await reconcileNow(services, reference)
    // The batch skips a row that a webhook has locked. It is due again then.
    for (let due = changed.length > 0; due; ) {
      await batches.reconciler()
      const rows = await services
        .db('withdrawals')
        .whereIn(
          'provider_reference',
          changed.map(({ reference }) => reference),
        )
        .whereIn('send_state', ['unknown', 'sent', 'manual_review', 'refused'])
        .whereIn('status', ['completed', 'failed'])
        .whereRaw('due_at <= clock_timestamp()')
        .limit(1)
      due = rows.length > 0
    }
    for (const { id, status } of changed) this.#seen.set(id, status)
    return [...new Set(changed.map(({ reference }) => reference))]
  }

  async #withdrawals(references: readonly string[] | undefined): Promise<Broken[]> {
    const rows = await query<Row>(this.#stage.services.db, {
      name: `acts.rows${references === undefined ? '' : '-changed'}`,
      text: /* sql */ `
        select w.reference, w.provider_reference as "providerReference", w.status,
          w.recredited_at is not null as recredited,
          exists (select from review_items r where r.withdrawal_id = w.id
            and r.kind in ('paid_after_recredit', 'paid_after_failed', 'mismatch')) as named,
          (select count(*) from ledger_transfers t join ledger_transfers o on o.id = t.resolves
            where o.idem = 'withdrawal:' || w.reference)::int4 as resolutions
        from withdrawals w where $1::text[] is null or w.provider_reference = any($1::text[])`,
      values: [references ?? null],
    })
    return rows.flatMap((row) => {
      const text = this.#faultOf(row)
      return text === undefined ? [] : [{ text: `${row.reference} ${text}`, about: row.reference }]
    })
  }

  #faultOf({ reference, status, recredited, named, resolutions }: Row): string | undefined {
    const { transfers } = this.#stage.fiat.fiatpay
    const executed = transfers.listByReference(reference.toLowerCase())
    const kept = executed.filter((transfer) => transfer.status === 'pending' || transfer.status === 'success')
    const ended = status === 'completed' || status === 'failed'
    if (resolutions !== (ended ? 1 : 0)) return `is ${status} and its hold was resolved ${resolutions} times`
    if (named) return undefined
    if (executed.length > 1) return `was executed ${executed.length} times and no review names it`
    if (kept.length > 0 && (status === 'failed' || recredited))
      return `was paid by the provider and given back to the creator (${status}), and no review names it`
    return undefined
  }

  async #books(whole: boolean): Promise<Broken[]> {
    const { invariants, newest } = await checkBooks(this.#stage.services.db, whole ? 0n : this.#newest)
    this.#newest = newest
    return invariants
      .filter(({ violations }) => violations > 0n)
      .map(({ name }) => ({ text: `the books do not hold: ${name}` }))
  }

  /** What came from naira may not be worth more than the naira that arrived for the creator. */
  async #credits(): Promise<Broken[]> {
    const { services, fiat } = this.#stage
    const rows = await query<{ userId: string; credited: bigint; references: string[] }>(services.db, {
      name: 'acts.credits',
      text: /* sql */ `
        select a.user_id as "userId", sum(e.amount)::int8 as credited,
          array(select f.provider_reference from fiat_intents f where f.user_id = a.user_id) as references
        from ledger_accounts a join ledger_entries e on e.account_id = a.id join ledger_transfers t on t.id = e.transfer_id
        where a.user_id is not null and a.currency = 'USDC' and t.kind = 'credit' and t.idem not like 'withdrawal:%'
        group by a.user_id`,
      values: [],
    })
    return rows.flatMap(({ userId, credited, references }) => {
      const payments = references.flatMap((reference) => fiat.fiatpay.charges.find(reference)?.payments ?? [])
      const kobo = payments.reduce((sum, { amountKobo }) => sum + amountKobo, 0)
      const most = fundedMicro + (BigInt(kobo) * 10_000n) / BigInt(nairaPerDollar)
      if (credited <= most) return []
      return [{ text: `creator ${userId} was credited ${credited} micro-USDC of ${most} that arrived` }]
    })
  }
}
