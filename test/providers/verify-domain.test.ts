import { Keypair, PublicKey } from '@solana/web3.js'
import test from 'ava'
import { domainKeys, nameProgram, solRoot } from '../../src/providers/sns/domain-keys.js'
import { type DomainAccounts, type NameAccount, verifyDomain } from '../../src/providers/sns/verify-domain.js'

const [owner, other] = [Keypair.generate().publicKey, Keypair.generate().publicKey]
const program = nameProgram.toBase58()
const { registry: registryKey } = domainKeys('ada.sol')
const nothing = Buffer.alloc(32)

function registry(holder: PublicKey = owner): NameAccount {
  return { program, data: Buffer.concat([solRoot.toBuffer(), holder.toBuffer(), nothing]) }
}
interface RecordParts {
  readonly stale?: PublicKey
  readonly associated?: PublicKey
  readonly content?: PublicKey
  readonly proofs?: readonly [number, number]
  readonly length?: number
}
function record({
  stale = owner,
  associated = other,
  content = other,
  proofs = [1, 1],
  length = 32,
}: RecordParts): NameAccount {
  const head = Buffer.alloc(8)
  head.writeUInt16LE(proofs[0], 0)
  head.writeUInt16LE(proofs[1], 2)
  head.writeUInt32LE(length, 4)
  const header = Buffer.concat([registryKey.toBuffer(), owner.toBuffer(), nothing])
  return {
    program,
    data: Buffer.concat([header, head, stale.toBuffer(), associated.toBuffer(), content.toBuffer()]),
  }
}
function accounts(some: Partial<DomainAccounts>): DomainAccounts {
  return { registry: registry(), nft: undefined, recordV1: undefined, recordV2: undefined, ...some }
}
function verified(some: Partial<DomainAccounts>) {
  const result = verifyDomain(accounts(some))
  return result && [result.owner, result.payee]
}
const ownerText = owner.toBase58()
const otherText = other.toBase58()
const offCurve = domainKeys('ada.sol').registry

test('domainKeys derives the same accounts as the name service', (t) => {
  t.is(domainKeys('bonfida.sol').registry.toBase58(), 'Crf8hzfthWGbGbLTVCiqRqV5MVnbpHB1L9KQMd6gsinb')
  t.not(domainKeys('dex.bonfida.sol').registry.toBase58(), domainKeys('dex.sol').registry.toBase58())
})

test('without a record a domain pays its owner', (t) => {
  t.deepEqual(verified({}), [ownerText, ownerText])
})

test('a record that owner and payee have signed names the payee', (t) => {
  t.deepEqual(verified({ recordV2: record({}) }), [ownerText, otherText])
  t.deepEqual(verified({ recordV2: record({}), recordV1: registry() }), [ownerText, otherText])
})

test('the record of a former owner is ignored', (t) => {
  t.deepEqual(verified({ recordV2: record({ stale: other }) }), [ownerText, ownerText])
  t.deepEqual(verified({ recordV2: record({ stale: other }), recordV1: registry() }), [ownerText, undefined])
})

test('a record without valid proof leaves the payee undefined', (t) => {
  for (const parts of [
    { associated: owner },
    { proofs: [0, 1] },
    { proofs: [1, 0] },
    { proofs: [2, 1] },
    { length: 20 },
    { content: offCurve, associated: offCurve },
  ] as const)
    t.deepEqual(verified({ recordV2: record(parts) }), [ownerText, undefined], JSON.stringify(parts))
  const { data } = record({})
  for (const length of [96, 100, 104, 150, 199])
    t.deepEqual(
      verified({ recordV2: { program, data: data.subarray(0, length) } }),
      [ownerText, undefined],
      `${length}`,
    )
})

test('an older record leaves the payee undefined', (t) => {
  t.deepEqual(verified({ recordV1: registry() }), [ownerText, undefined])
})

test('a domain that no wallet holds does not resolve', (t) => {
  t.is(verified({ registry: undefined }), undefined)
  t.is(verified({ registry: registry(offCurve) }), undefined)
  t.is(verified({ registry: registry(PublicKey.default) }), undefined, 'abandoned')
  t.is(verified({ registry: { ...registry(), program: PublicKey.default.toBase58() } }), undefined)
  t.is(verified({ registry: { program, data: Buffer.alloc(50) } }), undefined)
  t.is(
    verified({ nft: { program: 'nftD3vbNkNqfj2Sd3HZwbpw4BxxKWr4AjGb9X38JeZk', data: Buffer.from([2]) } }),
    undefined,
  )
})

test('a domain that is no longer wrapped in an NFT resolves', (t) => {
  const nft = { program: 'nftD3vbNkNqfj2Sd3HZwbpw4BxxKWr4AjGb9X38JeZk', data: Buffer.from([3]) }
  t.deepEqual(verified({ nft }), [ownerText, ownerText])
})
