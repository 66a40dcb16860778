import type { Knex } from 'knex'
import type { StreamClient } from './stream-client.js'

/** The times (epoch ms) of the confirmed tips of each wallet: the ids of their events. */
export async function confirmedStamps(db: Knex, wallets: readonly string[]): Promise<Map<string, number[]>> {
  const { rows } = await db.raw<{ rows: { wallet: string; at: Date }[] }>(
    `select p.wallet, t.confirmed_at as at from tips t join parties p on p.id = t.recipient_party
     where p.wallet = any(?) and t.status = 'confirmed' order by t.confirmed_at`,
    [[...wallets]],
  )
  const stamps = new Map<string, number[]>(wallets.map((wallet) => [wallet, []]))
  for (const { wallet, at } of rows) stamps.get(wallet)?.push(at.getTime())
  return stamps
}

/** The events that must have come to a reader. */
export function owedTo(
  { wallet, owedAfter = 0 }: StreamClient,
  stamps: ReadonlyMap<string, number[]>,
): number[] {
  return (stamps.get(wallet) ?? []).filter((at) => at > owedAfter)
}

/** What is missing, doubled or in the wrong place. */
export function streamFaults(
  readers: readonly StreamClient[],
  stamps: ReadonlyMap<string, number[]>,
): string[] {
  return readers.flatMap((reader, index) => {
    const owed = owedTo(reader, stamps)
    const same = owed.length === reader.ids.length && owed.every((at, place) => at === reader.ids[place])
    return same ? [] : [`stream ${index}: ${owed.length} events owed, ${reader.ids.length} came`]
  })
}

/** Connections that were refused or broke off, instead of being ended. */
export function brokenStreams(readers: readonly StreamClient[]): string[] {
  return readers.flatMap(({ faults }, index) => faults.map((fault) => `stream ${index}: ${fault}`))
}
