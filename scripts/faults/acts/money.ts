import { query } from '../../../src/platform/database/database.js'
import { keptKobo, type Truth } from './context.js'
import { fundedMicro, type Stage } from './stage.js'

/**
 * What a transfer of the ledger gave to a creator, or took from them: micro-USDC, pending and held ones included. `userId`
 * null: the platform's side.
 */
interface Change {
  readonly idem: string
  readonly ref: string
  readonly userId: string | null
  readonly micro: bigint
}

/** The source of money, by the key of its transfers: a withdrawal, a naira intent, or the start. Another one is none. */
interface Source {
  readonly kind: 'withdrawal' | 'naira' | 'start' | 'nowhere'
  readonly id: string
  micro: bigint
}

interface Locked {
  readonly id: string
  readonly reference: string
  /** Naira per dollar, in units of 10^-8. */
  readonly rate: bigint
}

/** Adds up what creators were given from each source, and compares it with what arrived from there. */
export class Money {
  readonly #stage: Stage
  readonly #truth: Truth
  readonly #sources = new Map<string, Source>()

  constructor(stage: Stage, truth: Truth) {
    this.#stage = stage
    this.#truth = truth
  }

  /**
   * Reads the transfers after `after`. Returns the faults, the withdrawals among them, and whether there are any. `whole`:
   * compares all sources.
   */
  async check(
    after: bigint,
    whole: boolean,
  ): Promise<{ faults: string[]; references: string[]; posted: boolean }> {
    const changes = await query<Change>(this.#stage.services.db, {
      name: 'acts.changes',
      text: /* sql */ `
        select t.idem, t.ref, a.user_id as "userId", coalesce(sum(e.amount) filter (where a.currency = 'USDC'), 0)::int8 as micro
        from ledger_transfers t join ledger_entries e on e.transfer_id = t.id join ledger_accounts a on a.id = e.account_id
        where t.id > $1 group by t.id, a.user_id order by t.id`,
      values: [after],
    })
    const touched = new Set(changes.flatMap((change) => this.#add(change)))
    const compared = whole ? [...this.#sources.values()] : [...touched]
    const faults = await this.#faultsOf(compared)
    const references = [...touched].flatMap(({ kind, id }) => (kind === 'withdrawal' ? [id] : []))
    return { faults, references, posted: changes.length > 0 }
  }

  #add({ idem, ref, userId, micro }: Change): Source[] {
    if (userId === null) return []
    const [kind, id] = sourceOf(idem, ref)
    const key = `${kind} ${id} ${userId}`
    const source = this.#sources.get(key) ?? { kind, id, micro: 0n }
    source.micro += micro
    this.#sources.set(key, source)
    return [source]
  }

  async #faultsOf(sources: readonly Source[]): Promise<string[]> {
    const naira = sources.filter(({ kind }) => kind === 'naira')
    const locked = await this.#lockedRates(naira.map(({ id }) => id))
    return sources.flatMap(({ kind, id, micro }) => {
      if (kind === 'naira' && !this.#truth.rates.has(Number(locked.get(id)?.rate) / 1e8))
        return [`intent ${id} has a rate that the feed never showed`]
      const most = this.#mostOf(kind, locked.get(id))
      return micro <= most ? [] : [`${kind} ${id} gave ${micro} micro-USDC of ${most} that arrived`]
    })
  }

  #mostOf(kind: Source['kind'], locked: Locked | undefined): bigint {
    if (kind === 'start') return fundedMicro
    if (kind !== 'naira' || locked === undefined) return 0n
    const charge = this.#stage.sandbox.fiatpay.charges.find(locked.reference)
    const kobo = keptKobo(this.#stage, this.#truth, charge)
    return (BigInt(kobo) * 10_000n * 100_000_000n) / locked.rate
  }

  /** The rates at which these intents were promised. Money is worth no more, whenever it arrives. */
  async #lockedRates(ids: readonly string[]): Promise<Map<string, Locked>> {
    if (ids.length === 0) return new Map()
    const rows = await query<Locked>(this.#stage.services.db, {
      name: 'acts.locked-rates',
      text: /* sql */ `
        select f.id, f.provider_reference as reference, (r.value * 100000000)::int8 as rate
        from fiat_intents f join rates r on r.id = f.rate_id where f.id = any($1::text[])`,
      values: [ids],
    })
    return new Map(rows.map((row) => [row.id, row]))
  }
}

function sourceOf(idem: string, ref: string): [Source['kind'], string] {
  if (idem.startsWith('withdrawal:')) return ['withdrawal', ref]
  if (idem.startsWith('fiatpay:')) return ['naira', ref]
  if (idem.startsWith('faults:')) return ['start', idem]
  return ['nowhere', ref]
}
