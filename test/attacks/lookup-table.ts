import { type AddressLookupTableAccount, AddressLookupTableProgram, PublicKey } from '@solana/web3.js'
import type { Supporter } from '../helpers/make/supporter.js'
import type { World } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'
import { connect } from '../sandbox/chain-client.js'

/** Creates a lookup table with these addresses and waits until it can be used. */
export async function createLookupTable(
  { sandbox }: World,
  owner: Supporter,
  addresses: readonly string[],
): Promise<AddressLookupTableAccount> {
  const { chain } = sandbox
  const authority = owner.keypair.publicKey
  const recentSlot = chain.clock.slot - 1
  const [create, table] = AddressLookupTableProgram.createLookupTable({
    authority,
    payer: authority,
    recentSlot,
  })
  const extend = AddressLookupTableProgram.extendLookupTable({
    lookupTable: table,
    authority,
    payer: authority,
    addresses: addresses.map((address) => new PublicKey(address)),
  })
  owner.send([create, extend])
  const extendedAt = chain.clock.slot
  await until('the table can be used', () => chain.clock.slot > extendedAt + 1)
  const { value } = await connect(sandbox).getAddressLookupTable(table)
  if (value === null) throw new Error('The lookup table does not exist')
  return value
}
