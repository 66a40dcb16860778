import { encodeBase58 } from '../../../../src/kernel/base58.js'
import { systemProgram } from '../programs.js'
import { token2022Program, tokenAmount, tokenProgram } from '../token-accounts.js'

interface ParsedCall {
  readonly type: string
  readonly info: Record<string, unknown>
}

const associatedTokenProgram = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'

/**
 * The `jsonParsed` form of an instruction of the programs that tips use: system, token, associated token and memo. Any
 * other instruction is returned partially decoded, as by a real node.
 */
export function parseInstruction(programId: string, accounts: readonly string[], data: Buffer) {
  const partial = { programId, accounts, data: encodeBase58(data) }
  if (programId.startsWith('Memo')) return { program: 'spl-memo', programId, parsed: data.toString('utf8') }
  const reader = readers.get(programId)
  if (!reader) return partial
  try {
    const parsed = reader.read(accounts, data)
    return parsed ? { program: reader.program, programId, parsed } : partial
  } catch {
    // The data is too short for its instruction, so the bytes are shown undecoded.
    return partial
  }
}

type Reader = (accounts: readonly string[], data: Buffer) => ParsedCall | undefined

const readers = new Map<string, { program: string; read: Reader }>([
  [systemProgram, { program: 'system', read: systemCall }],
  [tokenProgram, { program: 'spl-token', read: tokenCall }],
  [token2022Program, { program: 'spl-token-2022', read: tokenCall }],
  [associatedTokenProgram, { program: 'spl-associated-token-account', read: associatedTokenCall }],
])

function systemCall([first, second]: readonly string[], data: Buffer): ParsedCall | undefined {
  const lamports = () => Number(data.readBigUInt64LE(4))
  switch (data.readUInt32LE(0)) {
    case 0: {
      const space = Number(data.readBigUInt64LE(12))
      const owner = encodeBase58(data.subarray(20, 52))
      return {
        type: 'createAccount',
        info: { source: first, newAccount: second, lamports: lamports(), space, owner },
      }
    }
    case 1:
      return { type: 'assign', info: { account: first, owner: encodeBase58(data.subarray(4, 36)) } }
    case 2:
      return { type: 'transfer', info: { source: first, destination: second, lamports: lamports() } }
    case 8:
      return { type: 'allocate', info: { account: first, space: lamports() } }
    default:
      return undefined
  }
}

function tokenCall(accounts: readonly string[], data: Buffer): ParsedCall | undefined {
  const [first, second, third] = accounts
  const raw = () => data.readBigUInt64LE(1)
  switch (data[0]) {
    case 3:
      return {
        type: 'transfer',
        info: { source: first, destination: second, ...authority(accounts, 2), amount: String(raw()) },
      }
    case 7:
      return {
        type: 'mintTo',
        info: { mint: first, account: second, mintAuthority: third, amount: String(raw()) },
      }
    case 9:
      return { type: 'closeAccount', info: { account: first, destination: second, owner: third } }
    case 12:
      return {
        type: 'transferChecked',
        info: {
          source: first,
          mint: second,
          destination: third,
          ...authority(accounts, 3),
          tokenAmount: tokenAmount(raw(), data.readUInt8(9)),
        },
      }
    case 17:
      return { type: 'syncNative', info: { account: first } }
    case 18:
      return {
        type: 'initializeAccount3',
        info: { account: first, mint: second, owner: encodeBase58(data.subarray(1, 33)) },
      }
    case 21:
      return { type: 'getAccountDataSize', info: { mint: first } }
    case 22:
      return { type: 'initializeImmutableOwner', info: { account: first } }
    default:
      return undefined
  }
}

// A node reads any account after the authority as a multisig signer, so a reference key appears as one.
function authority(accounts: readonly string[], index: number): Record<string, unknown> {
  const signers = accounts.slice(index + 1)
  return signers.length > 0 ? { multisigAuthority: accounts[index], signers } : { authority: accounts[index] }
}

function associatedTokenCall(accounts: readonly string[], data: Buffer): ParsedCall {
  const [source, account, wallet, mint, system, token] = accounts
  const type = data[0] === 1 ? 'createIdempotent' : 'create'
  return { type, info: { source, account, wallet, mint, systemProgram: system, tokenProgram: token } }
}
