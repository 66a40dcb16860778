/** A register of the sBPF machine. 0: result. 1 to 5: arguments. 6 to 9: preserved by calls. 10: end of the stack frame. */
export type Register = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10

/** A label of the next instruction, or an instruction. A jump's `offset` can be the name of a label. */
export type Line =
  | { readonly label: string }
  | {
      readonly opcode: number
      readonly to: Register
      readonly from: Register
      readonly offset: number | string
      readonly value: number
    }

/** Machine code, and the byte offsets at which the loader fills in the syscall's address. */
export interface MachineCode {
  readonly text: Buffer
  readonly syscalls: readonly number[]
}

const instructionBytes = 8
// Opcodes of sBPF version 0, as in the instruction set reference of solana-sbpf.
const callOpcode = 0x85
const exitOpcode = 0x95

const instructionLine = (
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
export const set = (to: Register, value: number): Line => instructionLine(0xb7, to, 0, 0, value)
export const copy = (to: Register, from: Register): Line => instructionLine(0xbf, to, from, 0, 0)
export const addValue = (to: Register, value: number): Line => instructionLine(0x07, to, 0, 0, value)
export const add = (to: Register, from: Register): Line => instructionLine(0x0f, to, from, 0, 0)
export const multiplyBy = (to: Register, value: number): Line => instructionLine(0x27, to, 0, 0, value)
/** The value is sign-extended: -8 clears the three lowest bits of all 64. */
export const keepBits = (to: Register, value: number): Line => instructionLine(0x57, to, 0, 0, value)
export const shiftLeft = (to: Register, bits: number): Line => instructionLine(0x67, to, 0, 0, bits)
export const shiftRight = (to: Register, bits: number): Line => instructionLine(0x77, to, 0, 0, bits)
export const load8 = (to: Register, base: Register, offset: number): Line =>
  instructionLine(0x71, to, base, offset, 0)
export const load64 = (to: Register, base: Register, offset: number): Line =>
  instructionLine(0x79, to, base, offset, 0)
export const store8 = (base: Register, offset: number, from: Register): Line =>
  instructionLine(0x73, base, from, offset, 0)
export const store32 = (base: Register, offset: number, from: Register): Line =>
  instructionLine(0x63, base, from, offset, 0)
export const store64 = (base: Register, offset: number, from: Register): Line =>
  instructionLine(0x7b, base, from, offset, 0)
export const jump = (target: string): Line => instructionLine(0x05, 0, 0, target, 0)
export const jumpIfEqual = (tested: Register, value: number, target: string): Line =>
  instructionLine(0x15, tested, 0, target, value)
export const jumpIfNotEqual = (tested: Register, value: number, target: string): Line =>
  instructionLine(0x55, tested, 0, target, value)
export const jumpIfAbove = (tested: Register, value: number, target: string): Line =>
  instructionLine(0x25, tested, 0, target, value)
/** Calls the syscall that the program is linked with. The loader fills in its address. */
export const callSyscall = (): Line => instructionLine(callOpcode, 0, 1, 0, -1)
export const exit = (): Line => instructionLine(exitOpcode, 0, 0, 0, 0)

/** Assembles a program. Throws when a jump's label does not exist. */
export function assemble(lines: readonly Line[]): MachineCode {
  const labels = new Map<string, number>()
  const instructions: Exclude<Line, { label: string }>[] = []
  for (const entry of lines) {
    if ('label' in entry) labels.set(entry.label, instructions.length)
    else instructions.push(entry)
  }
  const text = Buffer.alloc(instructions.length * instructionBytes)
  const syscalls: number[] = []
  for (const [index, { opcode, to, from, offset, value }] of instructions.entries()) {
    const at = index * instructionBytes
    text.writeUInt8(opcode, at)
    text.writeUInt8((from << 4) | to, at + 1)
    text.writeInt16LE(typeof offset === 'number' ? offset : distance(labels, offset, index), at + 2)
    text.writeInt32LE(value, at + 4)
    if (opcode === callOpcode) syscalls.push(at)
  }
  return { text, syscalls }
}

/** A jump counts from the instruction after it. */
function distance(labels: ReadonlyMap<string, number>, target: string, from: number): number {
  const index = labels.get(target)
  if (index === undefined) throw new Error(`no label ${target}`)
  return index - from - 1
}
