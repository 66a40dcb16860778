import { encodeBase58 } from '../../../../src/kernel/base58.js'
import { systemProgram } from '../programs.js'
import { token2022Program, tokenAmount, tokenProgram } from '../token-accounts.js'

type Field = (data: Buffer) => unknown

/** An instruction: its name, its accounts in order, and the fields of its data. */
type Layout = readonly [type: string, accounts: string, fields?: Readonly<Record<string, Field>>]

interface Program {
  readonly program: string
  /** The number with which the data of an instruction begin. */
  readonly numberOf: (data: Buffer) => number
  readonly instructions: Readonly<Record<number, Layout>>
}

const u64 = (at: number) => (data: Buffer) => data.readBigUInt64LE(at)
const key = (at: number) => (data: Buffer) => encodeBase58(data.subarray(at, at + 32))
const lamports: Field = (data) => Number(u64(4)(data))
const amount: Field = (data) => String(u64(1)(data))

const token: Omit<Program, 'program'> = {
  numberOf: (data) => data.readUInt8(0),
  instructions: {
    3: ['transfer', 'source destination authority', { amount }],
    7: ['mintTo', 'mint account mintAuthority', { amount }],
    9: ['closeAccount', 'account destination owner'],
    12: [
      'transferChecked',
      'source mint destination authority',
      { tokenAmount: (data) => tokenAmount(u64(1)(data), data.readUInt8(9)) },
    ],
    17: ['syncNative', 'account'],
    18: ['initializeAccount3', 'account mint', { owner: key(1) }],
    21: ['getAccountDataSize', 'mint'],
    22: ['initializeImmutableOwner', 'account'],
  },
}
const opened = 'source account wallet mint systemProgram tokenProgram'

const programs: Readonly<Record<string, Program>> = {
  [systemProgram]: {
    program: 'system',
    numberOf: (data) => data.readUInt32LE(0),
    instructions: {
      0: [
        'createAccount',
        'source newAccount',
        { lamports, space: (data) => Number(u64(12)(data)), owner: key(20) },
      ],
      1: ['assign', 'account', { owner: key(4) }],
      2: ['transfer', 'source destination', { lamports }],
      8: ['allocate', 'account', { space: lamports }],
    },
  },
  [tokenProgram]: { program: 'spl-token', ...token },
  [token2022Program]: { program: 'spl-token-2022', ...token },
  ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL: {
    program: 'spl-associated-token-account',
    numberOf: (data) => data[0] ?? 0,
    instructions: { 0: ['create', opened], 1: ['createIdempotent', opened] },
  },
}

/** The `jsonParsed` form of an instruction. Any other than those above is partially decoded, as by a real node. */
export function parseInstruction(programId: string, accounts: readonly string[], data: Buffer) {
  const partial = { programId, accounts, data: encodeBase58(data) }
  if (programId.startsWith('Memo')) return { program: 'spl-memo', programId, parsed: data.toString('utf8') }
  const known = programs[programId]
  try {
    const layout = known?.instructions[known.numberOf(data)]
    if (known === undefined || layout === undefined) return partial
    return { program: known.program, programId, parsed: parsedCall(layout, accounts, data) }
  } catch {
    // The data is too short for its instruction, so the bytes are shown undecoded.
    return partial
  }
}

function parsedCall([type, names, fields = {}]: Layout, accounts: readonly string[], data: Buffer) {
  const named = names.split(' ')
  const signers = accounts.slice(named.length)
  const info = [
    // A node reads any account after the authority as a multisig signer, so a reference key appears as one.
    ...named.map((name, index) => [
      name === 'authority' && signers.length > 0 ? 'multisigAuthority' : name,
      accounts[index],
    ]),
    ...(named.includes('authority') && signers.length > 0 ? [['signers', signers]] : []),
    ...Object.entries(fields).map(([name, read]) => [name, read(data)]),
  ]
  return { type, info: Object.fromEntries(info) }
}
