import { query } from '../../platform/database/database.js'
import { singleFlight } from '../../platform/single-flight.js'
import type { Bank } from '../../ports/payouts.js'
import type { Services } from '../../services.js'

/** Banks come and go in months; after a failure the provider is asked again sooner. */
const freshMs = 3_600_000
const pauseMs = 10_000

type Needs = Pick<Services, 'db' | 'payouts' | 'log'>

/** The banks one process knows: asked of the provider when needed, and while it is away as it last told any of us. */
export class BankList {
  readonly #services: Needs
  #banks: Bank[] = []
  #untilMs = Number.NEGATIVE_INFINITY
  readonly #readTogether = singleFlight(() => this.#read())

  constructor(services: Needs) {
    this.#services = services
  }

  /** By name. Throws ProviderError when nobody ever heard of any. */
  async banks(): Promise<Bank[]> {
    if (performance.now() >= this.#untilMs) await this.#readTogether()
    return this.#banks
  }

  async #read(): Promise<void> {
    const { payouts, db, log } = this.#services
    try {
      const told = await payouts.banks()
      this.#hold(await keepBanks(this.#services, told), freshMs)
    } catch (error) {
      log.warn({ err: error }, 'the list of banks could not be read; the last one serves')
      const kept = await query<Bank>(db, {
        name: 'banks.kept',
        text: 'select code, name from banks order by name',
        values: [],
      })
      if (kept.length === 0) throw error
      this.#hold(kept, pauseMs)
    }
  }

  #hold(banks: Bank[], ms: number): void {
    this.#banks = banks
    this.#untilMs = performance.now() + ms
  }
}

/** Keeps what a bank is called for the history, also of banks the provider lists no more. */
async function keepBanks({ db }: Needs, told: readonly Bank[]): Promise<Bank[]> {
  await query(db, {
    name: 'banks.keep',
    text: /* sql */ `
      insert into banks (code, name) select * from unnest($1::text[], $2::text[])
      on conflict (code) do update set name = excluded.name, seen_at = clock_timestamp()`,
    values: [told.map(({ code }) => code), told.map(({ name }) => name)],
  })
  return told.toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
}
