/** A register of the sBPF machine: 0 results, 1 to 5 arguments, 6 to 9 survive calls, 10 the end of the stack frame. */
export type Register = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10

/** One instruction whose jump target may still be a name, or a name for the place of the next instruction. */
export type Line =
  | { readonly label: string }
  | {
      readonly opcode: number
      readonly to: Register
      readonly from: Register
      readonly offset: number | string
      readonly value: number
    }

/** Machine code, and where in it (in bytes) the syscall's address has to be filled in by the loader. */
export interface MachineCode {
  readonly text: Buffer
  readonly syscalls: readonly number[]
}

const instructionBytes = 8
// Opcodes of sBPF version 0, as in the instruction set reference of solana-sbpf.
const callOpcode = 0x85
const exitOpcode = 0x95

const line = (
  opcode: number,
  to: Register,
  from: Register,
  offset: number | string,
  value: number,
): Line => ({
  opcode,
  to,
  from,
  offset,
  value,
})

export const label = (name: string): Line => ({ label: name })
export const set = (to: Register, value: number): Line => line(0xb7, to, 0, 0, value)
export const copy = (to: Register, from: Register): Line => line(0xbf, to, from, 0, 0)
export const addValue = (to: Register, value: number): Line => line(0x07, to, 0, 0, value)
export const add = (to: Register, from: Register): Line => line(0x0f, to, from, 0, 0)
export const multiplyBy = (to: Register, value: number): Line => line(0x27, to, 0, 0, value)
/** The value is sign-extended: -8 clears the three lowest bits of all 64. */
export const keepBits = (to: Register, value: number): Line => line(0x57, to, 0, 0, value)
export const shiftLeft = (to: Register, bits: number): Line => line(0x67, to, 0, 0, bits)
export const shiftRight = (to: Register, bits: number): Line => line(0x77, to, 0, 0, bits)
export const load8 = (to: Register, base: Register, offset: number): Line => line(0x71, to, base, offset, 0)
export const load64 = (to: Register, base: Register, offset: number): Line => line(0x79, to, base, offset, 0)
export const store8 = (base: Register, offset: number, from: Register): Line =>
  line(0x73, base, from, offset, 0)
export const store32 = (base: Register, offset: number, from: Register): Line =>
  line(0x63, base, from, offset, 0)
export const store64 = (base: Register, offset: number, from: Register): Line =>
  line(0x7b, base, from, offset, 0)
export const jump = (target: string): Line => line(0x05, 0, 0, target, 0)
export const jumpIfEqual = (tested: Register, value: number, target: string): Line =>
  line(0x15, tested, 0, target, value)
export const jumpIfNotEqual = (tested: Register, value: number, target: string): Line =>
  line(0x55, tested, 0, target, value)
export const jumpIfAbove = (tested: Register, value: number, target: string): Line =>
  line(0x25, tested, 0, target, value)
/** A call the loader directs to the syscall the program is linked with. */
export const callSyscall = (): Line => line(callOpcode, 0, 1, 0, -1)
export const exit = (): Line => line(exitOpcode, 0, 0, 0, 0)

/** The machine code of a program. Throws when a jump goes to a name that is nowhere. */
export function assemble(lines: readonly Line[]): MachineCode {
  const places = new Map<string, number>()
  const instructions: Exclude<Line, { label: string }>[] = []
  for (const entry of lines) {
    if ('label' in entry) places.set(entry.label, instructions.length)
    else instructions.push(entry)
  }
  const text = Buffer.alloc(instructions.length * instructionBytes)
  const syscalls: number[] = []
  for (const [index, { opcode, to, from, offset, value }] of instructions.entries()) {
    const at = index * instructionBytes
    text.writeUInt8(opcode, at)
    text.writeUInt8((from << 4) | to, at + 1)
    text.writeInt16LE(typeof offset === 'number' ? offset : distance(places, offset, index), at + 2)
    text.writeInt32LE(value, at + 4)
    if (opcode === callOpcode) syscalls.push(at)
  }
  return { text, syscalls }
}

/** A jump counts from the instruction after it. */
function distance(places: ReadonlyMap<string, number>, target: string, index: number): number {
  const place = places.get(target)
  if (place === undefined) throw new Error(`no label ${target}`)
  return place - index - 1
}
