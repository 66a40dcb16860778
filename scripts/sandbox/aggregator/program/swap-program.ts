// The program at the swap engine's address. As on a real route, it pays from a pool for which no wallet signs: it makes the
// calls listed in its data and signs for its own pool. It does not check the calls, so anyone can empty the pool. The
// server alone sets the price. Never use this program outside a sandbox.
import {
  add,
  addValue,
  assemble,
  callSyscall,
  copy,
  exit,
  jump,
  jumpIfAbove,
  jumpIfEqual,
  jumpIfNotEqual,
  keepBits,
  type Line,
  label,
  load8,
  load64,
  multiplyBy,
  type Register,
  set,
  shiftLeft,
  shiftRight,
  store8,
  store32,
  store64,
} from './assembler.js'
import { linkProgram } from './elf.js'

/** Maximum of accounts of one instruction. The instruction's data has six bits for an account's position. */
export const swapAccountsMax = 64
export const signerFlag = 0x40
export const writableFlag = 0x80
/** The first seed of the pool's address; the second is its bump. */
export const poolSeed = 'pool'

// Input of a program (aligned loader): number of accounts, the accounts, then the length and bytes of the data.
const notDuplicate = 0xff
const key = 8
const owner = 40
const lamports = 72
const dataLength = 80
const data = 88
const growthBytes = 10_240
// The C structures of `sol_invoke_signed_c`.
const infoBytes = 56
const metaBytes = 16

// Offsets in the heap (address 3 << 32) at which these structures are built.
const heapPage = 3
const metas = 0x1000
const instruction = 0x2000
const poolText = 0x2100
const seeds = 0x2110
const signers = 0x2130
const accountCount = -8
const callsLeft = -16

const frame: Register = 10

function heapAddress(to: Register, offset = 0): Line[] {
  return [set(to, heapPage), shiftLeft(to, 32), addValue(to, offset)]
}

/** Converts the accounts of the input into the structures for calls. Afterwards r6 points to the length of the data. */
const readAccounts: Line[] = [
  copy(6, 1),
  load64(7, 6, 0),
  jumpIfAbove(7, swapAccountsMax, 'refused'),
  store64(frame, accountCount, 7),
  addValue(6, 8),
  ...heapAddress(8),
  label('next account'),
  jumpIfEqual(7, 0, 'accounts read'),
  load8(2, 6, 0),
  jumpIfNotEqual(2, notDuplicate, 'refused'),
  ...[key, lamports, data, owner].flatMap((field, index) => [
    copy(2, 6),
    addValue(2, field),
    store64(8, [0, 8, 24, 32][index] ?? 0, 2),
  ]),
  load64(3, 6, dataLength),
  store64(8, 16, 3),
  ...[1, 2, 3].flatMap((flag) => [load8(2, 6, flag), store8(8, 47 + flag, 2)]),
  addValue(6, data + growthBytes + 7),
  add(6, 3),
  keepBits(6, -8),
  load64(2, 6, 0),
  store64(8, 40, 2),
  addValue(6, 8),
  addValue(8, infoBytes),
  addValue(7, -1),
  jump('next account'),
  label('accounts read'),
]

/** Prepares the seeds with which the pool signs. Afterwards r9 points to the first call. */
const readSeeds: Line[] = [
  copy(9, 6),
  addValue(9, 8),
  ...heapAddress(8),
  set(2, Buffer.from(poolSeed).readInt32LE()),
  store32(8, poolText, 2),
  ...heapAddress(2, poolText),
  store64(8, seeds, 2),
  set(2, poolSeed.length),
  store64(8, seeds + 8, 2),
  store64(8, seeds + 16, 9),
  set(2, 1),
  store64(8, seeds + 24, 2),
  ...heapAddress(2, seeds),
  store64(8, signers, 2),
  set(2, 2),
  store64(8, signers + 8, 2),
  load8(2, 9, 1),
  store64(frame, callsLeft, 2),
  addValue(9, 2),
]

/** r3 = the key of the account whose position is in r3. */
const keyAtPosition: Line[] = [multiplyBy(3, infoBytes), add(3, 8), load64(3, 3, 0)]

/** Makes the calls. Each is: program, number of accounts, length of data, the accounts (position and flags), the data. */
const makeCalls: Line[] = [
  label('next call'),
  load64(2, frame, callsLeft),
  jumpIfEqual(2, 0, 'done'),
  addValue(2, -1),
  store64(frame, callsLeft, 2),
  load8(3, 9, 0),
  ...keyAtPosition,
  store64(8, instruction, 3),
  ...heapAddress(5, metas),
  store64(8, instruction + 8, 5),
  load8(4, 9, 1),
  store64(8, instruction + 16, 4),
  load8(2, 9, 2),
  store64(8, instruction + 32, 2),
  addValue(9, 3),
  label('next meta'),
  jumpIfEqual(4, 0, 'metas made'),
  load8(2, 9, 0),
  copy(3, 2),
  keepBits(3, swapAccountsMax - 1),
  ...keyAtPosition,
  store64(5, 0, 3),
  copy(3, 2),
  shiftRight(3, 7),
  store8(5, 8, 3),
  shiftRight(2, 6),
  keepBits(2, 1),
  store8(5, 9, 2),
  addValue(9, 1),
  addValue(5, metaBytes),
  addValue(4, -1),
  jump('next meta'),
  label('metas made'),
  store64(8, instruction + 24, 9),
  load64(2, 8, instruction + 32),
  add(9, 2),
  ...heapAddress(1, instruction),
  ...heapAddress(2),
  load64(3, frame, accountCount),
  ...heapAddress(4, signers),
  set(5, 1),
  callSyscall(),
  jump('next call'),
]

const program: Line[] = [
  ...readAccounts,
  ...readSeeds,
  ...makeCalls,
  label('done'),
  set(0, 0),
  exit(),
  label('refused'),
  set(0, 1),
  exit(),
]

/** The program as an ELF file for the virtual machine. */
export function swapProgram(): Buffer {
  return linkProgram(assemble(program), 'sol_invoke_signed_c')
}
