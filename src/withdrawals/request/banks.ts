import { DomainError } from '../../kernel/errors.js'
import { query, write } from '../../platform/database/database.js'
import { singleFlight } from '../../platform/single-flight.js'
import { within } from '../../platform/within.js'
import type { Bank } from '../../ports/payouts.js'
import type { Services } from '../../services.js'

/** The list changes a few times a year. After a failure the provider is asked again sooner. */
const freshMs = 3_600_000
const retryMs = 10_000
/** A withdrawal waits this long for an answer about its bank or its holder's name: it answers within 5 s in all. */
export const bankAnswerMs = 2000

type Needs = Pick<Services, 'db' | 'payouts' | 'log'>

/** The banks, cached per process. While the provider is unavailable, the banks that any process stored last. */
export class BankList {
  readonly #services: Needs
  #banks: Bank[] = []
  /** Codes that a list had. A bank stays known, so these are not looked up again. */
  readonly #known = new Set<string>()
  #untilMs = Number.NEGATIVE_INFINITY
  readonly #readTogether = singleFlight(() => this.#read())

  constructor(services: Needs) {
    this.#services = services
  }

  /** Sorted by name. Throws ProviderError when the provider is unavailable and no bank was ever stored. */
  async banks(): Promise<Bank[]> {
    if (performance.now() >= this.#untilMs) await this.#readTogether()
    return this.#banks
  }

  /**
   * Whether the provider pays to this bank; undefined while no list is known, or the provider is slow. Asks the provider only about a code that
   * is neither in memory nor stored, so that a slow provider delays no withdrawal to a known bank.
   */
  async includes(code: string): Promise<boolean | undefined> {
    if (this.#known.has(code)) return true
    const holds = (banks: readonly Bank[]): boolean => banks.some((bank) => bank.code === code)
    const asked = () => this.banks().then(holds, () => undefined)
    const known = holds(this.#banks) || holds(await this.#stored()) || (await within(bankAnswerMs, asked()))
    if (known === true) this.#known.add(code)
    return known
  }

  #stored(): Promise<Bank[]> {
    return query<Bank>(this.#services.db, {
      name: 'banks.list',
      text: 'select code, name from banks order by name',
      values: [],
    })
  }

  async #read(): Promise<void> {
    const { payouts, log } = this.#services
    try {
      const banks = await payouts.listBanks()
      this.#cache(await storeBanks(this.#services, banks), freshMs)
    } catch (error) {
      log.warn({ err: error }, 'the provider did not return the list of banks; the stored banks are used')
      const stored = await this.#stored()
      if (stored.length === 0) throw error
      this.#cache(stored, retryMs)
    }
  }

  #cache(banks: Bank[], ms: number): void {
    this.#banks = banks
    this.#untilMs = performance.now() + ms
  }
}

/**
 * Throws `bank_details_required` for a code of four to six digits that no list has: by form such a code is the provider's
 * own, or none.
 */
export async function assertListed(banks: Pick<BankList, 'includes'>, code: string): Promise<void> {
  if (code.length > 3 && (await banks.includes(code)) !== true) throw new DomainError('bank_details_required')
}

/** Stores the banks' names for the history. Banks that the provider no longer lists stay stored. */
async function storeBanks({ db }: Needs, banks: readonly Bank[]): Promise<Bank[]> {
  await write(db, {
    name: 'banks.store',
    text: /* sql */ `
      insert into banks (code, name) select * from unnest($1::text[], $2::text[])
      on conflict (code) do update set name = excluded.name, seen_at = clock_timestamp()`,
    values: [banks.map(({ code }) => code), banks.map(({ name }) => name)],
  })
  return banks.toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
}

/** What people call a bank, by its code: for the search only. A withdrawal names the code. */
const nicknames: Readonly<Record<string, readonly string[]>> = {
  '011': ['FBN', 'FirstBank'],
  '032': ['UBN'],
  '033': ['UBA'],
  '035': ['ALAT'],
  '050': ['ETI'],
  '058': ['GTB', 'GTBank', 'GTCO'],
  '068': ['SCB', 'StanChart'],
  '214': ['FCMB'],
  '221': ['IBTC'],
  '50211': ['KudaBank'],
  '50515': ['Monie Point'],
  '999991': ['Palm Pay'],
  '999992': ['O-Pay', 'O Pay', 'Paycom'],
}

export function nicknamesOf(code: string): readonly string[] {
  return nicknames[code] ?? []
}

/** Whether each word of a search is part of the bank's name, of a nickname, or of the code. */
export function matchesSearch(
  { code, name }: { readonly code: string; readonly name: string },
  search: string,
) {
  const texts = [name, code, ...nicknamesOf(code)].join('\n').toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => texts.includes(word))
}
